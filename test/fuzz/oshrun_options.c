/* Command lines of oshrun, put together at random from pieces and then damaged: none may crash the parser,
 * leak, or be accepted with values that the rest of oshrun does not expect. Arguments: seed, rounds. */
/* with: tools/oshrun/options.c tools/oshrun/machines.c src/base/option.c src/base/log.c */
/* libs: -lm */
/* timeout: 120 */
#define _GNU_SOURCE
#include "../../tools/oshrun/options.h"
#include "boot/job.h"

#include <stdlib.h>
#include <string.h>

#define MOST_WORDS 24

static uint64_t state;

static uint32_t random_below(uint32_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 16) % n);
}

static const char *const pieces[] = {
    "-n",
    "-np",
    "--np",
    "-x",
    "-l",
    "--label",
    "--heap",
    "--timeout",
    "--grace",
    "--bind",
    "--wdir",
    "--output",
    "--stdin",
    "--check",
    "-v",
    "-q",
    "--help",
    "--version",
    "--",
    ":",
    "-",
    "",
    "=",
    "-n=",
    "-n4",
    "-n=4",
    "--np=2",
    "--bind=core",
    "--bind=thread:overload",
    "core:overload",
    "none",
    "--stdin=all",
    "1",
    "2",
    "4096",
    "4097",
    "99999999999999999999",
    "-1",
    "0x10",
    "1.5",
    "1e300",
    "nan",
    "inf",
    "512m",
    ".5g",
    "A=B",
    "PATH",
    "=A",
    "program",
    "argument",
    "all",
    "--lable",
    "-nx",
    "--heap=",
    "--timeout=0",
    "--timeout=0.5",
    "--hosts",
    "--hosts=a:4,b:4",
    "--hostfile=file",
    "--launcher=mpirun",
    "--launcher-arg",
    "--machines",
    "--machines=2",
    "--machines=3+1",
    "--machines=cyclic:2",
    "cyclic:3",
    "1+2+1",
    "99999999999999999999+1",
};

static char *damage(const char *piece)
{
    size_t n = strlen(piece), room = n + 600;
    char *word = malloc(room);
    strcpy(word, piece);
    for (uint32_t k = random_below(4); k; k--) {
        n = strlen(word);
        switch (random_below(4)) {
        case 0:
            if (n) word[random_below((uint32_t)n)] = (char)(1 + random_below(255));
            break;
        case 1:
            if (n) memmove(word, word + 1, n);
            break;
        case 2:
            if (n + 2 < room) {
                word[n] = (char)(1 + random_below(255));
                word[n + 1] = 0;
            }
            break;
        default:
            if (n && 2 * n < room) memcpy(word + n, word, n), word[2 * n] = 0;
            break;
        }
    }
    return word;
}

static void must(int ok, const char *what, char **words, int n)
{
    if (ok) return;
    fprintf(stderr, "FAIL: %s; the words:\n", what);
    for (int i = 0; i < n; i++)
        fprintf(stderr, "  <%s>\n", words[i]);
    exit(1);
}

/* Each machine has a PE, and they are numbered by the lowest PE on each. */
static void check_layout(const struct hm_layout *layout, int npes, char **words, int n)
{
    int seen = 0;
    char list[64];
    must(layout->machines >= 1 && layout->machines <= npes, "number of machines", words, n);
    must(layout->machine_of || layout->machines == 1, "machines without PEs", words, n);
    for (int pe = 0; layout->machine_of && pe < npes; pe++) {
        must(layout->machine_of[pe] >= 0 && layout->machine_of[pe] <= seen, "number of a machine", words, n);
        if (layout->machine_of[pe] == seen) seen++;
    }
    if (!layout->machine_of) return;
    must(seen == layout->machines, "a machine without a PE", words, n);
    hm_layout_list(layout, npes, (int)random_below((uint32_t)seen), list, sizeof list);
    must(*list && strlen(list) < sizeof list, "a list of PEs", words, n);
}

static void check_run(const struct hm_run *run, char **words, int n)
{
    int sum = 0;
    for (int i = 0; i < run->nprograms; i++) {
        const struct hm_program *p = &run->programs[i];
        sum += p->npes;
        must(p->npes >= 1 && p->npes <= HM_JOB_MAX_PES, "number of PEs", words, n);
        must(p->argv && p->argv[0] && *p->argv[0], "a program without a name", words, n);
        for (int k = 0; k < p->nset; k++)
            must(strchr(p->set[k], '=') > p->set[k], "a variable without a name", words, n);
    }
    check_layout(&run->layout, run->npes, words, n);
    must(sum == run->npes && sum <= HM_JOB_MAX_PES && run->nprograms > 0, "sum of the PEs", words, n);
    must(run->stdin_pe >= HM_STDIN_ALL && (run->hosts || run->hostfile || run->stdin_pe < run->npes), "reader of the input", words, n);
    must(run->timeout >= 0 && run->timeout <= 1e9 && run->grace >= 0 && run->grace <= 1e9 && run->interrupt_grace >= 0, "times", words, n);
    must(run->bind >= HM_BIND_NONE && run->bind <= HM_BIND_THREAD, "binding", words, n);
}

static void one(FILE *sink)
{
    char *words[MOST_WORDS + 2] = {strdup("oshrun")};
    int n = 1 + (int)random_below(MOST_WORDS);
    for (int i = 1; i < n; i++) {
        const char *piece = pieces[random_below(HM_COUNT(pieces))];
        words[i] = random_below(4) ? strdup(piece) : damage(piece);
    }
    struct hm_run run;
    long before = ftell(sink);
    int rc = hm_run_parse(&run, n, words, sink);
    if (rc)
        must(ftell(sink) > before && run.programs == NULL, "refused without a sentence", words, n);
    else if (!run.help && !run.version)
        check_run(&run, words, n);
    if (!rc) hm_run_free(&run);
    rewind(sink);
    for (int i = 0; i < n; i++)
        free(words[i]);
}

int main(int argc, char **argv)
{
    long rounds = argc > 2 ? atol(argv[2]) : 100000;
    state = argc > 1 ? strtoull(argv[1], NULL, 0) | 1 : 0x9e3779b97f4a7c15u;
    FILE *sink = tmpfile();
    if (!sink) return 1;
    for (long i = 0; i < rounds; i++)
        one(sink);
    fclose(sink);
    printf("%ld command lines\n", rounds);
    return 0;
}
