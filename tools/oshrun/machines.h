/* --machines: make-believe machines, for tests and development. The PEs are divided into machines that do not map each
 * other's memory, as if a network lay between them. */
#ifndef OSHRUN_MACHINES_H
#define OSHRUN_MACHINES_H

#include "base/base.h"

#include <stddef.h>

struct hm_layout {
    int machines;
    int *machine_of; /* [npes]; NULL: all PEs are on machine 0 */
};

/* What SPEC means for a job of `npes` PEs: "2" equal blocks, as equal as possible; "3+1" the size of each; "cyclic:2" one
 * PE after the other; "list:0,1,0" that of each PE. Machines come out numbered by the lowest PE on each. `shrink`: with fewer PEs than machines each
 * PE is a machine, which otherwise is an error. 0; -ENOMEM; -EINVAL with the reason in `why`. */
int hm_layout_parse(struct hm_layout *layout, const char *spec, int npes, bool shrink, char *why,
                    size_t size);
void hm_layout_free(struct hm_layout *layout);

/* "0-3, 8": the PEs of one machine. What does not fit ends in "...". */
void hm_layout_list(const struct hm_layout *layout, int npes, int machine, char *text, size_t size);

#endif
