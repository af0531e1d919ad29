/* Which way the PEs take: what is said of jobs that are not at hand here, with RDMA devices and many machines. */
/* with: src/core/ways.c */
#include "core/ways.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 };
static struct hm_ways_pe pe[MOST];
static struct hm_way way[2 * MOST];
static char said[1 << 16];
static int lines, failed;

static void say(const char *line)
{
    lines++;
    if (strlen(said) + strlen(line) + 2 < sizeof said) strcat(strcat(said, line), "\n");
}

static void expect(const char *what, bool is)
{
    if (is) return;
    printf("FAIL: %s; it says:\n%s", what, said);
    failed = 1;
}

static const char *apart(int a, int b, bool *asked)
{
    *asked = false;
    return a < 8 && b < 16 ? "a reason" : NULL;
}

static void report(int npes, int machines, int rounds)
{
    struct hm_ways_job job = {.npes = npes, .machines = machines, .mapped = true, .pe = pe, .way = way,
                              .rounds = rounds, .apart = apart};
    said[0] = 0;
    lines = 0;
    expect("the report fails", hm_ways_report(&job, say) == 0);
}

/* Blocks of 8 PEs on each machine, all over one card. */
static void many(void)
{
    for (int i = 0; i < MOST; i++) {
        pe[i] = (struct hm_ways_pe){.machine = i / 8, .host = "node", .card = "mlx5_0"};
        way[i] = (struct hm_way){.more = 1, .text = "ucx rc_mlx5/mlx5_0:1", .to = "the other machines"};
    }
    report(MOST, MOST / 8, 1);
    expect("a line for each machine and few more", lines < MOST / 8 + 8);
    expect("the way of all", strstr(said, "PEs 0-4095 to the other machines: ucx rc_mlx5/mlx5_0:1\n"));
    expect("machines", strstr(said, "machine 1: host node: PEs 8-15, RDMA device mlx5_0\n"));
    expect("the reason", strstr(said, "warning: PEs of machines 0 and 1 are on one host, but do not map each other's "
                                      "memory: a reason\n"));
}

/* PE 1 takes TCP to machine 1, where all others take the card. */
static void one_slow(void)
{
    for (int i = 0; i < 4; i++) {
        pe[i] = (struct hm_ways_pe){.machine = i / 2, .host = "node", .card = "mlx5_0"};
        way[i] = (struct hm_way){.more = 1, .text = "ucx rc_mlx5/mlx5_0:1", .to = "the other machine"};
        way[4 + i] = (struct hm_way){0};
    }
    strcpy(way[1].text, "ucx tcp/eth0");
    strcpy(pe[1].asked, "UCX_TLS=tcp");
    way[1].slow = hm_ways_judge(way[1].text, &pe[1], &pe[2]);
    report(4, 2, 2);
    expect("the others", strstr(said, "PEs 0, 2-3 to the other machine: ucx rc_mlx5/mlx5_0:1\n"));
    expect("the slow one", strstr(said, "PE 1 to the other machine: ucx tcp/eth0\n"));
    expect("the warning", strstr(said, "warning: PE 1: tcp, though there are RDMA devices (mlx5_0) on both sides: "
                                       "UCX_TLS=tcp is set\n"));
    *pe[1].asked = 0;
    report(4, 2, 1);
    expect("nobody has asked for it", strstr(said, "UCX has not taken them"));
}

static void judging(void)
{
    struct hm_ways_pe with = {.card = "mlx5_0"}, without = {.card = ""};
    expect("tcp without a card", hm_ways_judge("ucx tcp/eth0", &with, &without) == HM_WAY_FINE);
    expect("tcp with cards", hm_ways_judge("ucx tcp/eth0", &with, &with) == HM_WAY_TCP);
    expect("a card", hm_ways_judge("ucx rc_verbs/mlx5_0:1", &with, &with) == HM_WAY_FINE);
}

static void lists(void)
{
    uint8_t set[200] = {1, 1, 1, 0, 0, 1, 0, 1, 1};
    char text[64];
    expect("how many", hm_ways_list(set, 9, text, sizeof text) == 6);
    expect("ranges", !strcmp(text, "0-2, 5, 7-8"));
    expect("the end counts", hm_ways_list(set, 6, text, sizeof text) == 4 && !strcmp(text, "0-2, 5"));
    for (int i = 0; i < 200; i++) set[i] = i % 2;
    expect("more than there is room for", hm_ways_list(set, 200, text, sizeof text) == 100);
    expect("says that there are more", !strcmp(text + strlen(text) - 5, ", ..."));
    memset(set, 0, sizeof set);
    expect("none", hm_ways_list(set, 200, text, sizeof text) == 0 && !*text);
}

int main(void)
{
    many();
    one_slow();
    judging();
    lists();
    if (!failed) puts("fine");
    return failed;
}
