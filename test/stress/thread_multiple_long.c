/* npes: 3 */
/* args: 60 */
/* timeout: 180 */
/* label: long */
/* Threads for a minute. */
#include "thread_multiple.c"
