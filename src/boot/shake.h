/* The handshake over TCP: each side proves to the other that it knows the key of the job, without showing it.
 *
 *     client                                   server
 *     hello: who, whom, random number    ->
 *                                        <-    random number, proof "S"
 *     proof "C"                          ->
 *                                        <-    verdict
 *
 * A proof is the HMAC-SHA256, under the job's key, of a letter for the side, the whole hello and the server's number. Both
 * numbers are new each time, so that nothing recorded is of use later; the server proves first, so that a client which
 * tries ports tells strangers nothing; and a proof for one PE, size, version or purpose is none for another. What follows
 * on the connection is neither hidden nor signed.
 *
 * On a unix socket, whose ends are of one user (SO_PEERCRED, the caller's affair), the proof is the key itself, folded: no
 * library is needed on one machine.
 *
 * Nothing here blocks: the caller polls for hm_shake_events and steps, and sets the limits of time and number.
 */
#ifndef HM_SHAKE_H
#define HM_SHAKE_H

#include "base/base.h"

#define HM_KEY_BYTES 1024
struct hm_shake_key {
    size_t size;
    unsigned char bytes[HM_KEY_BYTES];
};

enum hm_shake_purpose { HM_SHAKE_ROOT = 1, HM_SHAKE_WIRE, HM_SHAKE_LIFELINE };

struct hm_shake_hello {
    char magic[8];
    uint32_t job_version, purpose;
    int32_t pe, npes, to, spare; /* to: the PE that it wants */
    uint64_t job; /* tells jobs apart that have one key */
    char library[24];
    unsigned char nonce[16];
};
struct hm_shake_answer {
    char magic[8];
    unsigned char nonce[16], proof[32];
};
enum hm_shake_verdict {
    HM_SHAKE_WELCOME = 1,
    HM_SHAKE_THERE_ALREADY,
    HM_SHAKE_NO_JOB,    /* and somebody has said why */
    HM_SHAKE_ELSEWHERE, /* this is another job, or another time: try on */
};

struct hm_shake {
    int fd; /* non-blocking; the caller's */
    bool server, local; /* local: a unix socket */
    int stage;
    uint64_t since; /* hm_os_now when it began; at the client, when the server last said something */
    const struct hm_shake_key *key;
    size_t have; /* of what is being read */
    struct hm_shake_hello hello;
    struct hm_shake_answer answer;
    unsigned char proof[32];
    uint32_t verdict;
};

void hm_shake_hello(struct hm_shake_hello *hello, enum hm_shake_purpose purpose, uint64_t job, int pe, int npes, int to);
void hm_shake_serve(struct hm_shake *s, int fd, bool local, const struct hm_shake_key *key);
/* `fd` may be connecting still. The random number of `hello` is made here. */
void hm_shake_ask(struct hm_shake *s, int fd, bool local, const struct hm_shake_key *key,
                  const struct hm_shake_hello *hello);
short hm_shake_events(const struct hm_shake *s);
/* 0: not done; 1: done: at the server the hello is proven, at the client the verdict is there; -errno: no such luck:
 * -EPROTO: not one of us, -EACCES: another key. */
int hm_shake_step(struct hm_shake *s);
/* The server's last word. */
int hm_shake_judge(struct hm_shake *s, enum hm_shake_verdict verdict);

/* Loads what the handshake over TCP needs. 0, or -ENOENT with the reason said, once. */
int hm_crypto_open(void);

#endif
