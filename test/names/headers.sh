# What a program may expect of the headers beyond that they compile (test/compile): pedantic modes, names, static
# initialisers, inclusion from extern "C", macros of the program's own, warnings about deprecated calls on demand.
# timeout: 300
set -u
failed=0
fail() { echo "$*"; failed=1; }
flags="-Wall -Wextra -Werror -pedantic-errors -I$SRC/include"

cat > use.c <<'END'
#include <shmem.h>
#include <shmemx.h>
#include <pshmem.h>
#include <mpp/shmem.h>
#include <mpp/shmemx.h>
#include <shmem.h>
static shmem_team_t teams[] = { SHMEM_TEAM_WORLD, SHMEM_TEAM_SHARED, SHMEM_TEAM_INVALID };
static shmem_ctx_t contexts[] = { SHMEM_CTX_DEFAULT, SHMEM_CTX_INVALID };
#if SHMEM_MAJOR_VERSION != 1 || SHMEM_MINOR_VERSION != 6 || SHMEM_THREAD_SINGLE >= SHMEM_THREAD_FUNNELED || \
    SHMEM_THREAD_FUNNELED >= SHMEM_THREAD_SERIALIZED || SHMEM_THREAD_SERIALIZED >= SHMEM_THREAD_MULTIPLE
#error constants
#endif
int use(int cmp);
int use(int cmp)
{
    static const char vendor[SHMEM_MAX_NAME_LEN] = SHMEM_VENDOR_STRING;
    static long x;
    switch (cmp) {
    case SHMEM_CMP_EQ: case SHMEM_CMP_NE: case SHMEM_CMP_GT: case SHMEM_CMP_GE: case SHMEM_CMP_LT: case SHMEM_CMP_LE:
        shmem_long_swap(&x, 1, 0); /* deprecated, and silent all the same */
        break;
    default: shmem_global_exit(1); /* no warning about falling through: it does not return */
    case SHMEM_SIGNAL_SET: return 1;
    }
    return teams[0] == SHMEM_TEAM_WORLD && contexts[0] == SHMEM_CTX_DEFAULT && vendor[0] != 0;
}
END
cp use.c use.cpp
for cc in gcc clang; do
    command -v $cc > /dev/null || continue
    for standard in c99 c11 c17 gnu99 gnu11 gnu17; do
        $cc -std=$standard $flags -c use.c -o use.o || fail "use.c: $cc -std=$standard"
    done
    # The spelling with -Wstrict-prototypes and the like that careful projects have.
    $cc -std=c11 $flags -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wwrite-strings -Wredundant-decls \
        -c use.c -o use.o || fail "use.c: $cc, more warnings"
done
for cxx in g++ clang++; do
    command -v $cxx > /dev/null || continue
    for standard in c++11 c++14 c++17 c++20; do
        $cxx -std=$standard $flags -c use.cpp -o use.o || fail "use.cpp: $cxx -std=$standard"
    done
    printf 'extern "C" {\n#include <shmem.h>\n#include <shmemx.h>\n}\nint main() { long x = 0; shmem_p(&x, 1L, 0); }\n' > c.cpp
    $cxx -std=c++17 $flags -c c.cpp -o c.o || fail "inside extern \"C\": $cxx"
done

# shmem.h brings no complex.h, no stdio, and no name of its own kind.
gcc -std=gnu11 -I"$SRC/include" -dM -E - <<< '#include <shmem.h>' > macros
grep -qE '^#define (complex|I|EOF|assert) ' macros && fail "shmem.h brings in more than stddef.h and stdint.h"
gcc -std=gnu11 -dM -E - <<< $'#include <stddef.h>\n#include <stdint.h>' > before
extra=$(sort macros | comm -23 - <(sort before) | grep -vE '^#define (_?SHMEM|shmem)')
[ -z "$extra" ] || fail "macros of other names in shmem.h: $extra"

# Names of macros that programs have. Generic forms are built of pasted tokens, which these must not reach.
cat > hostile.c <<'END'
#include <shmem.h>
#define p oops
#define g oops
#define put oops
#define set oops
#define add oops
#define test oops
#define uint oops
#define ulong oops
#define size oops
#define x oops
#define a oops
#define z oops
#define T oops
#define TYPE oops
#define NAME oops
#include <shmemx.h>
unsigned long v;
void hostile(shmem_ctx_t c);
void hostile(shmem_ctx_t c)
{
    shmem_p(&v, 1, 0);
    shmem_put(c, &v, &v, 1, 0);
    shmem_atomic_set(&v, shmem_g(&v, 0), 0);
    shmem_sum_reduce(SHMEM_TEAM_WORLD, &v, &v, 1);
    shmem_sync(3);
}
END
sed -i '/#include <shmemx.h>/d' hostile.c
gcc -std=c11 $flags -c hostile.c -o hostile.o || fail "generic forms and the program's macros: gcc"

# Deprecation warnings for who asks for them.
gcc -std=gnu11 -DSHMEM_WARN_DEPRECATED -Wall -Werror -I"$SRC/include" -c use.c -o use.o 2> said &&
    fail "SHMEM_WARN_DEPRECATED does not warn"
grep -q 'shmem_long_swap' said || fail "SHMEM_WARN_DEPRECATED warns of something else: $(cat said)"
printf '#include <shmem.h>\nint main() { long x = 0; shmem_p(&x, 1L, 0); }\n' > quiet.cpp
g++ -std=c++11 -DSHMEM_WARN_DEPRECATED -Wall -Werror -I"$SRC/include" -c quiet.cpp -o quiet.o ||
    fail "SHMEM_WARN_DEPRECATED warns in the header itself"

# A wrong use is an error.
wrong() {
    printf '#include <shmem.h>\nstruct thing { int i; };\nvoid f(void)\n{\n    struct thing t; long x = 0; (void)t; (void)x;\n    %s;\n}\n' "$1" > wrong.c
    gcc -std=c11 -Werror -I"$SRC/include" -c wrong.c -o wrong.o 2> /dev/null && fail "compiles: $1"
}
wrong 'shmem_p(&t, t, 0)'
wrong 'shmem_p(&x, 1)'
wrong 'shmem_put(&x, &x, 1, 0, 0, 0)'
wrong 'shmem_atomic_or((float *)0, 1, 0)'
wrong 'shmem_sync(1.0)'
wrong 'shmem_sync(1, 2)'
exit $failed
