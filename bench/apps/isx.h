/* An integer sort in the manner of ISx: the keys and the work of one PE. Included behind pes.h or ranks.h.
 *
 * Keys are evenly spread over a range that is divided among the PEs. Each PE sorts its own by owner, all exchange them,
 * and each sorts what it got. The exchange is what is measured besides the whole. */
#ifndef ISX_H
#define ISX_H

enum { KEY_BITS = 28, DIGIT_BITS = 14, DIGITS = 1 << DIGIT_BITS };

static size_t keys, room; /* of each PE: at the start, and space for those that arrive */
static uint32_t *key, *by_owner, *scratch;
static size_t *count, *start; /* of the keys that go to each PE */
static uint64_t sum_of_keys;

static inline int owner_of(uint32_t k) { return (int)((uint64_t)k * (uint64_t)npes >> KEY_BITS); }

static inline void isx_set_up(int argc, char **argv)
{
    keys = size_argument(argc, argv, 1, "the keys of each PE", 1 << 18, 1 << 28);
    room = keys + keys / 4 + 4096;
    key = need(malloc(keys * sizeof *key), "keys");
    by_owner = need(malloc(keys * sizeof *by_owner), "keys by owner");
    scratch = need(malloc(room * sizeof *scratch), "the sort");
    count = need(calloc((size_t)npes, sizeof *count), "counts");
    start = need(calloc((size_t)npes, sizeof *start), "counts");
    for (size_t i = 0; i < keys; i++) {
        key[i] = (uint32_t)(mix((uint64_t)me << 40 ^ i) >> (64 - KEY_BITS));
        sum_of_keys += mix(key[i]);
    }
    if (me == 0) printf("# isx: %s, %d PEs, %zu keys each\n", JOB_MODEL, npes, keys);
}

static inline void sort_by_owner(void)
{
    size_t at = 0;
    memset(count, 0, (size_t)npes * sizeof *count);
    for (size_t i = 0; i < keys; i++)
        count[owner_of(key[i])]++;
    for (int pe = 0; pe < npes; at += count[pe++])
        start[pe] = at;
    for (size_t i = 0; i < keys; i++)
        by_owner[start[owner_of(key[i])]++] = key[i];
    for (int pe = 0; pe < npes; pe++)
        start[pe] -= count[pe];
}

static inline void sort_by_digit(const uint32_t *from, uint32_t *to, size_t n, int shift)
{
    static uint32_t at[DIGITS];
    uint32_t sum = 0;
    memset(at, 0, sizeof at);
    for (size_t i = 0; i < n; i++)
        at[from[i] >> shift & (DIGITS - 1)]++;
    for (int d = 0; d < DIGITS; d++) {
        uint32_t here = at[d];
        at[d] = sum;
        sum += here;
    }
    for (size_t i = 0; i < n; i++)
        to[at[from[i] >> shift & (DIGITS - 1)]++] = from[i];
}

static inline void sort_own(uint32_t *k, size_t n)
{
    sort_by_digit(k, scratch, n, 0);
    sort_by_digit(scratch, k, n, DIGIT_BITS);
}

/* Sorted here, all of them this PE's, none lost and none invented in the whole job. */
static inline void must_be_sorted(const uint32_t *k, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += mix(k[i]);
        if (owner_of(k[i]) != me) job_fail("isx: key %u belongs to PE %d", (unsigned)k[i], owner_of(k[i]));
        if (i && k[i] < k[i - 1]) job_fail("isx: key %zu is less than the one before it", i);
    }
    uint64_t all = job_sum(n), all_keys = (uint64_t)npes * keys;
    if (all != all_keys)
        job_fail("isx: %llu keys came out of %llu", (unsigned long long)all, (unsigned long long)all_keys);
    if (job_sum(sum) != job_sum(sum_of_keys)) job_fail("isx: the keys that came out are not those that went in");
}

static inline void report_isx(const char *series, struct rounds *exchange, struct rounds *whole)
{
    char name[64];
    double took = median_round(whole);
    if (me != 0) return;
    print_row("isx", series, (size_t)npes, (double)npes * (double)keys / took * 1e-6, "Mops/s");
    snprintf(name, sizeof name, "%s, exchange", series);
    print_row("isx time", name, (size_t)npes, median_round(exchange) * 1e3, "ms");
    snprintf(name, sizeof name, "%s, all", series);
    print_row("isx time", name, (size_t)npes, took * 1e3, "ms");
}

#endif
