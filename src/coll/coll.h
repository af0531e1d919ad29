/* Collectives over a team. All sizes in bytes unless said. dest and source are symmetric addresses (scans and
 * reductions may have source == dest). Zero lengths return 0 after the members met. All return 0. */
#ifndef HM_COLL_H
#define HM_COLL_H

#include "base/base.h"
#include "core/team.h"

/* The distinct machine types of reductions and scans. */
enum hm_kind {
    HM_KIND_I8, HM_KIND_I16, HM_KIND_I32, HM_KIND_I64, HM_KIND_U8, HM_KIND_U16, HM_KIND_U32, HM_KIND_U64, HM_KIND_F32,
    HM_KIND_F64, HM_KIND_LD, HM_KIND_CF, HM_KIND_CD, HM_KINDS
};
enum hm_op { HM_OP_AND, HM_OP_OR, HM_OP_XOR, HM_OP_MAX, HM_OP_MIN, HM_OP_SUM, HM_OP_PROD, HM_OPS };

size_t hm_kind_size(enum hm_kind kind);

int hm_broadcast(struct hm_team *team, void *dest, const void *source, size_t bytes, int root, const char *call);
/* The active-set form, which does not write the root's dest. */
int hm_broadcast_to_others(struct hm_team *team, void *dest, const void *source, size_t bytes, int root, const char *call);
int hm_collect(struct hm_team *team, void *dest, const void *source, size_t bytes, const char *call);
int hm_fcollect(struct hm_team *team, void *dest, const void *source, size_t bytes, const char *call);
int hm_alltoall(struct hm_team *team, void *dest, const void *source, size_t bytes, const char *call); /* per block */
/* nelems elements of `size` bytes per block; strides in elements. */
int hm_alltoalls(struct hm_team *team, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems,
                 size_t size, const char *call);
int hm_reduce(struct hm_team *team, void *dest, const void *source, size_t n, enum hm_kind kind, enum hm_op op,
              const char *call);
int hm_scan(struct hm_team *team, void *dest, const void *source, size_t n, enum hm_kind kind, bool inclusive,
            const char *call); /* sums */
/* 0 when all members give the same bytes, at most HM_AGREE_MAX. Else 1, and what the first member that differs from
 * member 0 gave, and its number: alike on all. theirs and pe may be NULL. */
#define HM_AGREE_MAX 128
int hm_agree(struct hm_team *team, const void *mine, size_t bytes, void *theirs, int *pe, const char *call);

#endif
