#include "core/place.h"

#include <stdlib.h>

struct hm_places hm_places;

static int make_tables(int npes, int machines)
{
    size_t n = (size_t)npes;
    hm_places.machine_of = malloc(n * sizeof(int32_t));
    hm_places.local_of = malloc(n * sizeof(int32_t));
    hm_places.local = malloc(n * sizeof(int32_t));
    hm_places.leader = malloc((size_t)machines * sizeof(int32_t));
    return hm_places.machine_of && hm_places.local_of && hm_places.local && hm_places.leader ? 0 : -ENOMEM;
}

/* In the order of their numbers, so that the first PE of a machine is its leader. */
static int fill_tables(int pe, int npes, int machines, const int32_t *machine)
{
    int32_t *count = calloc((size_t)machines, sizeof *count);
    if (!count) return -ENOMEM;
    hm_places.machine = machine[pe];
    for (int i = 0; i < npes; i++) {
        int m = machine[i];
        if (!count[m]) hm_places.leader[m] = i;
        hm_places.machine_of[i] = m;
        hm_places.local_of[i] = count[m];
        if (m == hm_places.machine) hm_places.local[count[m]] = i;
        count[m]++;
    }
    hm_places.local_npes = count[hm_places.machine];
    hm_places.local_pe = hm_places.local_of[pe];
    free(count);
    return 0;
}

int hm_places_set(int pe, int npes, int machines, const int32_t *machine)
{
    hm_places = (struct hm_places){.machines = machines, .local_npes = npes, .local_pe = pe};
    if (machines == 1) return 0;
    int rc = make_tables(npes, machines);
    if (!rc) rc = fill_tables(pe, npes, machines, machine);
    if (rc) hm_places_clear();
    return rc;
}

void hm_places_clear(void)
{
    free(hm_places.machine_of);
    free(hm_places.local_of);
    free(hm_places.local);
    free(hm_places.leader);
    hm_places = (struct hm_places){0};
}
