/* args: 100000 */
/* npes: 2 */
/* timeout: 900 */
/* label: long */
/* A hundred thousand rounds. */
#include "signal.c"
