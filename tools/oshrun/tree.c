#define _GNU_SOURCE
#include "tree.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct process {
    pid_t pid, parent, group;
    char state;
    bool below; /* the root */
};

struct table {
    struct process *all;
    size_t n, room;
};

static bool read_process(const char *pid, struct process *p)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0) return false;
    text[n] = 0;
    char *name_end = strrchr(text, ')'); /* a name may hold anything */
    int parent, group;
    if (!name_end || sscanf(name_end + 1, " %c %d %d", &p->state, &parent, &group) != 3) return false;
    p->pid = atoi(pid);
    p->parent = parent;
    p->group = group;
    p->below = false;
    return true;
}

static bool table_add(struct table *t, const char *pid)
{
    if (t->n == t->room) {
        size_t room = t->room ? 2 * t->room : 256;
        struct process *all = realloc(t->all, room * sizeof *all);
        if (!all) return false;
        t->all = all;
        t->room = room;
    }
    if (read_process(pid, &t->all[t->n])) t->n++;
    return true;
}

static void table_read(struct table *t)
{
    *t = (struct table){0};
    DIR *dir = opendir("/proc");
    if (!dir) return;
    for (struct dirent *e; (e = readdir(dir));)
        if (isdigit((unsigned char)e->d_name[0]) && !table_add(t, e->d_name)) break;
    closedir(dir);
}

static int by_pid(const void *a, const void *b)
{
    pid_t x = ((const struct process *)a)->pid, y = ((const struct process *)b)->pid;
    return (x > y) - (x < y);
}

static bool is_below(const struct table *t, pid_t root, pid_t parent)
{
    if (parent == root) return true;
    struct process key = {.pid = parent};
    struct process *p = t->n ? bsearch(&key, t->all, t->n, sizeof key, by_pid) : NULL;
    return p && p->below;
}

/* Marks the descendants; pids are in no order after they wrapped, so go round until nothing changes. */
static void table_mark(struct table *t, pid_t root)
{
    if (t->n) qsort(t->all, t->n, sizeof *t->all, by_pid);
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < t->n; i++) {
            struct process *p = &t->all[i];
            if (p->below || !is_below(t, root, p->parent)) continue;
            p->below = changed = true;
        }
    }
}

int hm_tree_signal(pid_t root, int sig, pid_t group)
{
    struct table t;
    pid_t self = getpid();
    int count = 0;
    table_read(&t);
    table_mark(&t, root);
    for (size_t i = 0; i < t.n; i++) {
        const struct process *p = &t.all[i];
        if ((!p->below && p->pid != root) || p->pid == self || p->state == 'Z' || p->state == 'X') continue;
        if (group > 0 && p->group != group) continue;
        kill(p->pid, sig);
        count++;
    }
    free(t.all);
    return count;
}

/* /proc may hide a child that changed its user; the kernel's list of our children does not. */
static void kill_children(void)
{
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    for (char *save, *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save))
        if (atoi(word) > 1) kill(atoi(word), SIGKILL);
}

void hm_tree_kill(void)
{
    int rounds = access("/proc/self/stat", F_OK) == 0 ? 5000 : 100; /* blind, we find only children */
    for (int i = 0; i < rounds; i++) {
        hm_tree_signal(getpid(), SIGKILL, 0);
        kill_children();
        pid_t pid;
        while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
        }
        if (pid < 0 && errno == ECHILD) return;
        usleep(i < 10 ? 500 : 2000);
    }
}

bool hm_tree_orphaned(void)
{
    pid_t group = getpgrp(), pid = getppid();
    for (int depth = 0; pid > 1 && depth < 100; depth++) {
        if (getpgid(pid) != group) return getsid(pid) != getsid(0);
        char text[16];
        struct process p;
        snprintf(text, sizeof text, "%d", (int)pid);
        if (!read_process(text, &p)) break;
        pid = p.parent;
    }
    return true;
}
