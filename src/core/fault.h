/* The last word of a PE that dies of SIGSEGV, SIGBUS, SIGFPE or SIGABRT: one line that says where and what
 * of.
 *
 * Handlers stand only where nobody else has put one, and on a stack of their own. After the line the signal
 * takes its default course, with what the kernel said about it, so core files are as they would be without.
 */
#ifndef HM_FAULT_H
#define HM_FAULT_H

/* At init, when hm_world and hm_symm stand; at finalize. May be repeated. */
void hm_fault_install(void);
void hm_fault_remove(void);

#endif
