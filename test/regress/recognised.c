/* shmem4py of PyPI asks the headers whose library this is; of one that it does not know it takes no call newer than 1.4
 * and brings its own, which clash with ours. */
/* npes: 1 */
#include "../spec/check.h"

#if !defined(SHMEM_DEF_H) || !defined(SHMEM_FUNCTION_ATTRIBUTES)
#error "not known as a library that has all of 1.5"
#endif
#if defined(OSHMEM_MAJOR_VERSION) || defined(OSHMPI_NUMVERSION) || defined(CRAY_SHMEM_NUMVERSION)
#error "taken for another library"
#endif

SHMEM_FUNCTION_ATTRIBUTES int declared_as_theirs(void);
int declared_as_theirs(void) { return 3; }

int main(void)
{
    check_start();
    CHECK_NUM(declared_as_theirs(), 3, "a function declared with the attributes");
    return check_end();
}
