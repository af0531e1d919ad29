/* The contract stands in shake.h. */
#define _GNU_SOURCE
#include "boot/shake.h"

#include "base/log.h"
#include "base/os.h"
#include "base/version.h"
#include "boot/job.h"
#include "boot/module.h"
#include "boot/module/crypto.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

_Static_assert(sizeof(struct hm_shake_hello) == 80 && sizeof(struct hm_shake_answer) == 56,
               "they have no holes");

static const char magic[8] = "hbmesh1";
static const struct hm_crypto *crypto; /* once it is loaded, for good */

int hm_crypto_open(void)
{
    static bool said;
    char why[512];
    if (!crypto) crypto = hm_module_load("crypto.so", HM_CRYPTO_SYMBOL, why, sizeof why);
    if (crypto) return 0;
    if (said) return -ENOENT;
    said = true;
    hm_log_line(NULL,
                "PEs on several machines meet over TCP, and this library has no module to prove who is who "
                "(%s): build it "
                "where OpenSSL's libcrypto is (Debian: libssl-dev)",
                why);
    return -ENOENT;
}

/* --- proofs --- */

static int make_proof(const struct hm_shake *s, char side, unsigned char proof[32])
{
    unsigned char text[1 + sizeof s->hello + sizeof s->answer.nonce];
    if (s->local) {
        memset(proof, 0, 32);
        for (size_t i = 0; i < s->key->size; i++)
            proof[i % 32] ^= s->key->bytes[i];
        return 0;
    }
    text[0] = (unsigned char)side;
    memcpy(text + 1, &s->hello, sizeof s->hello);
    memcpy(text + 1 + sizeof s->hello, s->answer.nonce, sizeof s->answer.nonce);
    return crypto->hmac(s->key->bytes, s->key->size, text, sizeof text, proof);
}

/* Takes as long whatever the difference. */
static bool is_same(const struct hm_shake *s, const unsigned char *a, const unsigned char *b)
{
    volatile unsigned char different = 0;
    if (!s->local) return crypto->is_same(a, b, 32);
    for (int i = 0; i < 32; i++)
        different |= a[i] ^ b[i];
    return !different;
}

static int check_proof(const struct hm_shake *s, char side, const unsigned char proof[32])
{
    unsigned char right[32];
    int rc = make_proof(s, side, right);
    if (rc) return rc;
    return is_same(s, right, proof) ? 0 : -EACCES;
}

static int make_nonce(unsigned char nonce[16])
{
    return getrandom(nonce, 16, 0) == 16 ? 0 : -EIO;
}

/* --- bytes --- */

/* All that is sent here is small, and the connection is new: it fits, or the other side is none of us. */
static int send_all(int fd, const void *bytes, size_t size)
{
    ssize_t n;
    do
        n = send(fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)size ? 0 : n < 0 ? -errno : -EPROTO;
}

/* 1: all of it is there. Takes no byte more: what follows is another's. */
static int receive_all(struct hm_shake *s, void *to, size_t size)
{
    ssize_t n = recv(s->fd, (char *)to + s->have, size - s->have, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    if (n <= 0) return n < 0 ? -errno : -EPIPE;
    s->have += (size_t)n;
    if (s->have < size) return 0;
    s->have = 0;
    return 1;
}

/* What cannot become a message of ours is turned away at its first bytes. */
static int check_magic(const struct hm_shake *s, const char *start)
{
    size_t n = s->have && s->have < sizeof magic ? s->have : sizeof magic;
    return memcmp(start, magic, n) == 0 ? 0 : -EPROTO;
}

/* --- the server --- */

void hm_shake_serve(struct hm_shake *s, int fd, bool local, const struct hm_shake_key *key)
{
    *s = (struct hm_shake){.fd = fd, .server = true, .local = local, .since = hm_os_now(), .key = key};
}

static int answer(struct hm_shake *s)
{
    memcpy(s->answer.magic, magic, sizeof magic);
    int rc = s->local ? 0 : hm_crypto_open();
    if (!rc) rc = make_nonce(s->answer.nonce);
    if (!rc) rc = make_proof(s, 'S', s->answer.proof);
    if (!rc) rc = send_all(s->fd, &s->answer, sizeof s->answer);
    return rc;
}

static int step_server(struct hm_shake *s)
{
    int rc;
    if (s->stage == 0) {
        rc = receive_all(s, &s->hello, sizeof s->hello);
        if (rc >= 0 && (rc || s->have) && check_magic(s, s->hello.magic)) return -EPROTO;
        if (rc <= 0) return rc;
        s->stage = 1;
        return answer(s);
    }
    rc = receive_all(s, s->proof, sizeof s->proof);
    if (rc <= 0) return rc;
    rc = check_proof(s, 'C', s->proof);
    return rc ? rc : 1;
}

int hm_shake_judge(struct hm_shake *s, enum hm_shake_verdict verdict)
{
    s->verdict = verdict;
    return send_all(s->fd, &s->verdict, sizeof s->verdict);
}

/* --- the client --- */

void hm_shake_hello(struct hm_shake_hello *hello, enum hm_shake_purpose purpose, uint64_t job, int pe,
                    int npes, int to)
{
    *hello = (struct hm_shake_hello){
        .job_version = HM_JOB_VERSION, .purpose = purpose, .pe = pe, .npes = npes, .to = to, .job = job};
    memcpy(hello->magic, magic, sizeof magic);
    snprintf(hello->library, sizeof hello->library, "%s", HM_VERSION);
}

void hm_shake_ask(struct hm_shake *s, int fd, bool local, const struct hm_shake_key *key,
                  const struct hm_shake_hello *hello)
{
    *s = (struct hm_shake){.fd = fd, .local = local, .since = hm_os_now(), .key = key, .hello = *hello};
}

static int begin(struct hm_shake *s)
{
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error) return error ? -error : -errno;
    int rc = make_nonce(s->hello.nonce);
    s->stage = 1;
    return rc ? rc : send_all(s->fd, &s->hello, sizeof s->hello);
}

static int prove(struct hm_shake *s)
{
    int rc = receive_all(s, &s->answer, sizeof s->answer);
    if (rc >= 0 && (rc || s->have) && check_magic(s, s->answer.magic)) return -EPROTO;
    if (rc <= 0) return rc;
    s->stage = 2;
    s->since = hm_os_now();
    rc = check_proof(s, 'S', s->answer.proof);
    if (!rc) rc = make_proof(s, 'C', s->proof);
    return rc ? rc : send_all(s->fd, s->proof, sizeof s->proof);
}

static int step_client(struct hm_shake *s)
{
    if (s->stage == 0) return begin(s);
    if (s->stage == 1) return prove(s);
    return receive_all(s, &s->verdict, sizeof s->verdict);
}

/* --- both --- */

short hm_shake_events(const struct hm_shake *s)
{
    return !s->server && s->stage == 0 ? POLLOUT : POLLIN;
}

int hm_shake_step(struct hm_shake *s)
{
    return s->server ? step_server(s) : step_client(s);
}
