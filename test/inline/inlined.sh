# Programs in the inlined form (oshcc -hm-inline): the values of put, get and atomics, wrong uses with the same sentences, and
# what turns the form off.
# timeout: 150
set -u
failed=0
fail() { echo "FAIL: $*"; failed=1; }
calls() { nm -u "$1" | grep -cE " $2(@|$)"; }

for name in rma amo ordering; do
    "$OSHCC" -hm-inline -O1 -Wall -Wextra -Werror "$SRC/test/spec/$name.c" -o $name -lpthread -lm || fail "$name does not compile"
    for n in 1 3; do "$OSHRUN" --timeout 60 -n $n ./$name >out 2>&1 || fail "$name on $n PEs: $(tail -3 out)"; done
    "$OSHRUN" --check --timeout 60 -n 2 ./$name >out 2>&1 || fail "$name with --check: $(tail -3 out)"
done

cat >use.c <<'END'
#include <shmem.h>
static long word;
void put(long value, int pe) { shmem_long_p(&word, value, pe); }
int main(int argc, char **argv)
{
    void (*by_pointer)(long *, long, int) = shmem_long_p;
    long stack = 0;
    if (argc > 1 && argv[1][0] == 'e') put(1, 0);
    shmem_init();
    if (argc > 1 && argv[1][0] == 'p') put(1, 77);
    if (argc > 1 && argv[1][0] == 'm') put(1, 1 << 20);
    if (argc > 1 && argv[1][0] == 'n') put(1, -1);
    if (argc > 1 && argv[1][0] == 's') shmem_long_p(&stack, 1, 0);
    put(5, 0);
    by_pointer(&word, 6, 0);
    if (shmem_long_g(&word, 0) != 6) return 1;
    shmem_finalize();
    if (argc > 1 && argv[1][0] == 'f') put(1, 0);
    return 0;
}
END
"$OSHCC" -O2 use.c -o called && "$OSHCC" -hm-inline -O2 -Wall -Werror use.c -o inlined || fail "use.c does not compile"
for how in early pe many negative stack finalized; do
    for form in called inlined; do "$OSHRUN" --timeout 60 -n 1 ./$form $how >$form.out 2>&1 && fail "$form $how goes on"; done
    sed -i -E 's/0x[0-9a-f]+/ADDRESS/g; s/[0-9]+ bytes/N bytes/g; s/process [0-9]+/process N/g' called.out inlined.out
    grep -q shmem_long_p inlined.out && cmp -s called.out inlined.out || fail "$how: $(cat called.out inlined.out)"
done
"$OSHRUN" --timeout 60 -n 1 ./inlined || fail "inlined: exit status $?"
[ "$(calls inlined shmemx_inline_join)" = 1 ] || fail "-hm-inline inlines nothing"
"$OSHCC" -hm-inline -O2 -DSHMEM_PROFILE use.c -o profiled && [ "$(calls profiled shmemx_inline_join)" = 0 ] ||
    fail "-DSHMEM_PROFILE does not turn it off"
"$OSHCC" -hm-inline -O2 -no-pie use.c -o fixed && "$OSHRUN" --timeout 60 -n 1 ./fixed || fail "a program at a fixed address"

# A library that does not know this version of the table: all goes to its functions.
mkdir -p newer && cp -r "$SRC/include" newer/ && sed -i 's/SHMEMX_INLINE_VERSION 2u/SHMEMX_INLINE_VERSION 4000u/' newer/include/shmem/inline_table.h
"$OSHCC" -DSHMEMX_INLINE -O2 -Inewer/include use.c -o newer/use && "$OSHRUN" --timeout 60 -n 1 newer/use || fail "a newer table"

# Each PE that is mapped here has an entry in the table, and no other: whichever number it has.
cat >entries.c <<'END'
#include <shmem.h>
#include <stdio.h>
static long word;
int main(void)
{
    shmem_init();
    int wrong = 0, mapped = 0;
    long *heap = shmem_malloc(sizeof *heap);
    for (int pe = 0; pe < shmem_n_pes(); pe++) {
        int here = shmem_ptr(heap, pe) != NULL;
        mapped += here;
        wrong += here != (shmemx_inline_table.heap_limit[pe] != NULL) || here != (shmemx_inline_table.data_limit[pe] != NULL);
        if (shmem_long_atomic_fetch_add(&word, 1, pe) < 0 || shmem_long_atomic_fetch_add(heap, 0, pe) < 0) wrong++;
    }
    shmem_barrier_all();
    wrong += word != shmem_n_pes();
    printf("%d mapped\n", mapped);
    shmem_finalize();
    for (size_t i = 0; i <= SHMEMX_INLINE_PES; i++)
        wrong += shmemx_inline_table.heap_limit[i] != NULL || shmemx_inline_table.data_limit[i] != NULL;
    return wrong ? 1 : 0;
}
END
"$OSHCC" -hm-inline -O2 -Wall -Werror entries.c -o entries && "$OSHRUN" --timeout 60 -n 5 ./entries >out 2>&1 &&
    [ "$(grep -c '^5 mapped$' out)" = 5 ] || fail "entries of all PEs: $(cat out)"
if [ -e "$BUILD/lib/hbmesh/libhbmesh-ucx.so" ]; then # PEs of one machine whose numbers are apart
    "$OSHRUN" --machines cyclic:2 --timeout 60 -n 5 ./entries >out 2>&1 && [ "$(grep -c '^3 mapped$' out)" = 3 ] ||
        fail "entries with two machines: $(cat out)"
fi

# Ranges of all small sizes, of which the compiler does not know how long they are, and nothing beside them.
cat >ranges.c <<'END'
#include <shmem.h>
#include <string.h>
enum { MOST = 130 };
static char data[MOST + 2];
static int differs(char *there, size_t n, int pe)
{
    char from[MOST], back[MOST + 2], want[MOST + 2];
    for (size_t i = 0; i < n; i++) from[i] = (char)(i * 7 + n);
    memset(there, 1, MOST + 2), memset(back, 2, sizeof back), memset(want, 1, sizeof want);
    memcpy(want + 1, from, n);
    shmem_putmem(there + 1, from, n, pe);
    shmem_quiet();
    if (memcmp(there, want, sizeof want)) return 1;
    shmem_getmem(back + 1, there + 1, n, pe);
    return memcmp(back + 1, from, n) || back[0] != 2 || back[n + 1] != 2;
}
int main(int argc, char **argv)
{
    (void)argv;
    shmem_init();
    char *heap = shmem_malloc(MOST + 2);
    int me = shmem_my_pe(), wrong = 0;
    for (size_t n = 0; n <= (size_t)MOST - (argc > 1); n++) wrong += differs(heap, n, me) + differs(data, n, me);
    shmem_finalize();
    return wrong ? 1 : 0;
}
END
"$OSHCC" -hm-inline -O2 -Wall -Werror ranges.c -o ranges && "$OSHRUN" --timeout 60 -n 1 ./ranges || fail "ranges of small sizes"

# A plug-in has a table of its own, as long as it is loaded.
cat >plug.c <<'END'
#include <shmem.h>
long add(long *word, int pe) { return shmem_long_atomic_fetch_add(word, 1, pe); }
int open_to(int pe) { return shmemx_inline_table.heap_limit[pe] != NULL; }
END
cat >host.c <<'END'
#include <dlfcn.h>
#include <shmem.h>
int main(void)
{
    shmem_init();
    long *word = shmem_calloc(1, sizeof *word), sum = 0;
    for (int i = 0; i < 3; i++) {
        void *plug = dlopen("./plug.so", RTLD_NOW);
        long (*add)(long *, int) = plug ? (long (*)(long *, int))dlsym(plug, "add") : 0;
        int (*open_to)(int) = plug ? (int (*)(int))dlsym(plug, "open_to") : 0;
        if (!add || !open_to || !open_to(0)) return 2;
        sum += add(word, 0);
        dlclose(plug);
        shmem_free(shmem_malloc(1 << 20)); /* tells all tables that there are */
    }
    shmem_finalize();
    return sum == 3 ? 0 : 1;
}
END
"$OSHCC" -hm-inline -O2 -shared -fPIC plug.c -o plug.so && "$OSHCC" -hm-inline -O2 host.c -o host -ldl &&
    "$OSHRUN" --timeout 60 -n 1 ./host || fail "a plug-in: exit status $?"

cat >use.cpp <<'END'
#include <shmem.h>
static double d;
static unsigned long u;
int main()
{
    shmem_init();
    int next = (shmem_my_pe() + 1) % shmem_n_pes();
    shmem_p(&d, 2.5, next);
    shmem_atomic_add(&u, 3ul, next);
    shmem_barrier_all();
    bool good = shmem_g(&d, next) == 2.5 && shmem_atomic_fetch_add(SHMEM_CTX_DEFAULT, &u, 1ul, next) == 3 && d == 2.5;
    shmem_barrier_all();
    good = good && u == 4;
    shmem_finalize();
    return good ? 0 : 1;
}
END
"$OSHCXX" -hm-inline -O2 -std=c++11 -Wall -Wextra -Werror -pedantic use.cpp -o usexx && "$OSHRUN" --timeout 60 -n 2 ./usexx ||
    fail "C++"
"$OSHCC" -hm-inline -O2 -std=c99 -pedantic-errors -Wall -Wextra -Werror -c use.c -o use.o || fail "C99"
exit $failed
