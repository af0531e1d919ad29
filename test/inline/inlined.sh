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
for how in early pe stack finalized; do
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
