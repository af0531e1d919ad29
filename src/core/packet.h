/* What a packet of operations looks like, for pack.c, which writes them, and unpack.c, which applies them.
 *
 *     struct hm_packet | operation ...        operation: code | offset (5 bytes) | [length (2 bytes)] | [value | cond]
 *     struct hm_packet | value ...            the reply: what was fetched, in the order of the operations
 *
 * Nothing is aligned. All PEs of a job are of one byte order. */
#ifndef HM_PACKET_H
#define HM_PACKET_H

#include <string.h>

#include "base/base.h"
#include "core/message.h"
#include "core/pack.h"

struct hm_packet {
    struct hm_message message; /* spare: bytes of values in the reply */
    uint32_t cookie;           /* the sender's, given back */
    uint32_t operations;
};

/* The code has the operation in its low bits, whether it is wide, and the segment. Atomics are those of enum hm_amo, of 8
 * bytes if wide and of 4 if not. */
enum {
    HM_PACK_SHORT = HM_AMO_XOR + 1, /* put of 2 bytes if wide, 1 if not */
    HM_PACK_WORD,                   /* put of 8 bytes or 4 */
    HM_PACK_PUT,                    /* of `length` bytes */
    HM_PACK_GET,                    /* of `length` bytes */
    HM_PACK_ADD_FLOAT,              /* double or float */
    HM_PACK_WIDE = 1 << 5,
    HM_PACK_SEGMENT_SHIFT = 6,
    HM_PACK_HEAD_BYTES = 6,
    HM_PACK_LENGTH_BYTES = 2,
    HM_PACK_SLACK = 2, /* the head is written as one word of 8 bytes */
};
#define HM_PACK_OFFSETS ((uint64_t)1 << 40)

HM_INLINE char *hm_packet_head(char *at, unsigned op, bool wide, struct hm_place place)
{
    uint64_t head = op | (wide ? HM_PACK_WIDE : 0) | (unsigned)place.segment << HM_PACK_SEGMENT_SHIFT | place.offset << 8;
    memcpy(at, &head, sizeof head);
    return at + HM_PACK_HEAD_BYTES;
}

/* Applies `bytes` of operations to the segments of this PE, which fetch `values_bytes` to `values`. NULL, or what is wrong
 * with them. */
const char *hm_packet_apply(const struct hm_pack_config *config, const char *operations, size_t bytes, char *values,
                            size_t values_bytes);

#endif
