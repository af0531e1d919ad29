/* npes: 8 */
/* args: 100000 */
/* timeout: 900 */
/* label: long */
/* First come, first served, over a hundred thousand rounds. */
#include "../spec/lock_order.c"
