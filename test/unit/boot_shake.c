/* The handshake between machines: who knows the key gets in, and nothing else does or disturbs. */
/* with: src/boot/shake.c src/boot/gate.c src/base/log.c src/base/os.c src/base/option.c */
/* libs: -ldl */
#define _GNU_SOURCE
#include "base/option.h"
#include "base/os.h"
#include "boot/gate.h"
#include "boot/module.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MS 1000000ull
#define CHECK(c) ((c) ? (void)0 : (printf("%s:%d: %s\n", __FILE__, __LINE__, #c), failures++))
static int failures;

/* Where the build has put it. */
const void *hm_module_load(const char *name, const char *symbol, char *why, size_t size)
{
    char path[4096];
    const char *build = getenv("BUILD");
    snprintf(path, sizeof path, "%s/lib/hbmesh/%s", build ? build : ".", name);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    snprintf(why, size, "%s", path);
    return handle ? dlsym(handle, symbol) : NULL;
}

/* --- a server in a thread --- */

static struct hm_gate gate;
static struct hm_shake_key key = {7, "tapioca"}, other_key = {7, "tapiocb"};
static struct hm_address door;
static int admitted, last_pe, stop;

static enum hm_shake_verdict admit(int fd, const struct hm_shake_hello *hello)
{
    last_pe = hello->pe;
    __atomic_fetch_add(&admitted, 1, __ATOMIC_ACQ_REL);
    if (hello->pe == 99) return HM_SHAKE_THERE_ALREADY;
    static int last = -1; /* its verdict is still to come */
    if (last >= 0) close(last);
    last = fd;
    return HM_SHAKE_WELCOME;
}

static void *serve(void *ignored)
{
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE))
        hm_gate_serve(&gate, 10);
    return ignored;
}

static int count(void)
{
    return __atomic_load_n(&admitted, __ATOMIC_ACQUIRE);
}

/* --- clients --- */

/* 0: welcome, -EAGAIN: not after so long, or the error. */
static int reach_at(const struct hm_address *at, const struct hm_shake_key *with, int pe, int ms,
                    uint32_t *verdict, int *error)
{
    struct hm_shake_hello hello;
    struct hm_reach *r = malloc(sizeof *r);
    hm_shake_hello(&hello, HM_SHAKE_ROOT, 5, pe, 100, 0);
    hm_reach_init(r, with, &hello);
    hm_reach_add(r, at);
    int rc = -EAGAIN;
    for (uint64_t end = hm_os_now() + (uint64_t)ms * MS; rc == -EAGAIN && hm_os_now() < end;)
        rc = hm_reach_step(r, 20);
    if (rc >= 0) close(rc);
    if (verdict) *verdict = r->verdict;
    if (error) *error = r->error;
    hm_reach_stop(r);
    free(r);
    return rc < 0 ? rc : 0;
}

static int reach(const struct hm_shake_key *with, int pe, int ms, uint32_t *verdict, int *error)
{
    return reach_at(&door, with, pe, ms, verdict, error);
}

static int connect_raw(uint16_t port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (void *)&to, sizeof to) != 0) perror("connect");
    struct timeval patience = {.tv_sec = 5};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return fd;
}

static bool read_whole(int fd, void *to, size_t size)
{
    return recv(fd, to, size, MSG_WAITALL) == (ssize_t)size;
}

/* Has the other side closed it, without a verdict? */
static bool is_closed(int fd)
{
    char c;
    return recv(fd, &c, 1, 0) <= 0;
}

/* --- what is tried --- */

static void right_and_wrong(void)
{
    uint32_t verdict = 0;
    int error = 0, before = count();
    CHECK(reach(&key, 3, 3000, NULL, NULL) == 0 && count() == before + 1 && last_pe == 3);
    CHECK(reach(&key, 99, 3000, &verdict, NULL) == -EPERM && verdict == HM_SHAKE_THERE_ALREADY);
    before = count();
    CHECK(reach(&other_key, 4, 500, NULL, &error) == -EAGAIN && error == EACCES && count() == before);
    struct hm_shake_key none = {0, ""};
    CHECK(reach(&none, 4, 300, NULL, &error) == -EAGAIN && error == EACCES && count() == before);
}

/* A client that does not care whether the server knows the key, and does not know it itself. */
static void careless_client(void)
{
    struct hm_shake_hello hello;
    struct hm_shake_answer answer;
    unsigned char proof[32];
    int fd = connect_raw(door.port), before = count();
    hm_shake_hello(&hello, HM_SHAKE_ROOT, 5, 6, 100, 0);
    CHECK(send(fd, &hello, sizeof hello, 0) == sizeof hello && read_whole(fd, &answer, sizeof answer));
    memcpy(proof, answer.proof, sizeof proof); /* the server's own, sent back */
    CHECK(send(fd, proof, sizeof proof, 0) == sizeof proof && is_closed(fd) && count() == before);
    close(fd);
}

/* Between a client and the server, one that keeps what it sees. */
struct recording {
    struct hm_shake_hello hello;
    struct hm_shake_answer answer;
    unsigned char proof[32];
};
static int listener;
static struct recording seen;
static void *listen_in(void *ignored)
{
    uint32_t verdict = 0;
    int client = accept(listener, NULL, NULL), server = connect_raw(door.port);
    CHECK(read_whole(client, &seen.hello, sizeof seen.hello));
    CHECK(send(server, &seen.hello, sizeof seen.hello, 0) > 0 &&
          read_whole(server, &seen.answer, sizeof seen.answer));
    CHECK(send(client, &seen.answer, sizeof seen.answer, 0) > 0 &&
          read_whole(client, seen.proof, sizeof seen.proof));
    CHECK(send(server, seen.proof, sizeof seen.proof, 0) > 0 && read_whole(server, &verdict, sizeof verdict));
    CHECK(send(client, &verdict, sizeof verdict, 0) > 0 && verdict == HM_SHAKE_WELCOME);
    close(client);
    close(server);
    return ignored;
}

static void play_again(const struct recording *r, const char *what)
{
    struct hm_shake_answer answer;
    int fd = connect_raw(door.port), before = count();
    CHECK(send(fd, &r->hello, sizeof r->hello, 0) > 0 && read_whole(fd, &answer, sizeof answer));
    CHECK(memcmp(answer.nonce, r->answer.nonce, sizeof answer.nonce) != 0);
    CHECK(send(fd, r->proof, sizeof r->proof, 0) > 0 && is_closed(fd));
    if (count() != before) printf("%s got in\n", what), failures++;
    close(fd);
}

/* A server that plays what another has said. */
static void *false_server(void *ignored)
{
    struct hm_shake_hello hello;
    unsigned char proof[32];
    int client = accept(listener, NULL, NULL);
    CHECK(read_whole(client, &hello, sizeof hello) &&
          memcmp(hello.nonce, seen.hello.nonce, sizeof hello.nonce) != 0);
    CHECK(send(client, &seen.answer, sizeof seen.answer, 0) > 0);
    CHECK(!read_whole(client, proof, sizeof proof)); /* it is told nothing */
    close(client);
    return ignored;
}

static void recorded(void)
{
    struct hm_address via = door;
    struct recording other;
    pthread_t thread;
    listener = hm_listen_tcp(0);
    CHECK(listener >= 0);
    fcntl(listener, F_SETFL, fcntl(listener, F_GETFL) & ~O_NONBLOCK); /* whoever accepts may be there first */
    via.port = hm_port_of(listener);
    pthread_create(&thread, NULL, listen_in, NULL);
    CHECK(reach_at(&via, &key, 7, 4000, NULL, NULL) == 0);
    pthread_join(thread, NULL);
    play_again(&seen, "a recorded handshake");
    other = seen;
    other.hello.pe = 8;
    play_again(&other, "another PE by a recorded proof");
    pthread_create(&thread, NULL, false_server, NULL);
    int error = 0;
    CHECK(reach_at(&via, &key, 9, 500, NULL, &error) == -EAGAIN && error == EACCES);
    pthread_join(thread, NULL);
    close(listener);
}

static void strangers(void)
{
    int silent[200], before = count();
    for (int i = 0; i < 40; i++) { /* a scanner: connects and goes, or says what it likes */
        int fd = connect_raw(door.port);
        if (i & 1) CHECK(send(fd, "GET / HTTP/1.0\r\n\r\n", 18, MSG_NOSIGNAL) > 0 && is_closed(fd));
        close(fd);
    }
    CHECK(reach(&key, 10, 1000, NULL, NULL) == 0);
    for (int i = 0; i < 200; i++)
        silent[i] = connect_raw(door.port);
    uint64_t since = hm_os_now();
    CHECK(reach(&key, 11, 15000, NULL, NULL) == 0); /* behind those, 64 in 2 s */
    printf("behind 200 silent ones: %d ms, %d admitted\n", (int)((hm_os_now() - since) / MS),
           count() - before);
    CHECK(hm_os_now() - since < 12000 * MS && count() == before + 2);
    for (int i = 0; i < 200; i++)
        close(silent[i]);
}

/* One that says the right thing, letter by letter. */
static void slow_client(void)
{
    struct hm_shake_hello hello;
    int fd = connect_raw(door.port), sent = 0;
    hm_shake_hello(&hello, HM_SHAKE_ROOT, 5, 12, 100, 0);
    for (size_t i = 0; i < sizeof hello; i++, sent++) {
        if (send(fd, (char *)&hello + i, 1, MSG_NOSIGNAL) != 1) break;
        if (i == 20) CHECK(reach(&key, 13, 5000, NULL, NULL) == 0); /* another meanwhile */
        usleep(50000);
    }
    CHECK(sent < (int)sizeof hello && is_closed(fd));
    close(fd);
}

int main(void)
{
    pthread_t thread;
    if (hm_options_read(false)) return 1;
    if (hm_crypto_open()) {
        printf("skipped: built without libcrypto (Debian: libssl-dev)\n");
        return 77;
    }
    hm_gate_init(&gate, &key, admit);
    gate.door[0] = hm_listen_tcp(0);
    struct sockaddr_in loop = {.sin_family = AF_INET};
    loop.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    hm_address_from(&door, (void *)&loop, hm_port_of(gate.door[0]));
    pthread_create(&thread, NULL, serve, NULL);
    right_and_wrong();
    careless_client();
    recorded();
    strangers();
    slow_client();
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    hm_gate_close(&gate);
    return failures != 0;
}
