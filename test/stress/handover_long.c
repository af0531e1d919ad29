/* npes: 2 */
/* args: 64m:200 4m:3000 1m:7000 40000:20000 */
/* timeout: 1800 */
/* label: long */
/* Ten thousand large puts, and some small ones. */
#include "handover.c"
