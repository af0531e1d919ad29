#!/bin/sh
# make.sh SOURCE OUT VERSION SYMBOLS: the manual pages, as man(1) wants them.
#
# The options of oshrun and of the library are taken from the tables that the programs themselves read. A page of
# section 3 says in its ".\" names:" lines, as regular expressions, which functions it describes; for each function
# that SYMBOLS lists (kind and name on a line) and each that a page names plainly, a page of that name leads there.
set -eu
source=$1
out=$2
version=$3
symbols=$4
rm -rf "$out"
mkdir -p "$out/man1" "$out/man3" "$out/man7"

roff() { sed 's/\\/\\e/g; s/-/\\-/g'; }

library_options() {
    roff <"$source/src/base/option.def" | sed -nE \
        's/^HM_OPTION\([^"]*"([^"]*)", *([a-z]+), *"([^"]*)", *"(.*)"\).*/.TP\n.BR SHMEM_\1 " (\2, default \3)"\n\4/p'
}

# OSHRUN_OPTION(id, "names", "argument" or NULL, "help")
launcher_options() {
    sed 's/\\"/''/g' "$source/tools/oshrun/options.def" | roff | sed -nE \
        -e 's/^OSHRUN_OPTION\([A-Z_]*, *"([^"]*)", *NULL, *"(.*)"\).*/.TP\n.B \1\n\2/p' \
        -e 's/^OSHRUN_OPTION\([A-Z_]*, *"([^"]*)", *"([^"]*)", *"(.*)"\).*/.TP\n.BI "\1 " "\2"\n\3/p' |
        awk '/^\.BI? / { name = 1 } { if (name) gsub(/ \\-/, ", \\-"); name = 0; sub(/^\.B,/, ".B"); print }'
}

library_options >"$out/options"
launcher_options >"$out/oshrun-options"
for page in "$source"/doc/man/*.[137]; do
    name=${page##*/}
    sed -e "s/@VERSION@/$version/" \
        -e "/^@OPTIONS@/{r $out/options" -e 'd}' \
        -e "/^@OSHRUN_OPTIONS@/{r $out/oshrun-options" -e 'd}' \
        "$page" | sed '1s/^/'"'"'\\" t\n/' >"$out/man${name##*.}/$name"
done
rm -f "$out/options" "$out/oshrun-options"

for alias in oshc++ oshcxx oshCC; do echo ".so man1/oshcc.1" >"$out/man1/$alias.1"; done

# The generic names of C11 are macros; names without a pattern are pages even when nothing of that name is exported.
cd "$source/doc/man"
for page in *.3; do
    sed -nE 's/^\.\\" names: //p' "$page" | tr ' ' '\n' | sed "s/\$/ $page/"
done >"$out/names"
{
    cat "$symbols"
    sed -nE 's/^#define (shmemx?_[a-z0-9_]+)\(.*/macro \1/p' "$source"/include/shmem/generic*.h
} >"$out/symbols"
awk -v out="$out/man3/" '
    FNR == NR { pattern[++n] = "^(" $1 ")$"; page[n] = $2; if ($1 !~ /[(\[?+*]/) known[$1] = $2; next }
    $2 !~ /^p/ { for (i = 1; i <= n; i++) if ($2 ~ pattern[i]) { known[$2] = page[i]; break } }
    END {
        for (name in known) {
            file = out name ".3"
            if (name ".3" == known[name]) continue
            print ".so man3/" known[name] > file
            close(file)
        }
    }' "$out/names" "$out/symbols"
rm -f "$out/names" "$out/symbols"
