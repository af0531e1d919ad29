# Jobs that end while agents are at work, whichever way: nothing hangs, nothing is left, no PE ends by another signal than it was
# sent. What is wrong with words of device memory is said as of others. A report says where on the device a PE waits.
# timeout: 300
. "$SRC/test/launch/lib.sh"
pe=$work/agent-$$
cat > agent.c <<'C'
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long *word;
static int me, npes;

static void hammer(void)
{
    for (;;) {
        shmem_long_atomic_add(word, 1, 0);
        shmem_long_atomic_fetch_add(word, 1, npes - 1);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    long zero = 0;
    shmem_init();
    me = shmem_my_pe(), npes = shmem_n_pes();
    word = shmem_malloc(64);
    shmem_long_put(word, &zero, 1, me);
    shmem_barrier_all();
    if (!strcmp(what, "wait") || !strcmp(what, "lock")) fputs("up\n", stderr);
    if (!strcmp(what, "exit") && me == 1) usleep(200000), exit(3);
    if (!strcmp(what, "global") && me == 1) usleep(200000), shmem_global_exit(4);
    if (!strcmp(what, "kill") && me == 1) usleep(200000), raise(SIGKILL);
    if (!strcmp(what, "kill0") && me == 0) usleep(200000), raise(SIGKILL);
    if (!strcmp(what, "wait")) shmem_long_wait_until(word, SHMEM_CMP_EQ, 7);
    if (!strcmp(what, "lock")) shmem_set_lock(word), shmem_set_lock(word);
    if (!strcmp(what, "unaligned")) shmem_long_atomic_add((long *)((char *)word + 4), 1, 0);
    if (!strcmp(what, "pe")) shmem_long_atomic_fetch(word, npes);
    if (!strcmp(what, "behind")) shmem_long_atomic_inc(word + (1 << 20), 0);
    if (!strcmp(what, "unaligned_wait")) shmem_long_wait_until((long *)((char *)word + 1), SHMEM_CMP_EQ, 1);
    if (!strcmp(what, "cmp")) shmem_long_wait_until(word, 9, 1);
    if (!strcmp(what, "clear")) shmem_clear_lock(word);
    if (strcmp(what, "plain")) hammer();
    shmem_long_atomic_add(word, 1, (me + 1) % npes); /* under way when main returns */
    return 0;
}
C
"$OSHCC" -O1 -g -o "$pe" agent.c || { echo "cannot build"; exit 1; }
export HBMESH_TWIN_LATE=1

ends() { # ends STATUS NAME [PATTERN]
    expect "$1" "$2" "$OSHRUN" --twin -n 3 "$pe" "$2"
    nothing_left "$2"
    [ $# -lt 3 ] || { says "$2" "$3"; one_line "$2"; }
}
ends 0 plain
for i in 1 2; do
    ends 3 exit
    ends 4 global
    ends 137 kill
    ends 137 kill0
done
ends 1 unaligned 'shmem_long_atomic_add: dest: 0x[0-9a-f]+ is not aligned to the 8 bytes of its type'
ends 1 pe 'shmem_long_atomic_fetch: pe: 3 is not a PE of this job'
ends 1 behind 'shmem_long_atomic_inc: dest: .* device heap'
ends 1 unaligned_wait 'shmem_long_wait_until: ivar: 0x[0-9a-f]+ is not aligned to its 8 bytes'
ends 1 cmp 'shmem_long_wait_until: cmp: 9 is no comparison'
ends 1 clear 'shmem_clear_lock: lock: the lock at 0x[0-9a-f]+ is not held by anybody'

# A copy of the agent's fails.
export HBMESH_TWIN_FAULT='aclrtMemcpy:200=507053'
expect 1 fault "$OSHRUN" --twin -n 2 "$pe" fault
says fault 'hbmesh: PE [01]: .*: aclrtMemcpy'
unset HBMESH_TWIN_FAULT
nothing_left fault

# Where they wait.
for what in wait lock; do
    expect 124 $what "$OSHRUN" --twin --timeout 2 -n 2 "$pe" $what
    says $what 'waits in shmem_(long_wait_until|set_lock) on address 0x[0-9a-f]+ \(device heap \+ 0x[0-9a-f]+\)'
    nothing_left $what
done
finish
