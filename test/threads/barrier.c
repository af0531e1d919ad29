/* with: test/threads/common/fixture.c src/core/wait.c src/core/crowd.c src/core/share.c src/core/even.c src/core/watch.c src/core/sync.c src/base/futex.c src/base/log.c src/base/option.c src/base/os.c src/core/place.c */
/* cflags: -Wno-tsan -Wno-unknown-warning-option */
/* timeout: 240 */
/* Threads meet, by the counter and by dissemination: nobody leaves before all have come, what was written before is seen
 * behind (plain data: ThreadSanitizer objects if the meeting orders too little), and the small buffers of a meeting
 * hold what each member put there, however far ahead the fastest is. */
#include "core/wait.h"
#include "common/fixture.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

enum { MEETINGS = 600, MOST = 5 };

static int members, slot;
static int plain[2][MOST]; /* written before a meeting, read behind it */

static void dawdle(int me, int k)
{
    for (int i = (me * 7 + k) % 5; i > 3; i--) sched_yield();
}

static void meet(int me)
{
    struct hm_sync s;
    hm_sync_open(&s, slot, 0, 1, members, me, NULL);
    CHECK(s.epoch == 0, "member %d: a new slot begins at meeting %u", me, s.epoch);
    for (int k = 1; k <= MEETINGS; k++) {
        struct hm_purpose purpose = {.kind = HM_COLL_REDUCE, .size = (uint64_t)k};
        int sent[2] = {me, k};
        plain[k & 1][me] = k * MOST + me;
        memcpy(hm_sync_mine(&s, sizeof sent), sent, sizeof sent);
        dawdle(me, k);
        if (k % 3)
            hm_sync_enter(&s, &purpose, "meet");
        else
            hm_sync_again(&s, "again");
        for (int i = 0; i < members; i++) {
            int got[2];
            memcpy(got, hm_sync_theirs(&s, i), sizeof got);
            CHECK(got[0] == i && got[1] == k, "member %d, meeting %d: from %d: %d, %d", me, k, i, got[0], got[1]);
            CHECK(plain[k & 1][i] == k * MOST + i, "member %d, meeting %d: member %d had written %d", me, k, i,
                  plain[k & 1][i]);
        }
    }
    CHECK(s.epoch == MEETINGS, "member %d: expected %d meetings, counted %u", me, MEETINGS, s.epoch);
}

/* Teams made and left again and again in the same slots, as split and destroy do. */
static void churn(int n)
{
    for (int k = 0; k < 10; k++) {
        slot = hm_sync_slot_take();
        CHECK(slot >= 0, "no slot: %d", slot);
        hm_sync_slot_clear(slot, n);
        fixture_run(n, meet, 60);
        hm_sync_slot_give(slot);
    }
}

static void all_slots(void)
{
    int taken = 0, last = 0;
    while ((last = hm_sync_slot_take()) >= 0) CHECK(last == taken++, "expected slot %d, got %d", taken - 1, last);
    CHECK(last == -ENOSPC && taken == HM_TEAM_SLOTS, "%d slots, then %d", taken, last);
    for (int i = 0; i < HM_TEAM_SLOTS; i++) hm_sync_slot_give(i);
    CHECK((last = hm_sync_slot_take()) == 0, "all given back, got %d", last);
}

int main(void)
{
    for (int m = 0; m < mode_count; m++) {
        printf("%s\n", modes[m].name);
        fflush(stdout);
        for (members = 1; members <= MOST; members++) {
            fixture_start(MOST, &modes[m]);
            slot = hm_sync_slot_take();
            hm_sync_slot_clear(slot, members);
            fixture_run(members, meet, 60);
            CHECK(fixture_sleepers() == 0, "%u sleepers are left", fixture_sleepers());
            CHECK(fixture_asleep() == 0, "%d are counted as asleep", fixture_asleep());
        }
    }
    fixture_start(MOST, &modes[3]);
    all_slots();
    fixture_start(MOST, &modes[0]);
    members = 2;
    churn(2);
    return fixture_end();
}
