/* Between block.c, memory.c, array.c and module.c: the life of blocks. */
#ifndef PY_MEMORY_H
#define PY_MEMORY_H

#include "py.h"

/* A new reference; known by its address from now on. */
py_block *py_block_new(char *start, size_t bytes, uint64_t number, const char *kind);
/* Of a block that was freed: its memory can go back although somebody still holds the block, who cannot look. */
void py_block_release(py_block *block);
void py_block_end(py_block *block, enum py_block_state state);
void py_block_end_all(void);           /* at the last finalize */
py_block *py_block_each(Py_ssize_t i); /* the i-th by address, borrowed; NULL behind the last */

/* The collector has dropped the block of that number. */
void py_memory_dropped(uint64_t number);
int py_memory_start(void); /* after init, collective: -1 with MemoryError */
void py_memory_stop(void); /* before the last finalize, collective */
void py_memory_forget(void); /* after it */
void py_pending_forget(void); /* after it */

/* Moves the array, the only one that still sees a freed block, to a private copy, so that the block is dropped: 1. 0: not
 * done, others may see the block. The caller has one reference. */
int py_array_move_out(PyObject *array);

/* Are variables and members of containers all that refers to the array, besides so many references of the caller? */
bool py_only_variables_hold(PyObject *array, Py_ssize_t besides);

int py_block_ready(PyObject *module);
int py_array_ready(PyObject *module);
int py_device_ready(PyObject *module);
int py_handle_ready(PyObject *module); /* Ctx, Team */
int py_lock_ready(PyObject *module);   /* Lock */
int py_params_register(struct py_params *p); /* interns the names: before the first call */

#endif
