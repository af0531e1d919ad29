/* The include path of the old days. */
#include <shmemx.h>
