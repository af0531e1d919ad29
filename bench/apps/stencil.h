/* A 2-D stencil: the grid, its parts, and one step on a part. Included behind pes.h or ranks.h.
 *
 * The grid has a border of zeros that stays. PEs stand in a rectangle as square as their number allows; each has a part
 * of the grid with a frame of one cell around it, where the edges of its neighbours' parts come. */
#ifndef STENCIL_H
#define STENCIL_H

enum side { NORTH, SOUTH, WEST, EAST, SIDES };

static const enum side opposite[SIDES] = {SOUTH, NORTH, EAST, WEST};

static size_t side, steps;              /* of the whole grid */
static int down, across;                /* PEs */
static int neighbour[SIDES];            /* PE, or -1 at the border */
static size_t top, left, rows, columns; /* this PE's part */
static size_t stride;                   /* cells from a row to the next, frame included */
static double *now_cells, *next_cells;

static inline double first_value(size_t row, size_t column)
{
    return (double)(mix(row << 32 ^ column) >> 40) / (1 << 24);
}
static inline size_t from_share(size_t n, int shares, int which) { return n * (size_t)which / (size_t)shares; }

static inline void choose_part(void)
{
    for (down = 1; down * down <= npes; down++)
        continue;
    while (npes % --down)
        continue;
    across = npes / down;
    int y = me / across, x = me % across;
    neighbour[NORTH] = y > 0 ? me - across : -1;
    neighbour[SOUTH] = y < down - 1 ? me + across : -1;
    neighbour[WEST] = x > 0 ? me - 1 : -1;
    neighbour[EAST] = x < across - 1 ? me + 1 : -1;
    top = from_share(side, down, y), rows = from_share(side, down, y + 1) - top;
    left = from_share(side, across, x), columns = from_share(side, across, x + 1) - left;
    stride = columns + 2;
}

static inline void fill_part(void)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < columns; k++)
            now_cells[(i + 1) * stride + k + 1] = first_value(top + i, left + k);
}

static inline void stencil_set_up(int argc, char **argv)
{
    side = size_argument(argc, argv, 1, "cells in a row and in a column of the grid", 384, 1 << 15);
    steps = size_argument(argc, argv, 2, "steps", 200, 1 << 20);
    if (side < (size_t)npes) job_fail("stencil: %zu cells in a row are less than the %d PEs", side, npes);
    choose_part();
    now_cells = need(calloc((rows + 2) * stride, sizeof *now_cells), "the grid");
    next_cells = need(calloc((rows + 2) * stride, sizeof *next_cells), "the grid");
    if (me == 0)
        printf("# stencil: %s, %d x %d PEs, %zu x %zu cells, %zu steps\n", JOB_MODEL, down, across, side, side, steps);
}

/* One step of a part with its frame. It is the same code for the parts and for the whole: equal bit for bit. */
__attribute__((noinline)) static void step_cells(const double *is, double *out, size_t n_rows, size_t n_columns)
{
    size_t width = n_columns + 2;
    for (size_t i = 1; i <= n_rows; i++) {
        const double *c = is + i * width;
        for (size_t k = 1; k <= n_columns; k++)
            out[i * width + k] = 0.5 * c[k] + 0.125 * ((c[k - width] + c[k + width]) + (c[k - 1] + c[k + 1]));
    }
}

static inline void swap_cells(double **a, double **b)
{
    double *kept = *a;
    *a = *b;
    *b = kept;
}

/* How many cells an edge has, the first of them, and the cells from one to the next. */
static inline size_t edge_cells(enum side s) { return s == NORTH || s == SOUTH ? columns : rows; }
static inline size_t edge_step(enum side s) { return s == NORTH || s == SOUTH ? 1 : stride; }
static inline double *own_edge(enum side s)
{
    size_t row = s == SOUTH ? rows : 1, column = s == EAST ? columns : 1;
    return now_cells + row * stride + column;
}
static inline double *frame_edge(enum side s)
{
    size_t row = s == NORTH ? 0 : s == SOUTH ? rows + 1 : 1;
    size_t column = s == WEST ? 0 : s == EAST ? columns + 1 : 1;
    return now_cells + row * stride + column;
}

static inline void pack_edge(enum side s, double *to)
{
    const double *from = own_edge(s);
    for (size_t i = 0, n = edge_cells(s), by = edge_step(s); i < n; i++)
        to[i] = from[i * by];
}

static inline void unpack_edge(enum side s, const double *from)
{
    double *to = frame_edge(s);
    for (size_t i = 0, n = edge_cells(s), by = edge_step(s); i < n; i++)
        to[i * by] = from[i];
}

/* The whole grid after all steps, as one PE alone finds it. */
static inline double *serial_cells(void)
{
    size_t width = side + 2;
    double *is = need(calloc(width * width, sizeof *is), "the whole grid"),
           *out = need(calloc(width * width, sizeof *out), "the whole grid");
    for (size_t i = 0; i < side; i++)
        for (size_t k = 0; k < side; k++)
            is[(i + 1) * width + k + 1] = first_value(i, k);
    for (size_t s = 0; s < steps; s++, swap_cells(&is, &out))
        step_cells(is, out, side, side);
    free(out);
    return is;
}

static inline void must_be_serial(void)
{
    static double *all; /* the same each time */
    size_t width = side + 2;
    if (!all) all = serial_cells();
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < columns; k++) {
            double part = now_cells[(i + 1) * stride + k + 1], whole = all[(top + i + 1) * width + left + k + 1];
            if (part != whole)
                job_fail("stencil: cell %zu of row %zu is %.17g, one PE alone has %.17g", left + k, top + i, part,
                         whole);
        }
}

/* exchange() brings the neighbours' edges into the frame; it is told how many steps there were before, in all rounds. */
static inline void step_in_rounds(const char *series, void (*exchange)(size_t step))
{
    struct rounds rounds = {.n = 0};
    while (another_round(&rounds)) {
        fill_part();
        double begin = job_clock();
        for (size_t step = 0; step < steps; step++, swap_cells(&now_cells, &next_cells)) {
            exchange((size_t)rounds.n * steps + step);
            step_cells(now_cells, next_cells, rows, columns);
        }
        add_round(&rounds, job_took(begin));
        must_be_serial();
    }
    double took = median_round(&rounds);
    if (me == 0) print_row("stencil", series, (size_t)npes, took / (double)steps * 1e6, "us");
}

#endif
