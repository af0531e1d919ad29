/* with: test/threads/common/mock.c src/core/pack.c src/core/pool.c src/core/send.c src/core/unpack.c src/base/futex.c src/base/log.c src/base/os.c */
/* timeout: 120 */
/* Aggregation step by step, over a transport where everything is delivered by hand: what leaves when, what a thousand
 * senders may pile up at one target, how many buffers there are, and what a packet that makes no sense leads to. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os.h"
#include "../threads/common/mock.h"
#include "core/packet.h"

enum { HEAP = 1 << 16 };

static int failures;
#define CHECK(what)                                                     \
    do {                                                                \
        if (!(what)) {                                                  \
            printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #what); \
            failures++;                                                 \
        }                                                               \
    } while (0)

static const struct hm_pack_config usual = {.segment[HM_SEGMENT_HEAP].bytes = HEAP, .packet = 2048, .largest = 256,
                                            .pool = 64 << 10, .credit = 1 << 20, .delay_ns = 50000};
static uint32_t session;
static struct hm_lane *lane;
static struct hm_packer *packer;

static void start(int npes, const struct hm_pack_config *config)
{
    mock_start(npes, HEAP, config, 1);
    mock_self = 0;
    mock_wake = 0;
    lane = mock_lane(0);
    packer = hm_packer_open(mock_pe[0].pack, lane, &session);
}

static void stop(void)
{
    mock_quiet(packer, lane);
    hm_packer_close(packer);
    mock_stop();
    free(lane);
}

static uint64_t *word(int pe, uint64_t at) { return (uint64_t *)(mock_pe[pe].heap + at); }
static struct hm_place at(int pe, uint64_t offset) { return (struct hm_place){pe, HM_SEGMENT_HEAP, offset}; }
static uint64_t packets(void)
{
    struct hm_pack_stats stats;
    hm_pack_stats(mock_pe[0].pack, &stats);
    return stats.packets;
}
static void put(int pe, uint64_t to, uint64_t value) { mock_put(packer, lane, pe, to, &value, 8); }

/* Those which go direct because they may be all. */
static void first_ones(int pe)
{
    for (int i = 0; i < 4; i++) put(pe, 0, 1);
}

/* Until nothing is on its way any more, as progress threads would. */
static void settle(int npes)
{
    for (bool more = true; more;) {
        more = false;
        for (int pe = 0; pe < npes; pe++) more |= mock_deliver(pe);
    }
}

/* The first operations behind a quiet go by themselves; others wait for the clock, a fence, a quiet or a wait. */
static void what_leaves_when(void)
{
    start(2, &usual);
    first_ones(1);
    settle(2);
    CHECK(*word(1, 0) == 1 && packets() == 0 && mock_wake == 0);
    put(1, 8, 2);
    settle(2);
    CHECK(*word(1, 8) == 0 && packets() == 0 && mock_wake > hm_os_now() - 1000000000);
    CHECK(hm_pack_tick(mock_pe[0].pack) == 0 && packets() == 1); /* nobody has called since */
    settle(2);
    CHECK(*word(1, 8) == 2);

    put(1, 16, 3);
    put(1, 24, 4);
    CHECK(hm_pack_tick(mock_pe[0].pack) != 0 && packets() == 1); /* called since it was opened */
    CHECK(hm_pack_tick(mock_pe[0].pack) == 0 && packets() == 2);
    put(1, 32, 5);
    hm_pack_hurry(mock_pe[0].pack, false);
    CHECK(packets() == 3);
    mock_quiet(packer, lane);
    CHECK(*word(1, 16) == 3 && *word(1, 24) == 4 && *word(1, 32) == 5);
    put(1, 40, 6);
    mock_quiet(packer, lane);
    CHECK(*word(1, 40) == 6 && packets() == 3);

    session = 1; /* many operations are announced: the first is not alone, and the clock is slower */
    put(1, 40, 7);
    for (int i = 0; i < 10; i++) CHECK(hm_pack_tick(mock_pe[0].pack) != 0);
    CHECK(packets() == 3);
    for (int i = 0; i < 100; i++) hm_pack_tick(mock_pe[0].pack);
    CHECK(packets() == 4);
    session = 0;
    stop();
}

/* Each kind of operation, of each size, is what the same direct one is. */
static void each_kind(void)
{
    unsigned char mine[300], back[300];
    uint64_t old[12] = {0}, n = 0;
    start(2, &usual);
    first_ones(1);
    for (size_t size = 1; size <= 256; size++) {
        for (size_t i = 0; i < size; i++) mine[i] = (unsigned char)(size * 7 + i);
        for (uint64_t o = 0; o < 9; o += 4) {
            memset(back, 0, sizeof back);
            CHECK(hm_pack_put(packer, at(1, 1024 + o + size % 3), mine, size));
            mock_quiet(packer, lane);
            first_ones(1);
            CHECK(hm_pack_get(packer, back, at(1, 1024 + o + size % 3), size));
            mock_quiet(packer, lane);
            first_ones(1);
            CHECK(!memcmp(mine, back, size));
        }
    }
    CHECK(!hm_pack_put(packer, at(1, 0), mine, 257));
    static const enum hm_amo ops[] = {HM_AMO_SWAP, HM_AMO_FETCH_ADD, HM_AMO_FETCH_AND, HM_AMO_FETCH_OR, HM_AMO_FETCH_XOR,
                                      HM_AMO_CAS, HM_AMO_CAS, HM_AMO_FETCH};
    static const uint64_t value[] = {12, 5, 0x1f, 0x40, 3, 99, 7, 0}, want[] = {0, 12, 17, 17, 0x51, 0x52, 0x52, 7};
    for (size_t i = 0; i < HM_COUNT(ops); i++) CHECK(hm_pack_amo(packer, ops[i], at(1, 512), 8, value[i], 0x52 + (i == 5), &old[n++]));
    mock_quiet(packer, lane);
    for (size_t i = 0; i < n; i++) CHECK(old[i] == want[i]);
    static const enum hm_amo silent[] = {HM_AMO_SET, HM_AMO_ADD, HM_AMO_AND, HM_AMO_OR, HM_AMO_XOR};
    first_ones(1);
    for (size_t i = 0; i < HM_COUNT(silent); i++) {
        CHECK(hm_pack_amo(packer, silent[i], at(1, 512), 8, value[i], 0, NULL));
        CHECK(hm_pack_amo(packer, silent[i], at(1, 516 + 8), 4, value[i], 0, NULL));
    }
    float f = 1.5f, f_back = 0;
    double d = 0.25, d_back = 0;
    uint64_t bits = 0;
    memcpy(&bits, &f, sizeof f);
    for (int i = 0; i < 3; i++) CHECK(hm_pack_add_float(packer, at(1, 600), 4, bits));
    memcpy(&bits, &d, sizeof d);
    for (int i = 0; i < 3; i++) CHECK(hm_pack_add_float(packer, at(1, 608), 8, bits));
    mock_quiet(packer, lane);
    memcpy(&f_back, mock_pe[1].heap + 600, sizeof f_back);
    memcpy(&d_back, mock_pe[1].heap + 608, sizeof d_back);
    CHECK(f_back == 4.5f && d_back == 0.75);
    CHECK(*word(1, 512) == ((((12 + 5) & 0x1f) | 0x40) ^ 3) && *(uint32_t *)(mock_pe[1].heap + 524) == *word(1, 512));
    CHECK(*(uint32_t *)(mock_pe[1].heap + 520) == 0 && *(uint32_t *)(mock_pe[1].heap + 528) == 0);
    stop();
}

/* More targets than buffers: the oldest packets leave. */
static void few_buffers(void)
{
    enum { PES = 100 };
    struct hm_pack_config config = usual;
    struct hm_pack_stats stats;
    config.pool = 16 << 10;
    start(PES, &config);
    for (uint64_t i = 0; i < 5000; i++) mock_amo(packer, lane, HM_AMO_ADD, 1 + (int)(i * 7 % (PES - 1)), 8 * (i % 16), 1);
    mock_quiet(packer, lane);
    uint64_t sum = 0;
    for (int pe = 1; pe < PES; pe++)
        for (uint64_t k = 0; k < 16; k++) sum += *word(pe, 8 * k);
    CHECK(sum == 5000);
    hm_pack_stats(mock_pe[0].pack, &stats);
    CHECK(stats.buffers * stats.packet_bytes <= config.pool && stats.used <= stats.buffers && stats.used > 4);
    stop();
}

/* What lies unapplied at the one target of a thousand senders, and that all of it is applied. */
static void incast(void)
{
    enum { PES = 1001, EACH = 600 };
    struct hm_pack_config config = usual;
    config.packet = 16 << 10;
    config.pool = 32 << 10;
    config.credit = 4 << 20;
    mock_start(PES, HEAP, &config, 3);
    struct hm_packer **of = calloc(PES, sizeof(struct hm_packer *));
    struct hm_lane **lanes = calloc(PES, sizeof(struct hm_lane *));
    for (int pe = 1; pe < PES; pe++) {
        lanes[pe] = mock_lane(pe);
        of[pe] = hm_packer_open(mock_pe[pe].pack, lanes[pe], &session);
    }
    for (int i = 0; i < EACH; i++)
        for (int pe = 1; pe < PES; pe++) {
            mock_self = pe;
            mock_amo(of[pe], lanes[pe], HM_AMO_ADD, 0, 8 * (unsigned)(pe % 100), 1);
            if (i % 100 == 99) mock_fence(of[pe], lanes[pe]);
        }
    for (int pe = 1; pe < PES; pe++) {
        mock_self = pe;
        mock_quiet(of[pe], lanes[pe]);
    }
    for (uint64_t k = 0; k < 100; k++) CHECK(*word(0, 8 * k) == 10 * EACH);
    printf("1000 senders: at most %zu bytes unapplied\n", mock_queued_most);
    CHECK(mock_queued_most <= config.credit && mock_queued_most > config.credit / 4);
    for (int pe = 1; pe < PES; pe++) {
        hm_packer_close(of[pe]);
        free(lanes[pe]);
    }
    free(of);
    free(lanes);
    mock_stop();
}

/* --- nonsense --- */

static struct {
    struct hm_packet packet;
    char text[64];
} bad = {.packet.message.kind = HM_MESSAGE_PACKET};

/* What a process says that is given the first `bytes` of it. */
static void is_refused(size_t bytes, const char *because)
{
    char text[512] = "";
    int out[2], status;
    fflush(stdout);
    if (pipe(out)) abort();
    pid_t child = fork();
    if (child == 0) {
        dup2(out[1], 2);
        start(2, &usual);
        mock_say(0, 1, &bad, sizeof bad.packet + bytes);
        _exit(0);
    }
    close(out[1]);
    ssize_t n = read(out[0], text, sizeof text - 1);
    close(out[0]);
    waitpid(child, &status, 0);
    if (n > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 1 && strstr(text, "PE 1 has sent a ") && strstr(text, because))
        return;
    printf("status %#x, says: %s; and not: %s\n", (unsigned)status, text, because);
    failures++;
}

static void nonsense(void)
{
    char *end = hm_packet_head(bad.text, HM_AMO_ADD, true, at(0, HEAP - 4));
    is_refused((size_t)(end - bad.text) + 8, "outside of this PE's symmetric memory");
    hm_packet_head(bad.text, HM_AMO_ADD, true, at(0, HM_PACK_OFFSETS - 8));
    is_refused((size_t)(end - bad.text) + 8, "outside of this PE's symmetric memory");
    hm_packet_head(bad.text, HM_AMO_ADD, true, at(0, 12));
    is_refused((size_t)(end - bad.text) + 8, "not aligned");
    is_refused((size_t)(end - bad.text) + 7, "ends within an operation");
    is_refused(3, "ends within an operation");
    hm_packet_head(bad.text, 31, true, at(0, 8));
    is_refused((size_t)(end - bad.text) + 8, "unknown");
    hm_packet_head(bad.text, HM_AMO_ADD, true, (struct hm_place){0, HM_SEGMENT_DATA, 0});
    is_refused((size_t)(end - bad.text) + 8, "outside of this PE's symmetric memory");
    hm_packet_head(bad.text, HM_AMO_FETCH, true, at(0, 8));
    is_refused((size_t)(end - bad.text), "fetches more than it says");
    bad.packet.message.spare = 16;
    is_refused((size_t)(end - bad.text), "fetches less than it says");
    bad.packet.message.spare = 1 << 30;
    is_refused((size_t)(end - bad.text), "more than a message");
    uint16_t length = 200;
    bad.packet.message.spare = 0;
    end = hm_packet_head(bad.text, HM_PACK_PUT, false, at(0, 8));
    memcpy(end, &length, sizeof length);
    is_refused((size_t)(end - bad.text) + 40, "ends within an operation");
    bad.packet.message.kind = HM_MESSAGE_REPLY;
    is_refused(0, "answers no packet");
    bad.packet.cookie = 1 << 20;
    is_refused(0, "answers no packet");
}

int main(void)
{
    alarm(100);
    what_leaves_when();
    each_kind();
    few_buffers();
    incast();
    nonsense();
    if (failures) printf("%d checks failed\n", failures);
    return failures != 0;
}
