#include "core/inlined.h"

#include <pthread.h>
#include <shmem/inline_table.h>

#include "core/symm.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct shmemx_inline_table *tables; /* linked by `next` */
static unsigned told;                      /* so many PEs have been told of: entries behind them are empty in all tables */

/* Behind entry SHMEMX_INLINE_PES - 1 is the one of all other PEs, which stays empty. */
static unsigned npes_now(void)
{
    return hm_symm.npes < SHMEMX_INLINE_PES ? hm_symm.npes : SHMEMX_INLINE_PES;
}

/* Threads of the program may read meanwhile: addresses are there before the limits that let them be used. Those fall and rise
 * as hm_symm's own, which the caller has set in the right order with what is mapped. */
static void set_limit(char **limit, size_t bytes, const char *mapped)
{
    __atomic_store_n(limit, mapped ? (char *)bytes : NULL, __ATOMIC_RELEASE);
}

static void fill_entry(struct shmemx_inline_table *t, unsigned pe)
{
    const struct hm_peer *p = &hm_symm.peer[pe];
    t->heap_at[pe] = p->heap;
    t->data_at[pe] = p->data;
    t->bell[pe] = (const volatile uint32_t *)p->bell;
    set_limit(&t->heap_limit[pe], hm_symm.heap_limit, p->heap);
    set_limit(&t->data_limit[pe], hm_symm.data_limit, p->data);
}

static void close_entry(struct shmemx_inline_table *t, unsigned pe)
{
    set_limit(&t->heap_limit[pe], 0, NULL);
    set_limit(&t->data_limit[pe], 0, NULL);
}

static void fill(struct shmemx_inline_table *t, unsigned npes, unsigned before)
{
    t->heap = (char *)hm_symm.heap_base;
    t->data = (char *)hm_symm.data_base;
    for (unsigned pe = 0; pe < npes; pe++) fill_entry(t, pe);
    for (unsigned pe = npes; pe < before; pe++) close_entry(t, pe);
}

void hm_inlined_tell(void)
{
    pthread_mutex_lock(&lock);
    unsigned npes = npes_now();
    for (struct shmemx_inline_table *t = tables; t; t = t->next) fill(t, npes, told);
    told = npes;
    pthread_mutex_unlock(&lock);
}

static struct shmemx_inline_table **find(const struct shmemx_inline_table *table)
{
    struct shmemx_inline_table **at = &tables;
    while (*at && *at != table) at = &(*at)->next;
    return at;
}

void hm_inlined_join(struct shmemx_inline_table *table)
{
    pthread_mutex_lock(&lock);
    if (!*find(table)) {
        table->next = tables;
        tables = table;
        fill(table, npes_now(), 0);
    }
    pthread_mutex_unlock(&lock);
}

void hm_inlined_leave(struct shmemx_inline_table *table)
{
    pthread_mutex_lock(&lock);
    struct shmemx_inline_table **at = find(table);
    if (*at) {
        *at = table->next;
        for (unsigned pe = 0; pe < told; pe++) close_entry(table, pe);
    }
    pthread_mutex_unlock(&lock);
}
