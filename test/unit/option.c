/* The options: grammar of sizes, switches and counts, the old names, where a value came from. */
/* with: src/base/option.c src/base/log.c */
#define _GNU_SOURCE
#include "base/option.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int failures;

#define CHECK(cond, ...)                                                \
    do {                                                                \
        if (!(cond)) {                                                  \
            failures++;                                                 \
            printf("%s:%d: not true: %s: ", __FILE__, __LINE__, #cond); \
            printf(__VA_ARGS__);                                        \
            puts("");                                                   \
        }                                                               \
    } while (0)

static const struct {
    const char *text;
    int rc;
    unsigned long long bytes;
} sizes[] = {
    {"0", 0, 0},
    {"1", 0, 1},
    {"4096", 0, 4096},
    {"20k", 0, 20480},
    {"20K", 0, 20480},
    {"20kk", 0, 20480},
    {"20mb", 0, 20971520},
    {"20m and more", 0, 20971520},
    {"1g", 0, 1ull << 30},
    {"2T", 0, 2ull << 40},
    {"3.1M", 0, 3250586},
    {".5m", 0, 524288},
    {"1.5", 0, 2},
    {"1.0", 0, 1},
    {"1.", 0, 1},
    {"0.0001k", 0, 1},
    {"1.1t", 0, 1209462790554},
    {" 7", 0, 7},
    {"7 ", 0, 7},
    {"007", 0, 7},
    {"0.00000000000000000000000000000000001", 0, 1},
    {"0.00000000000000000000000000000000000", 0, 0},
    {"18446744073709551615", 0, ~0ull},
    {"18446744073709551616", -ERANGE, 0},
    {"17179869184g", -ERANGE, 0},
    {"99999999999999999999999999999999999999999999999999999999", -ERANGE, 0},
    {"17179869183.9999999999g", -ERANGE, 0},
    {"", -EINVAL, 0},
    {" ", -EINVAL, 0},
    {"k", -EINVAL, 0},
    {".", -EINVAL, 0},
    {".k", -EINVAL, 0},
    {"-1", -EINVAL, 0},
    {"+1", -EINVAL, 0},
    {"1x", -EINVAL, 0},
    {"0x10", -EINVAL, 0},
    {"1e3", -EINVAL, 0},
    {"1.2.3", -EINVAL, 0},
    {"1,5g", -EINVAL, 0},
    {"1 k", -EINVAL, 0},
    {"inf", -EINVAL, 0},
    {"nan", -EINVAL, 0},
    {"lots", -EINVAL, 0},
};

static void test_sizes(void)
{
    for (size_t i = 0; i < HM_COUNT(sizes); i++) {
        size_t got = 42;
        int rc = hm_parse_size(sizes[i].text, &got);
        CHECK(rc == sizes[i].rc, "\"%s\" gives %d, expected %d", sizes[i].text, rc, sizes[i].rc);
        unsigned long long want = sizes[i].rc ? 42 : sizes[i].bytes;
        CHECK(got == want, "\"%s\" is %zu, expected %llu", sizes[i].text, got, want);
    }
}

static struct hm_option_view view(const char *name)
{
    struct hm_option_view v = {0};
    for (unsigned i = 0; hm_option_view(i, &v); i++)
        if (!strcmp(v.name, name + strlen("SHMEM_"))) return v;
    printf("no option %s\n", name);
    exit(1);
}

/* Runs hm_options_read and returns what it printed on stderr. */
static char said[4096];
static int read_aloud(bool warn)
{
    int fds[2], keep = dup(2);
    if (pipe(fds)) exit(1);
    fcntl(fds[0], F_SETFL, O_NONBLOCK);
    dup2(fds[1], 2);
    int rc = hm_options_read(warn);
    dup2(keep, 2);
    close(fds[1]);
    ssize_t n = read(fds[0], said, sizeof said - 1);
    said[n > 0 ? n : 0] = 0;
    close(fds[0]);
    close(keep);
    return rc;
}

static void test_defaults(void)
{
    CHECK(!read_aloud(false), "%s", said);
    CHECK(hm_options.symmetric_size == 1ull << 30, "%zu", hm_options.symmetric_size);
    CHECK(!hm_options.debug && !hm_options.info && !hm_options.version, "flags are off");
    CHECK(hm_options.static_data, "on by default");
    CHECK(!strcmp(view("SHMEM_SYMMETRIC_SIZE").value, "1G"), "%s", view("SHMEM_SYMMETRIC_SIZE").value);
    CHECK(!strcmp(view("SHMEM_SYMMETRIC_SIZE").origin, "default"), "origin");
    CHECK(!said[0], "silent: %s", said);
}

static void test_flags(void)
{
    setenv("SHMEM_INFO", "0", 1); /* on whenever set, says the standard */
    setenv("SHMEM_VERSION", "", 1);
    CHECK(!read_aloud(false), "%s", said);
    CHECK(hm_options.info && hm_options.version && !hm_options.debug, "set is on");
    unsetenv("SHMEM_INFO");
    unsetenv("SHMEM_VERSION");
    CHECK(!read_aloud(false) && !hm_options.info, "off again after a second reading");
}

static void test_aliases(void)
{
    setenv("SMA_SYMMETRIC_SIZE", "2m", 1);
    setenv("SMA_DEBUG", "", 1);
    CHECK(!read_aloud(false), "%s", said);
    CHECK(hm_options.symmetric_size == 2 << 20 && hm_options.debug, "the old names work");
    CHECK(!strcmp(view("SHMEM_SYMMETRIC_SIZE").origin, "SMA_SYMMETRIC_SIZE"), "origin");
    setenv("SHMEM_SYMMETRIC_SIZE", "3m", 1);
    CHECK(!read_aloud(false) && hm_options.symmetric_size == 3 << 20, "the new name wins");
    CHECK(!strcmp(view("SHMEM_SYMMETRIC_SIZE").origin, "SHMEM_SYMMETRIC_SIZE"), "origin");
    CHECK(!strcmp(view("SHMEM_SYMMETRIC_SIZE").value, "3M"), "value");
    setenv("SMA_STATIC", "off", 1);
    CHECK(!read_aloud(false) && hm_options.static_data, "four names have an alias, no others");
    unsetenv("SMA_STATIC");
    unsetenv("SMA_SYMMETRIC_SIZE");
    unsetenv("SMA_DEBUG");
    unsetenv("SHMEM_SYMMETRIC_SIZE");
}

static void test_switches(void)
{
    static const char *const on[] = {"on", "ON", "1", "yes", "True"}, *const off[] = {"off", "Off", "0", "NO",
                                                                                      "false"};
    for (size_t i = 0; i < HM_COUNT(on); i++) {
        setenv("SHMEM_STATIC", off[i], 1);
        CHECK(!read_aloud(false) && !hm_options.static_data, "%s", off[i]);
        setenv("SHMEM_STATIC", on[i], 1);
        CHECK(!read_aloud(false) && hm_options.static_data, "%s", on[i]);
    }
    unsetenv("SHMEM_STATIC");
}

/* Each malformed value: a sentence with the variable, the value, and what is allowed. */
static void test_malformed(void)
{
    static const char *const bad[][3] = {
        {"SHMEM_STATIC", "maybe", "yes, no"},
        {"SHMEM_STATIC", "", "yes, no"},
        {"SHMEM_SYMMETRIC_SIZE", "big", "suffix"},
        {"SHMEM_SYMMETRIC_SIZE", "", "suffix"},
        {"SMA_SYMMETRIC_SIZE", "-5", "suffix"},
        {"SHMEM_CORES", "two", "whole number"},
        {"SHMEM_CORES", "-1", "whole number"},
        {"SHMEM_CORES", "3.5", "whole number"},
        {"SHMEM_CORES", "99999999999999999999", "too large"},
        {"SHMEM_SYMMETRIC_SIZE", "99999999t", "too large"},
    };
    for (size_t i = 0; i < HM_COUNT(bad); i++) {
        setenv(bad[i][0], bad[i][1], 1);
        CHECK(read_aloud(false) == -EINVAL, "%s=%s", bad[i][0], bad[i][1]);
        CHECK(strstr(said, bad[i][0]) && strstr(said, bad[i][1]) && strstr(said, bad[i][2]), "said: %s",
              said);
        CHECK(strchr(said, '\n') == said + strlen(said) - 1, "one line: %s", said);
        unsetenv(bad[i][0]);
    }
    CHECK(!read_aloud(false) && hm_options.cores == 0 && hm_options.symmetric_size == 1 << 30,
          "defaults are back");
}

static void test_unknown(void)
{
    static const char *const known[] = {"SHMEM_PE", "SHMEM_NPES", "SHMEM_LOCAL_PE", "SHMEM_LOCAL_NPES",
                                        "SHMEM_LAUNCH", "SHMEM_MACHINES"};
    for (size_t i = 0; i < HM_COUNT(known); i++)
        setenv(known[i], "1", 1);
    setenv("SHMEM_SYMETRIC_SIZE", "1g", 1);
    setenv("SHMEMX", "1", 1);
    CHECK(!read_aloud(false) && !said[0], "only one PE warns: %s", said);
    CHECK(!read_aloud(true), "a warning is no error");
    CHECK(strstr(said, "SHMEM_SYMETRIC_SIZE") && strstr(said, "SHMEM_SYMMETRIC_SIZE"),
          "names the nearest: %s", said);
    CHECK(strchr(said, '\n') == said + strlen(said) - 1, "one line: %s", said);
    CHECK(!read_aloud(true) && !said[0], "once: %s", said);
}

int main(void)
{
    /* whatever the caller has in the environment is not the test's */
    if (clearenv()) return 1;
    test_sizes();
    test_defaults();
    test_flags();
    test_aliases();
    test_switches();
    test_malformed();
    test_unknown();
    printf("%d failures\n", failures);
    return failures != 0;
}
