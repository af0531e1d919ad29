#!/bin/sh
# python.sh NEED ... [-- WISH ...]: prints the interpreter that the Python part is for.
#
# That is the first of python3 on PATH and /usr/bin/python3 (where Debian's packages go) that has all that is needed and
# wished for, else the first that has what is needed. Names are those of python-facts.py. $PYTHON, when set, is the only
# one asked. Status 1, and a line for each on standard error, when there is none.
set -u
facts=$(dirname "$0")/python-facts.py
needs= wishes= list=needs
for word; do
    case $word in
    --) list=wishes ;;
    *) eval "$list=\"\$$list \$word\"" ;;
    esac
done
if [ -n "${PYTHON:-}" ]; then set -- "$PYTHON"; else set -- python3 /usr/bin/python3; fi

# Prints the file behind $python if it has the names: a shim may lead elsewhere tomorrow.
try() { # NAMES
    "$python" "$facts" $1 >/dev/null 2>&1 && "$python" -c 'import sys; print(sys.executable)'
}

if [ -n "$wishes" ]; then
    for python; do try "$needs $wishes" && exit 0; done
fi
for python; do try "$needs" && exit 0; done
for python; do
    if command -v "$python" >/dev/null 2>&1; then
        echo "$python lacks: $("$python" "$facts" $needs 2>&1)" >&2
    else
        echo "there is no $python" >&2
    fi
done
exit 1
