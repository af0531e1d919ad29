#define _GNU_SOURCE
#include "hosts.h"

#include "boot/job.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Where a host is named, for messages. */
struct source {
    struct hm_hosts *hosts;
    const char *option, *text; /* --hosts LIST, --hostfile FILE */
    int line;                  /* of the file; 0: of the list */
    FILE *err;
};

static int complain(const struct source *s, const char *fmt, ...) HM_PRINTF(2, 3);
static int complain(const struct source *s, const char *fmt, ...)
{
    va_list args;
    fprintf(s->err, "oshrun: %s %s", s->option, s->text);
    if (s->line) fprintf(s->err, ", line %d", s->line);
    fputs(": ", s->err);
    va_start(args, fmt);
    vfprintf(s->err, fmt, args);
    va_end(args);
    fputs("\n", s->err);
    return -EINVAL;
}

/* Launchers read commas, colons and brackets in it their own ways. */
static bool is_name(const char *text, size_t n)
{
    if (n == 0 || *text == '-') return false;
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)text[i]) && !strchr(".-_@", text[i])) return false;
    return true;
}

static int read_slots(const struct source *s, const char *text, size_t n, int *slots)
{
    long value = 0;
    for (size_t i = 0; i < n && value <= HM_JOB_MAX_PES; i++)
        value = isdigit((unsigned char)text[i]) ? 10 * value + text[i] - '0' : HM_JOB_MAX_PES + 1;
    if (value < 1 || value > HM_JOB_MAX_PES)
        return complain(s, "the number of PEs on a host is a whole number from 1 to %d, and not \"%.*s\"",
                        HM_JOB_MAX_PES, (int)n, text);
    *slots = (int)value;
    return 0;
}

/* A host named again gets the slots of all mentions. */
static int add_host(const struct source *s, const char *name, size_t n, int slots)
{
    struct hm_hosts *h = s->hosts;
    for (int i = 0; i < h->n; i++) {
        struct hm_host *host = &h->host[i];
        if (strlen(host->name) != n || memcmp(host->name, name, n)) continue;
        host->slots = (host->slots ? host->slots : 1) + (slots ? slots : 1);
        return host->slots <= HM_JOB_MAX_PES ? 0 : complain(s, "%s has too many PEs", host->name);
    }
    struct hm_host *all = realloc(h->host, sizeof *all * (size_t)(h->n + 1));
    if (!all) return complain(s, "out of memory");
    h->host = all;
    all[h->n] = (struct hm_host){strndup(name, n), slots};
    return all[h->n].name ? (h->n++, 0) : complain(s, "out of memory");
}

/* "host" or "host:4", and the slots that the words behind it have named. */
static int read_host(const struct source *s, const char *text, size_t n, int slots)
{
    const char *colon = memchr(text, ':', n);
    size_t name = colon ? (size_t)(colon - text) : n;
    if (!is_name(text, name))
        return complain(s, "\"%.*s\" is no host: a name or an address, as in node1 or node1:4", (int)n, text);
    if (colon && read_slots(s, colon + 1, n - name - 1, &slots)) return -EINVAL;
    return add_host(s, text, name, slots);
}

static int read_list(struct source *s)
{
    int rc = 0;
    for (const char *at = s->text; !rc; at++) {
        size_t n = strcspn(at, ",");
        rc = read_host(s, at, n, 0);
        at += n;
        if (!*at) break;
    }
    return rc;
}

static const char blanks[] = " \t\r\n";

/* What stands behind a host; limits that launchers know beside the slots are of no use here. */
static int read_words(const struct source *s, const char *at, int *slots)
{
    for (size_t n; *(at += strspn(at, blanks)); at += n) {
        n = strcspn(at, blanks);
        if (!strncmp(at, "slots=", 6)) {
            if (read_slots(s, at + 6, n - 6, slots)) return -EINVAL;
        } else if (strncmp(at, "max_slots=", 10) && strncmp(at, "max-slots=", 10)) {
            return complain(s, "\"%.*s\": a line is a host, host:4 or host slots=4", (int)n, at);
        }
    }
    return 0;
}

static int read_line(const struct source *s, char *line)
{
    int slots = 0;
    line[strcspn(line, "#")] = 0;
    line += strspn(line, blanks);
    if (!*line) return 0;
    size_t n = strcspn(line, blanks);
    if (read_words(s, line + n, &slots)) return -EINVAL;
    return read_host(s, line, n, slots);
}

static int read_file(struct source *s)
{
    int rc = 0;
    char *line = NULL;
    size_t room = 0;
    FILE *f = fopen(s->text, "re");
    if (!f) return complain(s, "cannot be read: %s", strerror(errno));
    while (!rc && getline(&line, &room, f) >= 0) {
        s->line++;
        rc = read_line(s, line);
    }
    if (!rc) s->line = 0;
    if (!rc && ferror(f)) rc = complain(s, "cannot be read: %s", strerror(errno));
    if (!rc && !s->hosts->n) rc = complain(s, "names no host");
    free(line);
    fclose(f);
    return rc;
}

int hm_hosts_read(struct hm_hosts *hosts, const struct hm_run *run, FILE *err)
{
    struct source s = {.hosts = hosts, .err = err};
    *hosts = (struct hm_hosts){0};
    s.option = run->hosts ? "--hosts" : "--hostfile";
    s.text = run->hosts ? run->hosts : run->hostfile;
    int rc = run->hosts ? read_list(&s) : read_file(&s);
    if (rc) hm_hosts_free(hosts);
    return rc;
}

void hm_hosts_free(struct hm_hosts *hosts)
{
    for (int i = 0; i < hosts->n; i++)
        free(hosts->host[i].name);
    free(hosts->host);
    *hosts = (struct hm_hosts){0};
}

/* --- dividing --- */

static void drop_from(struct hm_hosts *hosts, int n)
{
    while (hosts->n > n)
        free(hosts->host[--hosts->n].name);
}

/* In blocks, as equal as possible. */
static void share(struct hm_hosts *hosts, int npes)
{
    if (hosts->n > npes) drop_from(hosts, npes);
    for (int i = 0; i < hosts->n; i++)
        hosts->host[i].slots = npes / hosts->n + (i < npes % hosts->n);
}

int hm_hosts_divide(struct hm_hosts *hosts, int npes, FILE *err)
{
    int said = 0, left = npes;
    long sum = 0;
    for (int i = 0; i < hosts->n; i++) {
        said += hosts->host[i].slots > 0;
        if (!hosts->host[i].slots) hosts->host[i].slots = 1;
        sum += hosts->host[i].slots;
    }
    if (npes && !said) {
        share(hosts, npes);
        return npes;
    }
    if (sum < npes || sum > HM_JOB_MAX_PES) {
        if (sum < npes)
            fprintf(err, "oshrun: -n %d: the hosts have room for %ld PEs\n", npes, sum);
        else
            fprintf(err, "oshrun: the hosts have %ld PEs together, at most %d are possible\n", sum,
                    HM_JOB_MAX_PES);
        return -EINVAL;
    }
    if (!npes) return (int)sum;
    for (int i = 0; i < hosts->n; i++) {
        struct hm_host *host = &hosts->host[i];
        if (host->slots > left) host->slots = left;
        left -= host->slots;
        if (left) continue;
        drop_from(hosts, i + 1);
    }
    return npes;
}
