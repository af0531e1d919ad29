/* What an operation costs over a network, next to the same work in bare UCX calls and in a TCP stream, in one run:
 * medians of rounds that take turns, and their ratio.
 *
 *     OSHCC=... OSHRUN=... sh bench/net/run.sh [idle | latency | signal | bandwidth]...
 *
 * The two PEs should be on two machines, or in two network namespaces with SHMEM_MAPPED=off. PE 0 works; PE 1 sleeps in a barrier. Bare UCX has a
 * target as one would write it: a worker of its own, and a thread that sleeps in the kernel until there is something
 * for it.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <shmem.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

enum { ROUNDS = 11, BIG = 32 << 20, WINDOW = 16 };

static int me, other;
static char *heap, *own; /* symmetric; private */

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void die(const char *what, const char *why)
{
    fprintf(stderr, "wire: %s: %s\n", what, why);
    shmem_global_exit(1);
}

/* --- bare UCX --- */

struct hello {
    uint64_t base;
    size_t address_bytes, key_bytes;
    char text[4000];
};
static struct hello mine, theirs; /* symmetric: static data */

static ucp_context_h context;
static ucp_worker_h target, initiator;
static ucp_ep_h ep;
static ucp_rkey_h key;
static char *bare_heap;
static int stop;

#define OK(call) ((call) == UCS_OK ? (void)0 : die(#call, "no"))

static ucp_worker_h worker(void)
{
    ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                  .thread_mode = UCS_THREAD_MODE_MULTI};
    ucp_worker_h w;
    OK(ucp_worker_create(context, &params, &w));
    return w;
}

static void *serve(void *arg)
{
    int fd;
    (void)arg;
    OK(ucp_worker_get_efd(target, &fd));
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        while (ucp_worker_progress(target)) continue;
        if (ucp_worker_arm(target) != UCS_OK) continue;
        struct pollfd p = {fd, POLLIN, 0};
        poll(&p, 1, 100);
    }
    return NULL;
}

static void bare_introduce(void)
{
    ucp_address_t *address;
    size_t n, k;
    void *packed;
    ucp_mem_h memory;
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                .address = bare_heap,
                                .length = BIG};
    OK(ucp_mem_map(context, &map, &memory));
    OK(ucp_worker_get_address(target, &address, &n));
    OK(ucp_rkey_pack(context, memory, &packed, &k));
    if (n + k > sizeof mine.text) die("address and key", "too long");
    mine.base = (uintptr_t)bare_heap;
    mine.address_bytes = n;
    mine.key_bytes = k;
    memcpy(mine.text, address, n);
    memcpy(mine.text + n, packed, k);
}

static void bare_start(pthread_t *thread)
{
    ucp_config_t *config;
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED,
                           .features = UCP_FEATURE_RMA | UCP_FEATURE_AMO64 | UCP_FEATURE_WAKEUP,
                           .mt_workers_shared = 1};
    OK(ucp_config_read(NULL, NULL, &config));
    if (!getenv("UCX_TLS")) OK(ucp_config_modify(config, "TLS", "^sm"));
    OK(ucp_init(&params, config, &context));
    ucp_config_release(config);
    target = worker();
    initiator = worker();
    bare_heap = aligned_alloc(4096, BIG);
    memset(bare_heap, 0, BIG);
    bare_introduce();
    pthread_create(thread, NULL, serve, NULL);
    shmem_barrier_all();
    shmem_getmem(&theirs, &mine, sizeof theirs, other);
    ucp_ep_params_t to = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, .address = (ucp_address_t *)theirs.text};
    OK(ucp_ep_create(initiator, &to, &ep));
    OK(ucp_ep_rkey_unpack(ep, theirs.text + theirs.address_bytes, &key));
}

static const ucp_request_param_t plain;

static void bare_wait(ucs_status_ptr_t request)
{
    if (!UCS_PTR_IS_PTR(request)) return;
    while (ucp_request_check_status(request) == UCS_INPROGRESS)
        if (!ucp_worker_progress(initiator)) sched_yield();
    ucp_request_free(request);
}

static void bare_flush(void) { bare_wait(ucp_worker_flush_nbx(initiator, &plain)); }
static void bare_put(size_t n) { bare_wait(ucp_put_nbx(ep, own, n, theirs.base, key, &plain)); }
static void bare_get(size_t n) { bare_wait(ucp_get_nbx(ep, own, n, theirs.base, key, &plain)); }

static void bare_add(ucp_atomic_op_t op, uint64_t value, uint64_t offset, uint64_t *old)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = ucp_dt_make_contig(8)};
    if (old) param.op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER, param.reply_buffer = old;
    bare_wait(ucp_atomic_op_nbx(ep, op, &value, 1, theirs.base + offset, key, &param));
}

/* --- a TCP stream --- */

static struct {
    uint32_t address;
    int port;
} door; /* symmetric */

static uint32_t own_address(void)
{
    struct ifaddrs *all, *i;
    uint32_t address = htonl(INADDR_LOOPBACK);
    if (getifaddrs(&all)) return address;
    for (i = all; i; i = i->ifa_next)
        if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET && !(i->ifa_flags & IFF_LOOPBACK)) {
            address = ((struct sockaddr_in *)(void *)i->ifa_addr)->sin_addr.s_addr;
            break;
        }
    freeifaddrs(all);
    return address;
}

static int tcp;
static char *tcp_buffer;
enum { TCP_PIECE = 128 << 10 };

/* Answers each block of the size that was announced with a byte. */
static void *drink(void *arg)
{
    int fd = accept(*(int *)arg, NULL, NULL);
    uint64_t bytes;
    while (recv(fd, &bytes, sizeof bytes, MSG_WAITALL) == sizeof bytes) {
        while (bytes) {
            ssize_t n = recv(fd, tcp_buffer, bytes < TCP_PIECE ? bytes : TCP_PIECE, 0);
            if (n <= 0) return NULL;
            bytes -= (uint64_t)n;
        }
        if (send(fd, "", 1, 0) != 1) return NULL;
    }
    close(fd);
    return NULL;
}

static void tcp_send(const void *from, size_t bytes)
{
    while (bytes) {
        ssize_t n = send(tcp, from, bytes < TCP_PIECE ? bytes : TCP_PIECE, 0); /* the same piece again, as iperf3 does */
        if (n <= 0) die("send", "no");
        bytes -= (size_t)n;
    }
}

static void tcp_stream(size_t bytes)
{
    uint64_t n = bytes;
    char c;
    tcp_send(&n, sizeof n);
    tcp_send(own, bytes);
    if (recv(tcp, &c, 1, 0) != 1) die("recv", "no");
}

static void tcp_start(pthread_t *thread)
{
    static int listening;
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t n = sizeof a;
    tcp_buffer = malloc(TCP_PIECE);
    listening = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listening, (struct sockaddr *)&a, sizeof a) || listen(listening, 1)) die("listen", "no");
    getsockname(listening, (struct sockaddr *)&a, &n);
    door.port = a.sin_port;
    door.address = own_address();
    if (me == 1) pthread_create(thread, NULL, drink, &listening);
    shmem_barrier_all();
    if (me == 1) return;
    shmem_getmem(&door, &door, sizeof door, 1);
    a.sin_port = (in_port_t)door.port;
    a.sin_addr.s_addr = door.address;
    tcp = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(tcp, (struct sockaddr *)&a, sizeof a)) die("connect", "no");
}

/* --- the figures --- */

static size_t size;

static void our_put_quiet(long n)
{
    while (n--) {
        shmem_putmem(heap, own, 8, other);
        shmem_quiet();
    }
}
static void bare_put_quiet(long n)
{
    while (n--) {
        bare_put(8);
        bare_flush();
    }
}
static void our_get(long n)
{
    while (n--) shmem_getmem(own, heap, 8, other);
}
static void bare_get_8(long n)
{
    while (n--) bare_get(8);
}
static void our_fetch_add(long n)
{
    while (n--) shmem_long_atomic_fetch_add((long *)heap, 1, other);
}
static void bare_fetch_add(long n)
{
    uint64_t old;
    while (n--) bare_add(UCP_ATOMIC_OP_ADD, 1, 0, &old);
}
static void our_window(long n)
{
    while (n--) {
        for (int i = 0; i < WINDOW; i++) shmem_putmem_nbi(heap, own, size, other);
        shmem_quiet();
    }
}
static void our_put_big(long n)
{
    while (n--) {
        shmem_putmem(heap, own, size, other);
        shmem_quiet();
    }
}
static void our_get_big(long n)
{
    while (n--) shmem_getmem(own, heap, size, other);
}
static void bare_put_big(long n)
{
    while (n--) {
        bare_put(size);
        bare_flush();
    }
}
static void bare_get_big(long n)
{
    while (n--) bare_get(size);
}
/* As iperf3 would have it: one stream without end. */
static size_t each_moves;
static void stream(long n) { tcp_stream((size_t)n * each_moves); }

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *t)
{
    qsort(t, ROUNDS, sizeof *t, ascending);
    return t[ROUNDS / 2];
}

static void take_turns(void (*a)(long), void (*b)(long), long n, double *ta, double *tb)
{
    static double t[2][ROUNDS];
    a(n / 8 + 1);
    b(n / 8 + 1);
    for (int r = 0; r < ROUNDS; r++)
        for (int k = 0; k < 2; k++) {
            double begin = now(CLOCK_MONOTONIC);
            (k ? b : a)(n);
            t[k][r] = (now(CLOCK_MONOTONIC) - begin) / (double)n;
        }
    *ta = median(t[0]);
    *tb = median(t[1]);
}

static void latency(const char *name, void (*ours)(long), void (*bare)(long))
{
    double a, b;
    if (me == 0) {
        take_turns(ours, bare, 2000, &a, &b);
        printf("%-34s %8.2f us   bare UCX %8.2f us   ratio %5.2f\n", name, a * 1e6, b * 1e6, a / b);
    }
    shmem_barrier_all();
}

static void bandwidth(const char *name, void (*ours)(long), void (*other_way)(long), const char *than, size_t bytes,
                      int each)
{
    double a, b;
    size = bytes;
    each_moves = bytes * (size_t)each;
    if (me == 0) {
        long n = (long)((64 << 20) / (bytes * (size_t)each)) + 1;
        double moved = (double)bytes * each * 1e-9;
        take_turns(ours, other_way, n, &a, &b);
        printf("%-26s %5zu KiB %6.2f GB/s   %s %6.2f GB/s   ratio %5.2f\n", name, bytes >> 10, moved / a, than, moved / b,
               b / a);
    }
    shmem_barrier_all();
}

/* Both sides wait for the other's signal. */
static uint64_t *signal_word;

static void our_ping_pong(long n)
{
    static uint64_t count;
    while (n--) {
        count++;
        if (me == 0) shmem_putmem_signal(heap, own, 8, signal_word, count, SHMEM_SIGNAL_SET, other);
        shmem_signal_wait_until(signal_word, SHMEM_CMP_EQ, count);
        if (me == 1) shmem_putmem_signal(heap, own, 8, signal_word, count, SHMEM_SIGNAL_SET, other);
    }
    shmem_quiet();
}

static void bare_signal(void)
{
    bare_put(8);
    ucp_worker_fence(initiator);
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = ucp_dt_make_contig(8)};
    uint64_t step = 1;
    bare_wait(ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_ADD, &step, 1, theirs.base + 64, key, &param));
}

static void bare_ping_pong(long n)
{
    static uint64_t count;
    volatile uint64_t *word = (uint64_t *)(bare_heap + 64);
    while (n--) {
        count++;
        if (me == 0) bare_signal();
        while (*word != count)
            if (!ucp_worker_progress(initiator)) sched_yield();
        if (me == 1) bare_signal();
    }
    bare_flush();
}

static void ping_pong(void)
{
    double a, b;
    take_turns(our_ping_pong, bare_ping_pong, 1000, &a, &b);
    if (me == 0)
        printf("%-34s %8.2f us   bare UCX %8.2f us   ratio %5.2f\n", "put-with-signal, there and back", a * 1e6, b * 1e6,
               a / b);
    shmem_barrier_all();
}

/* The library's threads while nothing happens: this before there is any of bare UCX. */
static void idle(void)
{
    shmem_putmem(heap, own, 8, other);
    shmem_barrier_all();
    sleep(1);
    double begin = now(CLOCK_PROCESS_CPUTIME_ID);
    sleep(4);
    double used = now(CLOCK_PROCESS_CPUTIME_ID) - begin;
    if (me == 0) printf("%-34s %8.4f %% of a core\n", "idle, connected", used / 4 * 100);
    shmem_barrier_all();
}

static void latencies(void)
{
    latency("put + quiet, 8 bytes", our_put_quiet, bare_put_quiet);
    latency("get, 8 bytes", our_get, bare_get_8);
    latency("fetch_add, 8 bytes", our_fetch_add, bare_fetch_add);
}

static void bandwidths(void)
{
    for (size_t n = 256 << 10; n <= 1 << 20; n *= 2)
        bandwidth("16 nbi puts + quiet", our_window, stream, "TCP stream", n, WINDOW);
    for (size_t n = 1 << 20; n <= 16 << 20; n *= 4) {
        bandwidth("put + quiet", our_put_big, stream, "TCP stream", n, 1);
        bandwidth("get", our_get_big, stream, "TCP stream", n, 1);
    }
    bandwidth("put + quiet", our_put_big, bare_put_big, "bare UCX  ", 1 << 20, 1);
    bandwidth("get", our_get_big, bare_get_big, "bare UCX  ", 1 << 20, 1);
}

static bool wanted(const char *part, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], part)) return true;
    return argc < 2;
}

int main(int argc, char **argv)
{
    pthread_t serving, drinking;
    shmem_init();
    if (shmem_n_pes() != 2) die("PEs", "there must be two");
    setvbuf(stdout, NULL, _IOLBF, 0);
    me = shmem_my_pe();
    other = 1 - me;
    heap = shmem_calloc(1, BIG);
    signal_word = shmem_calloc(8, 8);
    own = calloc(1, BIG);
    memset(own, 1, BIG);
    memset(heap, 0, BIG);
    if (wanted("idle", argc, argv)) idle();
    bare_start(&serving);
    tcp_start(&drinking);
    if (wanted("latency", argc, argv)) latencies();
    if (wanted("signal", argc, argv)) ping_pong();
    if (wanted("bandwidth", argc, argv)) bandwidths();
    shmem_barrier_all();
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(serving, NULL);
    shmem_finalize();
    return 0;
}
