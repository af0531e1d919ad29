/* shmem_align refused powers of two below a pointer's size, and found no room for an alignment above 2 MiB on more than one
 * PE, because each heap began at a multiple of 2 MiB only: the address was right on PE 0 and wrong elsewhere. */
/* npes: 1 2 3 */
#include "../spec/check.h"

#define MOST ((size_t)64 << 20)

int main(void)
{
    check_start();
    unsigned char *first = shmem_malloc(40); /* so that nothing is aligned by luck */
    for (size_t align = 1; align <= MOST; align *= 2) {
        unsigned char *block = shmem_align(align, 100);
        CHECK(block != NULL, "alignment %zu", align);
        if (!block) continue;
        CHECK((uintptr_t)block % align == 0, "%p, alignment %zu", (void *)block, align);
        for (int i = 0; i < 100; i++) shmem_uchar_p(block + i, VALUE(unsigned char, me, i, align), right);
        shmem_barrier_all();
        for (int i = 0; i < 100; i++)
            CHECK_NUM(block[i], VALUE(unsigned char, left, i, align), "byte %d, alignment %zu", i, align);
        shmem_free(block);
    }
    shmem_free(first);
    return check_end();
}
