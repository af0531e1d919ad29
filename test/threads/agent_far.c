/* with: test/threads/common/fixture.c test/threads/common/plain_device.c src/core/agent.c src/core/agent_far.c src/core/agent_words.c src/core/look.c src/core/wait.c src/core/crowd.c src/core/share.c src/core/even.c src/core/watch.c src/base/futex.c src/base/log.c src/base/option.c src/base/os.c src/core/place.c */
/* cflags: -Wno-tsan -Wno-unknown-warning-option */
/* timeout: 240 */
/* Requests between machines: this process plays both of them, and a thread that hands messages from one to the other plays their
 * progress threads. Words, puts and gets of all sizes, by many threads at once, no more under way than there may be. */
#include "base/log.h"
#include "common/fixture.h"
#include "common/plain_device.h"
#include "core/agent.h"
#include "core/ask.h"
#include "core/device.h"
#include "core/far.h"
#include "core/message.h"
#include "core/place.h"
#include "core/wait.h"
#include "core/world.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 400, FAR = 1, MESSAGE = 4096, PIECE = 200000, UNDER_WAY = 600 };

/* --- the network: messages in their order, each of which is heard as from the PE that it was for --- */

struct letter {
    struct letter *next;
    size_t bytes;
    char text[];
};
static struct letter *first, **last = &first;
static size_t waiting, most;
static bool closed;
static pthread_mutex_t box = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;

size_t hm_far_message_max(void) { return MESSAGE; }

void hm_far_message(int pe, const void *message, size_t bytes)
{
    struct letter *l = malloc(sizeof *l + bytes);
    CHECK(pe == FAR && bytes <= MESSAGE, "%zu bytes to PE %d", bytes, pe);
    l->next = NULL;
    l->bytes = bytes;
    memcpy(l->text, message, bytes);
    pthread_mutex_lock(&box);
    *last = l;
    last = &l->next;
    if (++waiting > most) most = waiting;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&box);
}

static struct letter *receive(void)
{
    pthread_mutex_lock(&box);
    while (!first && !closed) pthread_cond_wait(&filled, &box);
    struct letter *l = first;
    if (l && !(first = l->next)) last = &first;
    if (l) waiting--;
    pthread_mutex_unlock(&box);
    return l;
}

static void *deliver(void *arg)
{
    struct letter *l;
    usleep(100000); /* meanwhile all is asked that may be */
    while ((l = receive()) != NULL) {
        CHECK(hm_agent_heard(FAR, l->text, l->bytes), "a message of %zu bytes is not understood", l->bytes);
        free(l);
    }
    return arg;
}

/* --- the bodies --- */

static uint64_t amo(enum hm_amo op, size_t i, uint64_t value)
{
    return hm_agent_amo(&hm_ctx_default, op, i * sizeof(uint64_t), value, 0, sizeof value, FAR, "amo");
}

static void words(int me)
{
    for (int k = 0; k < ROUNDS; k++) {
        amo(HM_AMO_ADD, 0, 1);
        amo(HM_AMO_SET, 1 + (size_t)me, (uint64_t)k);
        if (k % 200 != 199) continue;
        uint64_t seen = amo(HM_AMO_FETCH, 1 + (size_t)me, 0);
        CHECK(seen == (uint64_t)k, "thread %d set %d and fetched %ju", me, k, (uintmax_t)seen);
    }
    hm_agent_quiet(&hm_ctx_default);
    uint64_t own = __atomic_load_n((uint64_t *)plain_memory + 1 + me, __ATOMIC_ACQUIRE);
    CHECK(own == ROUNDS - 1, "thread %d: %ju is there behind a quiet", me, (uintmax_t)own);
}

static void pieces(int me)
{
    static const size_t sizes[] = {1, 8, MESSAGE, MESSAGE + 1, 50001, PIECE};
    char *mine = malloc(PIECE), *seen = malloc(PIECE);
    size_t at = (size_t)me * PIECE + 1024;
    for (size_t k = 0; k < HM_COUNT(sizes); k++) {
        for (size_t i = 0; i < sizes[k]; i++) mine[i] = (char)(i * 7 + k + (size_t)me);
        hm_agent_put(&hm_ctx_default, FAR, at, mine, sizes[k], "put");
        memset(seen, 0, PIECE);
        hm_agent_get(&hm_ctx_default, seen, FAR, at, sizes[k], "get");
        CHECK(!memcmp(mine, seen, sizes[k]), "thread %d: %zu bytes are not what was put", me, sizes[k]);
        CHECK(sizes[k] == PIECE || !seen[sizes[k]], "thread %d: more than %zu bytes came", me, sizes[k]);
    }
    free(mine);
    free(seen);
}

int main(void)
{
    pthread_t network;
    static const int32_t machine[] = {0, 1};
    for (int m = 0; m < mode_count; m++) {
        fixture_start(2, &modes[m]);
        hm_places_set(0, 2, 2, machine);
        plain_device_start();
        closed = false;
        pthread_create(&network, NULL, deliver, NULL);
        fixture_run(THREADS, words, 60);
        uint64_t sum = *(uint64_t *)plain_memory;
        CHECK(sum == THREADS * ROUNDS, "%s: %ju were added", modes[m].name, (uintmax_t)sum);
        fixture_run(THREADS, pieces, 60);
        pthread_mutex_lock(&box);
        closed = true;
        pthread_cond_signal(&filled);
        pthread_mutex_unlock(&box);
        pthread_join(network, NULL);
        plain_device_stop();
        hm_places_clear();
    }
    CHECK(most < UNDER_WAY, "%zu messages were under way", most);
    return fixture_end();
}
