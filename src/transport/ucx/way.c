/* Which of its transports UCX has chosen for a link. It tells in a text for people only: a line for each lane,
 *
 *     lane[0]:  2:tcp/eth0.0 md[1]  -> md[1]/tcp/sysdev[255] am am_bw#0 wireup
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport/ucx/ucx.h"

/* Lanes for bulk come first; what has none of its own goes as active messages. */
static const char *const uses[] = {" rma_bw#0", " rma#0", " rma", " am"};

/* "tcp/eth0" of a line of a lane. What UCX puts behind it, ".0", is the number of a device of the system. */
static bool read_lane(char *line, char *text, size_t size)
{
    char *lane = strstr(line, "lane["), *at = lane ? strstr(lane, "]:") : NULL;
    at = at ? strchr(at + 2, ':') : NULL;
    if (!at) return false;
    size_t n = strcspn(++at, " \n"), end = n;
    while (end && isdigit((unsigned char)at[end - 1]))
        end--;
    if (end > 1 && end < n && at[end - 1] == '.') n = end - 1;
    snprintf(text, size, "%.*s", (int)n, at);
    return memchr(at, '/', n) != NULL;
}

static bool find_lane(const char *info, const char *use, char *text, size_t size)
{
    char line[512];
    for (const char *end; (end = strchr(info, '\n')) != NULL; info = end + 1) {
        snprintf(line, sizeof line, "%.*s", (int)(end - info), info);
        if (strstr(line, use) && read_lane(line, text, size)) return true;
    }
    return false;
}

int hm_ucx_way(struct hm_lane *lane, int pe, char *text, size_t size)
{
    char *info = NULL;
    size_t bytes;
    FILE *f = open_memstream(&info, &bytes);
    if (!f) return -ENOMEM;
    hm_ucx_enter(lane);
    ucp_ep_print_info(hm_ucx_link_to(lane, pe)->ep, f);
    hm_ucx_left(lane, true); /* the connection is being made */
    bool found = false;
    if (fclose(f) == 0)
        for (size_t i = 0; i < HM_COUNT(uses) && !found; i++)
            found = find_lane(info, uses[i], text, size);
    free(info);
    return found ? 0 : -ENOENT;
}
