/* Blocks come, grow, shrink, move and go for a while in a heap that is often full. Every block is filled by
 * the left neighbour, and holds what he put when it goes or moves. */
/* env: SHMEM_SYMMETRIC_SIZE=4M */
/* timeout: 120 */
#include "../spec/check.h"

#define BLOCKS 120

static struct block {
    unsigned char *at;
    size_t bytes;
    uint64_t id; /* what it is filled with */
} block[BLOCKS];
static struct random r = {20266};

static size_t random_size(void)
{
    size_t most = (size_t)16 << random_below(&r, 17);
    return 1 + random_below(&r, most);
}

/* Some bytes of a page are as good as all of them. */
#define FOR_BYTES(k, from, to) for (size_t k = (from); k < (to); k += k < 64 || (to)-k < 64 ? 1 : 61)

static void fill(struct block *b, size_t from)
{
    unsigned char *there = shmem_ptr(b->at, right);
    FOR_BYTES(k, from, b->bytes) there[k] = VALUE(unsigned char, me, k, b->id);
}

static void check_filled(const struct block *b, size_t bytes)
{
    FOR_BYTES(k, 0, bytes)
    {
        /* the end of a block that grew is not where it was filled to */
        if (b->at[k] == VALUE(unsigned char, left, k, b->id)) continue;
        CHECK(false, "block %llu of %zu bytes: byte %zu is %d", (unsigned long long)b->id, b->bytes, k,
              b->at[k]);
        break;
    }
}

static void take(struct block *b, uint64_t id)
{
    size_t bytes = random_size(), align = (size_t)8 << random_below(&r, 12);
    switch (random_below(&r, 4)) {
    case 0:
        b->at = shmem_malloc(bytes);
        break;
    case 1:
        b->at = shmem_align(align, bytes);
        break;
    case 2:
        b->at = shmem_malloc_with_hints(bytes, (long)id);
        break;
    default:
        b->at = shmem_calloc(bytes, 1);
    }
    if (b->at == NULL) return;
    *b = (struct block){b->at, bytes, id};
    fill(b, 0);
}

/* Filled anew afterwards, as the check looks at the last bytes. */
static void resize(struct block *b, uint64_t id)
{
    size_t bytes = random_size(), kept = bytes < b->bytes ? bytes : b->bytes;
    unsigned char *at = shmem_realloc(b->at, bytes);
    if (at == NULL) {
        check_filled(b, b->bytes);
        return;
    }
    b->at = at;
    size_t wrong = 0;
    FOR_BYTES(k, 0, kept < 64 ? kept : 64) wrong += b->at[k] != VALUE(unsigned char, left, k, b->id);
    CHECK_NUM(wrong, (size_t)0, "bytes lost from %zu to %zu", b->bytes, bytes);
    shmem_barrier_all(); /* all have looked */
    b->bytes = bytes;
    b->id = id;
    fill(b, 0);
}

int main(void)
{
    check_start();
    int none = 0;
    for (uint64_t id = 1; id <= 4000 && check_failures == 0; id++) {
        struct block *b = &block[random_below(&r, BLOCKS)];
        if (b->at == NULL) {
            take(b, id);
            none += b->at == NULL;
        } else if (random_below(&r, 3) == 0) {
            shmem_barrier_all();
            check_filled(b, b->bytes);
            resize(b, id);
        } else {
            shmem_barrier_all(); /* all have filled */
            check_filled(b, b->bytes);
            shmem_free(b->at);
            b->at = NULL;
        }
    }
    CHECK(none > 0 && none < 2000, "the heap was full %d times", none);
    shmem_barrier_all();
    for (int i = 0; i < BLOCKS; i++) {
        if (block[i].at != NULL) check_filled(&block[i], block[i].bytes);
        shmem_free(block[i].at);
    }
    void *all = shmem_malloc((size_t)4 << 20);
    CHECK(all != NULL, "the whole heap is free in the end");
    shmem_free(all);
    return check_end();
}
