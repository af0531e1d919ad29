/* The launcher's end of the wire under fire: PEs send packets that are right, nearly right and mere noise,
 * with and without descriptors, and read their answers late or never. The hub may not crash, block, or keep
 * descriptors; and a right exchange must still work at any time after. Arguments: seed, rounds. */
/* with: tools/oshrun/hub.c src/base/os.c */
/* timeout: 120 */
#define _GNU_SOURCE
#include "../../tools/oshrun/hub.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define NPES 5

static uint64_t state;

static uint32_t random_below(uint32_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 16) % n);
}

static void must(int ok, const char *what)
{
    if (ok) return;
    fprintf(stderr, "FAIL: %s\n", what);
    exit(1);
}

static int open_descriptors(void)
{
    int n = 0;
    DIR *dir = opendir("/proc/self/fd");
    if (!dir) return -1;
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

static struct hm_hub hub;
static const int machine_of[NPES] = {0, 1, 1, 0, 1}, local_of[NPES] = {0, 0, 1, 1, 2};
static int wire[NPES];
static int null_fd;

static ssize_t send_packet(int pe, const void *data, size_t n, int nfds)
{
    int fds[16];
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(sizeof fds)];
    } control = {0};
    struct iovec iov = {(void *)data, n};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
    for (int i = 0; i < nfds; i++)
        fds[i] = null_fd;
    if (nfds) {
        msg.msg_control = &control;
        msg.msg_controllen = CMSG_SPACE((size_t)nfds * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN((size_t)nfds * sizeof(int));
        memcpy(CMSG_DATA(c), fds, (size_t)nfds * sizeof(int));
    }
    return sendmsg(wire[pe], &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* One answer, its descriptors closed; its type, or 0 when there is none. */
static uint32_t receive(int pe, struct hm_msg *head, unsigned char *body, size_t size)
{
    int fds[HM_MSG_FDS];
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(sizeof fds)];
    } control;
    struct iovec iov[2] = {{head, sizeof *head}, {body, size}};
    struct msghdr msg = {
        .msg_iov = iov, .msg_iovlen = 2, .msg_control = &control, .msg_controllen = sizeof control};
    if (recvmsg(wire[pe], &msg, MSG_DONTWAIT) < (ssize_t)sizeof *head) return 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
        size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        memcpy(fds, CMSG_DATA(c), n * sizeof(int));
        must(n == head->nfds, "an answer has another number of descriptors than it says");
        for (size_t i = 0; i < n; i++)
            close(fds[i]);
    }
    return head->type;
}

static unsigned char packet[HM_MSG_MAX + 64];

static size_t make_packet(int pe, int *nfds)
{
    static const uint32_t types[] = {HM_MSG_HELLO,    HM_MSG_GATHER,    HM_MSG_GATHER,  HM_MSG_GATHER,
                                     HM_MSG_EXIT_ALL, HM_MSG_FINALIZED, HM_MSG_WELCOME, 77};
    struct hm_msg head = {.type = types[random_below(HM_COUNT(types))]};
    struct hm_hello hello = {.version = HM_JOB_VERSION, .pid = getpid()};
    size_t len = random_below(8) ? random_below(HM_GATHER_MAX + 8) : random_below(HM_MSG_MAX);
    *nfds = random_below(3) ? 2 : (int)random_below(9);
    if (head.type == HM_MSG_HELLO && random_below(8)) len = sizeof hello, *nfds = 0;
    if (head.type == HM_MSG_GATHER && random_below(8)) len = 32, *nfds = 2, head.arg = hub.members[pe].round;
    head.len = (uint32_t)len;
    head.nfds = (uint32_t)*nfds;
    for (size_t i = 0; i < len; i++)
        packet[sizeof head + i] = (unsigned char)random_below(256);
    if (head.type == HM_MSG_HELLO && len == sizeof hello) memcpy(packet + sizeof head, &hello, len);
    memcpy(packet, &head, sizeof head);
    if (!random_below(6))
        packet[random_below((uint32_t)(sizeof head + len))] ^= (unsigned char)(1 + random_below(255));
    return random_below(12) ? sizeof head + len : random_below((uint32_t)(sizeof head + len + 1));
}

static void step(void)
{
    struct hm_msg head;
    static unsigned char body[HM_MSG_MAX];
    int pe = (int)random_below(NPES), nfds;
    size_t n = make_packet(pe, &nfds);
    send_packet(pe, packet, n, nfds);
    while (random_below(4)) {
        enum hm_hub_event e = hm_hub_read(&hub, pe);
        if (e == HM_HUB_TROUBLE) {
            must(*hub.trouble, "trouble without a sentence");
            hm_hub_forget(&hub, pe);
        }
        if (e == HM_HUB_NOTHING || e == HM_HUB_ENDED) break;
    }
    if (!random_below(3)) receive((int)random_below(NPES), &head, body, sizeof body);
    if (!random_below(8)) hm_hub_forget(&hub, pe);
    if (!random_below(4)) hm_hub_send(&hub);
}

static void settle(int pe)
{
    struct hm_msg head;
    static unsigned char body[HM_MSG_MAX];
    for (enum hm_hub_event e; (e = hm_hub_read(&hub, pe)) != HM_HUB_NOTHING && e != HM_HUB_ENDED;) {
    }
    hm_hub_forget(&hub, pe);
    while (receive(pe, &head, body, sizeof body)) {
    }
    hub.members[pe].joins = 0;
}

static void send_right(int pe, uint32_t type, int arg, const void *body, size_t len, int nfds)
{
    struct hm_msg head = {.type = type, .arg = arg, .len = (uint32_t)len, .nfds = (uint32_t)nfds};
    memcpy(packet, &head, sizeof head);
    memcpy(packet + sizeof head, body, len);
    must(send_packet(pe, packet, sizeof head + len, nfds) > 0, "a right packet cannot be sent");
}

/* All PEs join, gather twice and leave, as they should. */
static void right_exchange(void)
{
    struct hm_msg head;
    static unsigned char body[HM_MSG_MAX];
    struct hm_hello hello = {.version = HM_JOB_VERSION, .pid = getpid()};
    for (int pe = 0; pe < NPES; pe++)
        settle(pe);
    for (int pe = 0; pe < NPES; pe++) {
        send_right(pe, HM_MSG_HELLO, 0, &hello, sizeof hello, 0);
        must(hm_hub_read(&hub, pe) == HM_HUB_JOINED, "a right hello is not welcome");
        must(receive(pe, &head, body, sizeof body) == HM_MSG_WELCOME && head.nfds == 2, "no welcome");
        struct hm_welcome right = {pe, NPES, machine_of[pe], 2, local_of[pe], machine_of[pe] ? 3 : 2};
        must(head.len == sizeof right && !memcmp(body, &right, sizeof right), "a wrong welcome");
    }
    for (int round = 0; round < 2; round++) {
        int len = 1 + (int)random_below(HM_GATHER_MAX), nfds = (int)random_below(5);
        for (int pe = 0; pe < NPES; pe++) {
            unsigned char part[HM_GATHER_MAX];
            memset(part, pe + 16 * round, sizeof part);
            send_right(pe, HM_MSG_GATHER, round, part, (size_t)len, nfds);
            must(hm_hub_read(&hub, pe) == HM_HUB_PACKET, "a right gather is refused");
        }
        while (hm_hub_send(&hub)) {
        }
        for (int pe = 0; pe < NPES; pe++) {
            must(receive(pe, &head, body, sizeof body) == HM_MSG_GATHERED, "no answer to a gather");
            must(head.arg == 0 && head.len == (uint32_t)(NPES * len) && head.nfds == (uint32_t)(NPES * nfds),
                 "the answer to a gather has a wrong size");
            for (int i = 0; i < NPES * len; i++)
                must(body[i] == i / len + 16 * round, "wrong bytes in a gather");
        }
    }
    for (int pe = 0; pe < NPES; pe++) {
        send_right(pe, HM_MSG_FINALIZED, 0, "", 0, 0);
        must(hm_hub_read(&hub, pe) == HM_HUB_FINALIZED, "a right end is refused");
    }
}

int main(int argc, char **argv)
{
    long rounds = argc > 2 ? atol(argv[2]) : 2000;
    state = argc > 1 ? strtoull(argv[1], NULL, 0) | 1 : 0x9e3779b97f4a7c15u;
    null_fd = open("/dev/null", O_RDWR);
    int job_fd = memfd_create("job", 0), before = open_descriptors();
    size_t bytes = hm_job_pairs_at(NPES);
    if (job_fd < 0 || ftruncate(job_fd, (off_t)bytes) != 0) return 1;
    struct hm_machine machines[2] = {{.job_fd = job_fd}, {.job_fd = job_fd}};
    for (int i = 0; i < 2; i++) {
        machines[i].job = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, job_fd, 0);
        must(machines[i].job != MAP_FAILED, "job memory");
    }
    must(hm_hub_open(&hub, NPES, machines, 2, machine_of) == 0, "set-up");
    for (int pe = 0; pe < NPES; pe++)
        must(hm_hub_wire(&hub, pe, &wire[pe]) == 0, "a wire");
    right_exchange();
    int at_rest = open_descriptors();
    for (long i = 0; i < rounds; i++) {
        for (int k = 0; k < 300; k++)
            step();
        right_exchange();
        must(open_descriptors() <= at_rest + NPES,
             "descriptors are lost"); /* one segment of each PE may be kept */
    }
    for (int pe = 0; pe < NPES; pe++)
        close(wire[pe]);
    hm_hub_close(&hub);
    for (int i = 0; i < 2; i++)
        munmap(machines[i].job, bytes);
    must(open_descriptors() == before, "descriptors are left");
    printf("%ld packets\n", rounds * 300);
    return 0;
}
