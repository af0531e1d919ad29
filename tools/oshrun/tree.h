/* The processes below this one, however deep. */
#ifndef OSHRUN_TREE_H
#define OSHRUN_TREE_H

#include "base/base.h"

#include <sys/types.h>

/* Sends `sig` to every living descendant of `root`, and to `root` itself when it is not the caller. With
 * `group` > 0 only to those of that process group. How many there were. */
int hm_tree_signal(pid_t root, int sig, pid_t group);

/* Kills every descendant of the caller, which is a child subreaper, until none is left; reaps them. */
void hm_tree_kill(void);

/* Is the caller's process group orphaned, so that a stop typed at the terminal would stop it for good? */
bool hm_tree_orphaned(void);

#endif
