/* npes: 2 3 */
/* args: 64m:2 1m:40 40000:150 */
/* timeout: 180 */
/* Large puts are seen as a whole by who sees what came behind them, a flag by any call that writes a word, and no sooner than
 * what came before them: each byte that is looked at is one that a store past the caches could bring too late. The reader
 * looks at the last bytes first. Arguments: bytes:rounds. */
#include <shmemx.h>

#include "../spec/check.h"

#define IDLE 2u /* each of the flags' operations makes something else of it */
#define STEP 64
#define SKEW 128

static char *dest, *source, *mirror;
static uint64_t *flag, *taken, *before; /* each on a line of its own */
static uint64_t rounds;                 /* so far */

static uint64_t word_at(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* The last word, and the first of each line, each round another. */
static size_t lines_of(size_t bytes) { return (bytes - sizeof(uint64_t)) / STEP; }
static uint64_t word_of(int pe, size_t i) { return rounds << 28 ^ (uint64_t)pe << 56 ^ i; }

static void write_words(char *at, size_t bytes)
{
    for (size_t i = 0; i < lines_of(bytes); i++) {
        uint64_t word = word_of(me, i);
        memcpy(at + i * STEP, &word, sizeof word);
    }
    uint64_t last = word_of(me, bytes);
    memcpy(at + bytes - sizeof last, &last, sizeof last);
}

static void check_words(const char *at, size_t bytes, const char *how)
{
    uint64_t last = word_at(at + bytes - sizeof last);
    CHECK(last == word_of(left, bytes), "%s, %zu bytes, round %ju: the last word is %#jx", how, bytes, (uintmax_t)rounds,
          (uintmax_t)last);
    for (size_t i = lines_of(bytes); i-- > 0;) {
        uint64_t word = word_at(at + i * STEP);
        if (word == word_of(left, i)) continue;
        CHECK(false, "%s, %zu bytes, round %ju: word %zu is %#jx", how, bytes, (uintmax_t)rounds, i, (uintmax_t)word);
        return;
    }
}

/* --- the data --- */

static void put(char *to, const char *from, size_t bytes)
{
    size_t half = bytes / (2 * STEP) * STEP;
    switch (rounds % 5) {
    case 0: shmem_putmem(to, from, bytes, right); break;
    case 1: shmem_putmem_nbi(to, from, bytes, right); break;
    case 2: /* in halves, the later one first */
        shmem_putmem(to + half, from + half, bytes - half, right);
        shmem_putmem(to, from, half, right);
        break;
    case 3: /* in blocks, with a line behind each that comes by itself */
        shmem_char_ibput(to, from, (ptrdiff_t)half, (ptrdiff_t)half, half - STEP, 2, right);
        shmem_putmem(to + half - STEP, from + half - STEP, STEP, right);
        shmem_putmem(to + 2 * half - STEP, from + 2 * half - STEP, bytes - 2 * half + STEP, right);
        break;
    default: shmem_char_put(to, from, bytes, right);
    }
}

/* --- the flags --- */

static void by_p(void) { shmem_uint64_p(flag, 1, right); }
static void by_put(void)
{
    static const uint64_t one = 1;
    shmem_uint64_put(flag, &one, 1, right);
}
static void by_put_nbi(void)
{
    static const uint64_t one = 1;
    shmem_uint64_put_nbi(flag, &one, 1, right);
}
static void by_set(void) { shmem_uint64_atomic_set(flag, 1, right); }
static void by_add(void) { shmem_uint64_atomic_add(flag, 1, right); }
static void by_inc(void) { shmem_uint64_atomic_inc(flag, right); }
static void by_or(void) { shmem_uint64_atomic_or(flag, 1, right); }
static void by_and(void) { shmem_uint64_atomic_and(flag, 1, right); }
static void by_xor(void) { shmem_uint64_atomic_xor(flag, 1, right); }
static void by_swap(void) { (void)shmem_uint64_atomic_swap(flag, 1, right); }
static void by_compare_swap(void) { (void)shmem_uint64_atomic_compare_swap(flag, IDLE, 1, right); }
static void by_fetch_add(void) { (void)shmem_uint64_atomic_fetch_add(flag, 1, right); }
static void by_fetch_inc(void) { (void)shmem_uint64_atomic_fetch_inc(flag, right); }
static void by_fetch_or(void) { (void)shmem_uint64_atomic_fetch_or(flag, 1, right); }
static void by_fetch_and(void) { (void)shmem_uint64_atomic_fetch_and(flag, 1, right); }
static void by_fetch_xor(void) { (void)shmem_uint64_atomic_fetch_xor(flag, 1, right); }
static void by_signal_set(void) { shmemx_signal_set(flag, 1, right); }
static void by_signal_add(void) { shmemx_signal_add(flag, 1, right); }
static void by_store(void)
{
    uint64_t *there = shmem_ptr(flag, right);
    if (there)
        __atomic_store_n(there, 1, __ATOMIC_RELEASE);
    else
        by_p();
}

static const struct {
    const char *name;
    void (*raise)(void);
} flags[] = {
    {"p", by_p}, {"put", by_put}, {"put_nbi", by_put_nbi}, {"atomic_set", by_set}, {"atomic_add", by_add},
    {"atomic_inc", by_inc}, {"atomic_or", by_or}, {"atomic_and", by_and}, {"atomic_xor", by_xor}, {"atomic_swap", by_swap},
    {"atomic_compare_swap", by_compare_swap}, {"atomic_fetch_add", by_fetch_add}, {"atomic_fetch_inc", by_fetch_inc},
    {"atomic_fetch_or", by_fetch_or}, {"atomic_fetch_and", by_fetch_and}, {"atomic_fetch_xor", by_fetch_xor},
    {"signal_set", by_signal_set}, {"signal_add", by_signal_add}, {"a store", by_store},
};
#define FLAGS (sizeof flags / sizeof flags[0])

/* --- a round --- */

/* The reader has looked; both begin the next round together. */
static void end_round(void)
{
    shmem_uint64_atomic_set(flag, IDLE, me);
    shmem_quiet();
    shmem_uint64_atomic_inc(taken, left);
    shmem_uint64_wait_until(taken, SHMEM_CMP_GE, rounds);
}

static void round_with_flag(char *to, char *from, size_t bytes)
{
    size_t kind = rounds % FLAGS;
    put(to, from, bytes);
    if (rounds / 5 % 2)
        shmem_quiet();
    else
        shmem_fence();
    flags[kind].raise();
    shmem_uint64_wait_until(flag, SHMEM_CMP_NE, IDLE);
    check_words(to, bytes, flags[kind].name);
}

static void round_with_signal(char *to, char *from, size_t bytes)
{
    int op = rounds / 4 % 2 ? SHMEM_SIGNAL_ADD : SHMEM_SIGNAL_SET;
    if (rounds / 8 % 2)
        shmem_putmem_signal_nbi(to, from, bytes, flag, 1, op, right);
    else
        shmem_putmem_signal(to, from, bytes, flag, 1, op, right);
    shmem_signal_wait_until(flag, SHMEM_CMP_NE, IDLE);
    check_words(to, bytes, "put_signal");
}

/* A word, a fence, then the large put: who sees anything of the put sees the word. */
static void round_behind(char *to, char *from, size_t bytes)
{
    uint64_t *at = (uint64_t *)to + (bytes / STEP - 2) * STEP / sizeof *at, want = word_of(left, bytes / STEP - 2);
    shmem_uint64_p(before, rounds, right);
    shmem_fence();
    put(to, from, bytes);
    shmem_uint64_wait_until(at, SHMEM_CMP_EQ, want);
    CHECK_NUM(*(volatile uint64_t *)before, rounds, "the word before a put of %zu bytes", bytes);
    shmem_quiet();
    by_inc();
    shmem_uint64_wait_until(flag, SHMEM_CMP_NE, IDLE);
    check_words(to, bytes, "a put behind a word");
}

/* The other way: each fetches what its neighbour wrote. */
static void round_of_gets(char *to, char *from, size_t bytes)
{
    shmem_quiet();
    memcpy(to, from, bytes);
    shmem_fence();
    by_or(); /* to the right: mine can be fetched */
    shmem_uint64_wait_until(flag, SHMEM_CMP_NE, IDLE);
    if (rounds / 4 % 2) {
        shmem_getmem(mirror, to, bytes, left);
    } else {
        shmem_getmem_nbi(mirror, to, bytes, left);
        shmem_quiet();
    }
    check_words(mirror, bytes, "get");
    shmem_barrier_all(); /* else the left would put there while the right still fetches */
}

static void test(size_t bytes, uint64_t count)
{
    for (uint64_t r = 0; r < count; r++) {
        rounds++;
        char *to = dest + rounds * 8 % SKEW, *from = source + rounds * 3 % SKEW;
        write_words(from, bytes);
        switch (rounds % 16) {
        case 3:
        case 11: round_with_signal(to, from, bytes); break;
        case 7: round_behind(to, from, bytes); break;
        case 15: round_of_gets(to, from, bytes); break;
        default: round_with_flag(to, from, bytes);
        }
        end_round();
    }
}

static size_t size_of(const char *text, uint64_t *count)
{
    char *end;
    size_t bytes = strtoull(text, &end, 10);
    if (*end == 'm') bytes <<= 20, end++;
    *count = *end == ':' ? strtoull(end + 1, NULL, 10) : 0;
    if (bytes >= 4 * STEP && *count) return bytes;
    fprintf(stderr, "%s: want bytes:rounds, as in 64m:3\n", text);
    exit(2);
}

int main(int argc, char **argv)
{
    size_t most = 0;
    uint64_t count;
    check_start();
    for (int i = 1; i < argc; i++)
        if (size_of(argv[i], &count) > most) most = size_of(argv[i], &count);
    dest = shmem_align(64, most + SKEW);
    source = calloc(1, most + SKEW);
    mirror = calloc(1, most + SKEW);
    uint64_t *words = shmem_align(64, 192);
    if (!dest || !source || !mirror || !words) shmem_global_exit(1);
    memset(dest, 0, most + SKEW);
    memset(words, 0, 192);
    flag = words, taken = words + 8, before = words + 16;
    *flag = IDLE;
    shmem_barrier_all();
    for (int i = 1; i < argc; i++) test(size_of(argv[i], &count), count);
    shmem_barrier_all();
    free(source);
    free(mirror);
    return check_end();
}
