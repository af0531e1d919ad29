/* Indices sorted by owner, and where the parts begin: what the MPI twins of histogram and gather exchange. Included
 * behind spread.h. */
#ifndef ALLTOALLV_H
#define ALLTOALLV_H

static size_t *by_owner, *from_others;            /* places: asked here, asked by others */
static size_t *position;                          /* which index each of by_owner was, for who wants to know */
static int *out, *out_at, *in, *in_at, asked = 0; /* asked: how many others want here */

static inline void exchange_set_up(void)
{
    int *all = need(calloc(4 * (size_t)npes, sizeof *all), "counts");
    out = all, out_at = all + npes, in = all + 2 * npes, in_at = all + 3 * npes;
    by_owner = need(malloc(indices * sizeof *by_owner), "indices by owner");
}

/* The places that others ask for are in from_others, `asked` of them. */
static inline void exchange_places(void)
{
    int at = 0;
    memset(out, 0, (size_t)npes * sizeof *out);
    for (size_t k = 0; k < indices; k++)
        out[owner[k]]++;
    for (int r = 0; r < npes; at += out[r++])
        out_at[r] = at;
    for (size_t k = 0; k < indices; k++) {
        int to = out_at[owner[k]]++;
        by_owner[to] = place[k];
        if (position) position[to] = k;
    }
    for (int r = 0; r < npes; r++)
        out_at[r] -= out[r];
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    asked = 0;
    for (int r = 0; r < npes; asked += in[r++])
        in_at[r] = asked;
    from_others = need(realloc(from_others, (size_t)asked * sizeof *from_others + 1), "indices of others");
    MPI_Alltoallv(by_owner, out, out_at, MPI_UINT64_T, from_others, in, in_at, MPI_UINT64_T, MPI_COMM_WORLD);
}

#endif
