/* with: test/threads/common/mock.c src/core/pack.c src/core/pool.c src/core/send.c src/core/unpack.c src/base/futex.c src/base/log.c src/base/os.c */
/* timeout: 120 */
/* Packets of random bytes, and right ones with bytes changed: whatever they say, nothing outside of the segment is touched
 * (AddressSanitizer looks), and they are either applied or refused.
 *
 *     packet [SEED [ROUNDS]] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/packet.h"

enum { SEGMENT = 4096, MOST = 600 };

static uint64_t state;

static uint64_t draw(uint64_t n)
{
    state += 0x9e3779b97f4a7c15u;
    uint64_t x = state;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (x ^ (x >> 31)) % n;
}

/* One operation, most often a right one; *values grows by what it fetches. */
static size_t write_one(char *at, size_t *values)
{
    unsigned op = (unsigned)draw(HM_PACK_ADD_FLOAT + 1);
    bool wide = draw(2), silent = op <= HM_AMO_XOR && hm_amo_is_silent((enum hm_amo)op);
    bool wrong_place = !draw(60), says = op == HM_PACK_PUT || op == HM_PACK_GET;
    size_t size = op == HM_PACK_SHORT ? 1 + wide : wide ? 8 : 4;
    uint16_t length = (uint16_t)draw(draw(40) ? 40 : 65536);
    struct hm_place place = {0, wrong_place && draw(2) ? HM_SEGMENT_DATA : HM_SEGMENT_HEAP,
                             wrong_place ? draw(SEGMENT + 8) : 8 * draw(SEGMENT / 8 - 5)};
    char *end = hm_packet_head(at, op, wide, place);
    if (says) memcpy(end, &length, sizeof length);
    if ((op <= HM_AMO_XOR && !silent) || op == HM_PACK_GET) *values += says ? length : size;
    if (!draw(60)) return (size_t)(end - at) + draw(20);
    size_t rest = op == HM_AMO_FETCH ? 0 : op == HM_AMO_CAS ? 2 * size : size;
    if (op == HM_PACK_PUT) rest = 2 + (size_t)(length < 40 ? length : 40);
    if (op == HM_PACK_GET) rest = 2;
    return (size_t)(end - at) + rest;
}

int main(int argc, char **argv)
{
    struct hm_pack_config config = {.npes = 1};
    long rounds = argc > 2 ? atol(argv[2]) : 300000, applied = 0;
    state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    config.segment[HM_SEGMENT_HEAP].base = malloc(SEGMENT);
    config.segment[HM_SEGMENT_HEAP].bytes = SEGMENT;
    for (long i = 0; i < rounds; i++) {
        char text[MOST + 64];
        size_t bytes = 0, most = draw(MOST), room = 0;
        while (bytes < most && draw(12)) bytes += write_one(text + bytes, &room);
        if (!draw(20)) room = draw(256);
        if (draw(10) == 0)
            for (size_t k = 0; k < bytes; k++) text[k] = (char)draw(256);
        char *packet = malloc(bytes + !bytes), *values = malloc(room + !room); /* exactly so long */
        memcpy(packet, text, bytes);
        applied += !hm_packet_apply(&config, packet, bytes, values, room);
        free(packet);
        free(values);
    }
    free(config.segment[HM_SEGMENT_HEAP].base);
    printf("%ld of %ld applied\n", applied, rounds);
    return 0;
}
