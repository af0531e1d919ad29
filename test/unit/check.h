/* A condition that must hold: what does not is printed and counted, and the test goes on. */
#ifndef UNIT_CHECK_H
#define UNIT_CHECK_H

#include <stdio.h>

static int failures;
#define CHECK(cond)                                                     \
    do {                                                                \
        if (!(cond)) {                                                  \
            failures++;                                                 \
            printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #cond); \
            fflush(stdout);                                             \
        }                                                               \
    } while (0)

#endif
