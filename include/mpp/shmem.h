/* The include path of the old days. */
#include <shmem.h>
