/* Which function an address of code lies in, as far as this library exports it. Made ready beforehand, so
 * that it can be asked in a signal handler, where dladdr may not. */
#ifndef HM_SYMBOLS_H
#define HM_SYMBOLS_H

#include "base/base.h"

void hm_symbols_prepare(void);

/* The exported function of this library that holds `pc` ("shmem_..." before its other names), or NULL. */
const char *hm_symbols_name(uintptr_t pc);

/* Is pc in this library's code, in the executable's? (Both, where the library is linked into it.) */
bool hm_symbols_in_library(uintptr_t pc);
bool hm_symbols_in_program(uintptr_t pc);

/* An address of the executable's code as its file counts them, which is how addr2line wants it; and the
 * file's name. */
uintptr_t hm_symbols_program_offset(uintptr_t pc);
const char *hm_symbols_program(void);

#endif
