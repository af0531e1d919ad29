#define _GNU_SOURCE
#include "boot/lifeline.h"

#include "base/futex.h"
#include "base/log.h"
#include "base/os.h"
#include "base/process.h"
#include "boot/boot.h"
#include "boot/mark.h"
#include "boot/packet.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS 1000000ull
#define GRACE (500 * MS)      /* for a PE that leaves through its exit handlers */
#define LATE (1000 * MS)      /* more, for the one that has called global_exit */
#define RUMOUR (1000 * MS)    /* what another PE of a machine gets to tell how one there has died */
#define ON_ITS_WAY (200 * MS) /* what a word gets that comes another way, where no such PE is seen */
#define STRAGGLERS (500 * MS) /* what PE 0 waits beyond GRACE, until it kills */

/* One end of a lifeline. */
struct line {
    int fd, pidfd; /* -1: gone */
    pid_t pid;
    const struct hm_far_line *far;    /* NULL: to a PE of this machine */
    char part[sizeof(struct hm_msg)]; /* of a message: TCP knows no packets */
    size_t have;
    bool ended; /* without a word, with `error` if it broke */
    int error;
};

static struct {
    int pe, npes;
    int *world;              /* the PEs' numbers in messages */
    struct hm_far_line *far; /* what is at the other end of the last lines */
    char host[64];           /* this one; empty: the job has no other */
    int near;                /* lines to PEs of this machine: to each at the middle, else one to it */
    int count;               /* and then those to other machines */
    struct line *line;
    int wake; /* eventfd: look at the words below */
    struct hm_job *job;
    pthread_t thread;
    bool running;
    uint32_t stopping; /* by stop */
    uint32_t ending;   /* the job ends with `status`, this process at `deadline` */
    int status;
    uint64_t deadline;
    const struct hm_far_line *dead; /* its link has closed, and nobody has told why; NULL: none */
    uint64_t dead_since, dead_wait;
    pthread_mutex_t lock; /* descriptors of lines, `ending` and what belongs to it */
} life = {.wake = -1, .lock = PTHREAD_MUTEX_INITIALIZER};

/* --- ending --- */

/* For the whole machine, and only if nobody else has said why. */
static HM_PRINTF(1, 2) void say(const char *fmt, ...)
{
    char text[512];
    va_list args;
    if (hm_die_claim && !hm_die_claim()) return;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    hm_log_line(NULL, "%s", text);
}

static void tell_others(enum hm_msg_type type, int arg)
{
    const struct hm_msg head = {.type = type, .arg = arg};
    for (int i = 0; i < life.count; i++)
        if (life.line[i].fd >= 0) send(life.line[i].fd, &head, sizeof head, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void ring(struct hm_bell *bell)
{
    __atomic_fetch_add(&bell->seq, 1, __ATOMIC_SEQ_CST);
    hm_futex_wake(&bell->seq, INT_MAX);
}

/* Those who sleep in waits leave by exit as soon as they look. */
static void wake_sleepers(void)
{
    for (int pe = 0; pe < life.npes; pe++) {
        ring(&hm_job_page(life.job, pe)->bell);
        ring(&hm_job_page(life.job, pe)->meet_bell);
    }
}

static void end_locked(int status, uint64_t grace)
{
    if (life.ending) return;
    life.status = status;
    life.deadline = hm_os_now() + grace;
    life.ending = 1;
    if (!__atomic_exchange_n(&life.job->exit_claim, 1, __ATOMIC_ACQ_REL)) {
        life.job->exit_status = status;
        __atomic_store_n(&life.job->stopping, 1, __ATOMIC_RELEASE);
    }
    tell_others(HM_MSG_EXIT_ALL, status);
    wake_sleepers();
}

/* Also from the handler of a fault, be it one of the thread that holds the lock. */
void hm_lifelines_end(int status)
{
    if (!life.running) return;
    for (int i = 0; pthread_mutex_trylock(&life.lock) != 0; i++) {
        if (i == 300) return;
        usleep(1000);
    }
    end_locked(status, GRACE + LATE);
    pthread_mutex_unlock(&life.lock);
    eventfd_write(life.wake, 1);
}

static bool somebody_is_left(void)
{
    for (int i = 0; i < life.near; i++)
        if (life.line[i].fd >= 0) return true;
    return false;
}

/* The end of this process, when its time has come. PE 0 sees to it that no stopped or deaf PE is left. */
static void end_if_due(void)
{
    uint64_t now = hm_os_now();
    if (life.pe == 0 && somebody_is_left() && now < life.deadline + STRAGGLERS) return;
    if (now < life.deadline) return;
    for (int i = 0; i < life.near && life.pe == 0; i++)
        if (life.line[i].fd >= 0) hm_process_kill(life.line[i].pidfd);
    hm_boot_exit_at_once(life.status);
}

/* Somebody has called global_exit: that may be seen in the job memory before it is heard. */
static bool is_stopping(void)
{
    return __atomic_load_n(&life.job->stopping, __ATOMIC_ACQUIRE);
}

/* A PE that is alone on its machine has nobody who could tell the others how it has ended. */
static void tell_own_end(void)
{
    const struct hm_pe_page *page = hm_job_page(life.job, 0);
    uint32_t state = __atomic_load_n(&page->state, __ATOMIC_ACQUIRE);
    if (life.npes > 1 || (state != HM_PE_LEAVING && state != HM_PE_SAID)) return;
    pthread_mutex_lock(&life.lock);
    if (!life.ending && !life.stopping && state == HM_PE_LEAVING)
        say("PE %d on host %s exits with status %d; the job is ended", life.world[0], life.host,
            page->status);
    end_locked(page->status, GRACE + LATE);
    pthread_mutex_unlock(&life.lock);
}

/* PE 0 leaves last, so that the watch can still kill whom it must. */
static void leave_last(void)
{
    if (life.running && life.count > life.near) tell_own_end();
    while (life.running && life.pe == 0 && is_stopping() && somebody_is_left())
        usleep(2000);
}

/* --- PEs that die --- */

static bool how_it_ended(const struct line *l, int *wait_status)
{
    for (int i = 0; i < 100 && l->pid > 0; i++) {
        if (hm_process_status(l->pid, l->pidfd, wait_status)) return true;
        if (kill(l->pid, 0) != 0)
            break; /* somebody has taken the status, and the kernel keeps no other copy */
        usleep(1000);
    }
    return false;
}

static void say_death(int pe, const struct line *l, const char *how)
{
    char waited[96] = "";
    for (int i = 0; i < HM_BLOCKED_SLOTS && !*waited; i++) {
        struct hm_blocked b;
        if (!hm_blocked_read(&hm_job_page(life.job, pe)->blocked[i], &b) || b.kind > HM_BLOCKED_START) continue;
        snprintf(waited, sizeof waited, "; it had been waiting in %.*s", (int)strnlen(b.call, sizeof b.call),
                 b.call);
    }
    char process[32] = ""; /* one in another namespace has no number here */
    if (l->pid > 0) snprintf(process, sizeof process, " (process %d)", (int)l->pid);
    say("PE %d%s%s%s %s%s; the job is ended", life.world[pe], *life.host ? " on host " : "", life.host,
        process, how, waited);
}

static int status_of_job(int wait_status)
{
    if (WIFSIGNALED(wait_status)) return 128 + WTERMSIG(wait_status);
    return WEXITSTATUS(wait_status) ? WEXITSTATUS(wait_status) : 1;
}

/* A lifeline has closed without a word. */
static void on_death(int i)
{
    struct line *l = &life.line[i];
    int pe = life.pe == 0 ? i : 0, wait_status = 1 << 8;
    const struct hm_pe_page *page = hm_job_page(life.job, pe);
    uint32_t state = __atomic_load_n(&page->state, __ATOMIC_ACQUIRE);
    char how[128] = "has died";
    bool known;
    if (life.ending || life.stopping || state == HM_PE_FINALIZED) return;
    if (is_stopping()) {
        end_locked(life.job->exit_status, GRACE);
        return;
    }
    if (state == HM_PE_SAID || state == HM_PE_LEAVING) wait_status = (page->status & 0xff) << 8;
    known = how_it_ended(l, &wait_status) || state == HM_PE_LEAVING;
    if (known) hm_process_describe(how, sizeof how, wait_status);
    if (!known && l->pid > 0 && kill(l->pid, 0) == 0) {
        snprintf(how, sizeof how, "runs on, but has let go of the job without shmem_finalize (by exec?)");
        hm_process_kill(l->pidfd);
    }
    if (state != HM_PE_SAID) say_death(pe, l, how);
    end_locked(status_of_job(wait_status), GRACE);
}

static bool has_other_line(const struct hm_far_line *far)
{
    for (int i = life.near; i < life.count; i++)
        if (life.line[i].fd >= 0 && life.line[i].far != far && life.line[i].far->machine == far->machine)
            return true;
    return false;
}

static void far_death(const struct hm_far_line *far)
{
    say("PE %d on host %s has died: its link to %s has closed; the job is ended", far->pe, far->host,
        life.host);
    end_locked(128 + SIGKILL, GRACE);
}

/* The middle asks itself first; where it is stopped, another speaks for it. */
static void tell_rumour(void)
{
    if (!life.dead || life.ending || life.stopping) return;
    if (hm_os_now() - life.dead_since > life.dead_wait) far_death(life.dead);
}

/* A link to another machine has closed without a word: with an error when its host does not answer, else because the PE
 * that held it has gone. */
static void on_far_end(const struct hm_far_line *far, int error)
{
    if (life.ending || life.stopping) return;
    if (is_stopping()) {
        end_locked(life.job->exit_status, GRACE);
    } else if (error && error != ECONNRESET && error != EPIPE) {
        say("host %s (%s) no longer answers: %s; the job is ended", far->host, far->pes, strerror(error));
        end_locked(1, GRACE);
    } else {
        uint64_t wait = life.pe ? 3 * RUMOUR : has_other_line(far) ? RUMOUR : ON_ITS_WAY;
        if (life.dead && wait >= life.dead_wait) return;
        if (!life.dead) life.dead = far;
        life.dead_since = hm_os_now();
        life.dead_wait = wait;
    }
}

/* --- the watch --- */

static void drop_line(struct line *l)
{
    if (l->fd >= 0) close(l->fd);
    if (l->pidfd >= 0) close(l->pidfd);
    l->fd = l->pidfd = -1;
}

/* 1: a whole message is in `head`, 0: not yet, -1: the line has closed, with *error if it broke. */
static int hear(struct line *l, struct hm_msg *head, int *error)
{
    ssize_t n = recv(l->fd, l->part + l->have, sizeof l->part - l->have, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    *error = n < 0 ? errno : 0;
    if (n <= 0) return -1;
    l->have += (size_t)n;
    if (l->have < sizeof l->part) return 0;
    l->have = 0;
    memcpy(head, l->part, sizeof *head);
    return 1;
}

/* Returns whether the line has ended without a word. */
static bool on_news(struct line *l, int *error)
{
    struct hm_msg head = {0};
    int rc = hear(l, &head, error);
    if (rc > 0 && head.type == HM_MSG_EXIT_ALL) {
        if (l->far && !life.ending && hm_die_claim) hm_die_claim(); /* it is said there */
        end_locked(head.arg, GRACE);
    } else if (rc > 0 && head.type == HM_MSG_FINALIZED) {
        drop_line(l);
    } else {
        return rc != 0;
    }
    return false;
}

/* First the words that came on any line: the launcher may end PEs here because of a death elsewhere that one tells of. */
static void hear_all(const struct pollfd *fds)
{
    for (int i = 0; i < life.count; i++)
        life.line[i].ended = fds[i].revents && life.line[i].fd >= 0 && on_news(&life.line[i], &life.line[i].error);
    for (int i = 0; i < life.count; i++) {
        struct line *l = &life.line[i];
        if (!l->ended) continue;
        if (l->far)
            on_far_end(l->far, l->error);
        else
            on_death(i);
        drop_line(l);
    }
}

/* fds: the lines, the wake, the mark */
static void look(const struct pollfd *fds)
{
    eventfd_t ignored;
    if (fds[life.count].revents) eventfd_read(life.wake, &ignored);
    if (fds[life.count + 1].revents) hm_mark_answer();
    pthread_mutex_lock(&life.lock);
    hear_all(fds);
    tell_rumour();
    if (life.ending) end_if_due();
    pthread_mutex_unlock(&life.lock);
}

static void *watch(void *room)
{
    struct pollfd *fds = room;
    while (!__atomic_load_n(&life.stopping, __ATOMIC_ACQUIRE)) {
        for (int i = 0; i < life.count; i++)
            fds[i] = (struct pollfd){.fd = life.line[i].fd, .events = POLLIN};
        fds[life.count] = (struct pollfd){.fd = life.wake, .events = POLLIN};
        fds[life.count + 1] = (struct pollfd){.fd = hm_mark_fd(), .events = POLLIN};
        if (poll(fds, (nfds_t)life.count + 2, life.ending ? 10 : life.dead ? 50 : -1) >= 0) look(fds);
    }
    free(room);
    return NULL;
}

/* The thread takes no signal of the program's, and its stack is small. */
static int start_thread(void)
{
    sigset_t all, before;
    pthread_attr_t attr;
    struct pollfd *room = calloc((size_t)life.count + 2, sizeof *room);
    if (!room) return -ENOMEM;
    sigfillset(&all);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 256 * 1024);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int e = pthread_create(&life.thread, &attr, watch, room);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    if (e) free(room);
    if (!e) pthread_setname_np(life.thread, "hbmesh-links");
    return -e;
}

/* --- start and stop --- */

static void clear(bool close_lines)
{
    for (int i = 0; life.line && i < life.count; i++) {
        if (!close_lines) life.line[i].fd = -1;
        drop_line(&life.line[i]);
    }
    free(life.line);
    free(life.world);
    free(life.far);
    life.line = NULL;
    life.world = NULL;
    life.far = NULL;
    if (life.wake >= 0) close(life.wake);
    life.wake = -1;
    if (life.job) munmap(life.job, hm_job_pairs_at(life.npes));
    life.job = NULL;
    life.running = false;
}

static int copy_names(const struct hm_lifelines_plan *plan)
{
    life.world = calloc((size_t)life.npes, sizeof *life.world);
    life.far = calloc((size_t)plan->far_count + 1, sizeof *life.far);
    if (!life.world || !life.far) return -ENOMEM;
    memcpy(life.world, plan->world, (size_t)life.npes * sizeof *life.world);
    if (plan->far_count) memcpy(life.far, plan->far, (size_t)plan->far_count * sizeof *life.far);
    life.host[0] = 0;
    if (plan->several) gethostname(life.host, sizeof life.host - 1);
    return 0;
}

static void take_lines(const struct hm_lifelines_plan *plan)
{
    for (int i = 0; i < life.near; i++)
        if (life.pe || i)
            life.line[i] = (struct line){
                .fd = plan->fds[i], .pidfd = hm_process_open(plan->pids[i]), .pid = plan->pids[i]};
    for (int i = 0; i < plan->far_count; i++)
        life.line[life.near + i] = (struct line){.fd = plan->far[i].fd, .pidfd = -1, .far = &life.far[i]};
}

static int set_up(const struct hm_lifelines_plan *plan)
{
    life.line = calloc((size_t)life.count, sizeof *life.line);
    if (!life.line) return -ENOMEM;
    for (int i = 0; i < life.count; i++)
        life.line[i] = (struct line){.fd = -1, .pidfd = -1};
    int rc = copy_names(plan);
    if (rc) return rc;
    void *at = mmap(NULL, hm_job_pairs_at(life.npes), PROT_READ | PROT_WRITE, MAP_SHARED, plan->job_fd, 0);
    if (at == MAP_FAILED) return -errno;
    life.job = at;
    life.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (life.wake < 0) return -errno;
    take_lines(plan);
    return start_thread();
}

int hm_lifelines_start(const struct hm_lifelines_plan *plan)
{
    life.pe = plan->pe;
    life.npes = plan->npes;
    life.near = plan->pe == 0 ? plan->npes : 1;
    life.count = life.near + plan->far_count;
    life.stopping = life.ending = 0;
    life.dead = NULL;
    static bool at_exit;
    if (!at_exit && atexit(leave_last) == 0) at_exit = true;
    int rc = set_up(plan);
    life.running = !rc;
    if (!rc) return 0;
    clear(false);
    hm_log_line(NULL, "cannot watch the other PEs: %s", strerror(-rc));
    return rc;
}

void hm_lifelines_stop(void)
{
    if (!life.running) return;
    pthread_mutex_lock(&life.lock);
    __atomic_store_n(&life.stopping, 1, __ATOMIC_RELEASE); /* first: whoever hears of it may close the line */
    tell_others(HM_MSG_FINALIZED, 0);
    pthread_mutex_unlock(&life.lock);
    eventfd_write(life.wake, 1);
    pthread_join(life.thread, NULL);
    clear(true);
}

void hm_lifelines_forget(void)
{
    if (!life.running) return;
    pthread_mutex_init(&life.lock, NULL); /* whoever held it is not in this process */
    clear(true);
}
