/* shmem-info: version, options with value, origin and help, and what this machine can do. */
#define _GNU_SOURCE
#include "machine.h"
#include "paths.h"
#include "base/choice.h"
#include "base/option.h"
#include "base/version.h"
#include "boot/boot.h"

#include <shmem/inline_table.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

extern char **environ;

static const char usage[] =
    "usage: shmem-info [--options | --machine] [--json] | --paths | --version | --help\n"
    "\n"
    "Shows what hbmesh is, how it is set up here, and what this machine lets it do.\n"
    "\n"
    "  --options   only the options: name, value, where the value comes from, what it is for; and the\n"
    "              table by which collectives choose their way\n"
    "  --machine   only the machine: each facility the library uses, and what it does without\n"
    "  --json      the same as one JSON object\n"
    "  --paths     in a job (oshrun -n 8 shmem-info --paths): which way its PEs take to each other, and why\n"
    "  --version   one line: hbmesh and the OpenSHMEM version it implements\n"
    "  --help      this text\n"
    "\n"
    "Options are read from the environment, as a program would read them: run it as\n"
    "    SHMEM_SYMMETRIC_SIZE=4G shmem-info\n"
    "to see what a setting means. Exit status: 0, or 1 when a value is malformed or contradicts another.\n";

static void show_head(void)
{
    struct utsname u = {0};
    uname(&u);
    printf("hbmesh %s, OpenSHMEM 1.6\n%s %s, %s\n", HM_VERSION, u.sysname, u.release, u.machine);
    printf("oshcc -hm-inline: table version %u, of PEs below %u\n\n", SHMEMX_INLINE_VERSION, SHMEMX_INLINE_PES);
}

static void print_json(const char *s)
{
    putchar('"');
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c < 0x20)
            printf("\\u%04x", c);
        else
            putchar(c);
    }
    putchar('"');
}

static void print_member(const char *key, const char *value, const char *behind)
{
    printf("\"%s\": ", key);
    print_json(value);
    fputs(behind, stdout);
}

/* How a program that is started as this one was learns who it is, and why so. */
static bool show_boot(bool json)
{
    struct hm_boot_choice choice;
    int pe = -1, pid = 0;
    hm_boot_choose(environ, &choice);
    const char *name = choice.boot ? choice.boot->name : "none";
    bool descends = hm_boot_descends(environ, &pe, &pid);
    if (descends) snprintf(choice.why, sizeof choice.why, "a PE has started it: SHMEM_BOOT=single makes it a job of one PE");
    if (descends) name = "none";
    if (json) {
        printf("\"boot\": {");
        print_member("name", name, ", ");
        print_member("why", choice.why, "}");
    } else {
        printf("Bootstrap of a program started here\n  %-25s %s\n\n", name, choice.why);
    }
    return choice.boot != NULL;
}

static void show_options(void)
{
    struct hm_option_view v;
    puts("Options (environment variables)");
    for (unsigned i = 0; hm_option_view(i, &v); i++) {
        bool set = strcmp(v.origin, "default") != 0;
        printf("  SHMEM_%-15s %-8s", v.name, v.value);
        if (!set)
            printf(" default");
        else if (!strncmp(v.origin, "SHMEM_", 6))
            printf(" from the environment (default %s)", v.dflt);
        else
            printf(" from %s, its old name (default %s)", v.origin, v.dflt);
        printf("\n      %s, %s\n", v.kind, v.help);
    }
}

/* "16K"; "-": the way is never taken */
static const char *size_text(size_t bytes, char *text, size_t room)
{
    if (bytes == SIZE_MAX)
        snprintf(text, room, "-");
    else if (bytes && bytes % 1024 == 0)
        snprintf(text, room, "%zuK", bytes / 1024);
    else
        snprintf(text, room, "%zu", bytes);
    return text;
}

static void show_choices(void)
{
    struct hm_choice_view v;
    char text[2][32];
    puts("Collectives within a machine (SHMEM_COLL): data go with the meeting (of a broadcast: through a ring), in slots, up to the size from which the way is taken");
    printf("  %-12s %-8s %-22s %-22s %s\n", "collective", "way", "from, with own cores", "from, sharing cores", "bytes of");
    for (unsigned i = 0; hm_choice_view(i, &v); i++)
        printf("  %-12s %-8s %-22s %-22s %s\n", v.collective, v.way, size_text(v.from[0], text[0], sizeof text[0]),
               size_text(v.from[1], text[1], sizeof text[1]), v.what);
}

static void show_machine(void)
{
    struct hm_finding f;
    puts("This machine");
    for (unsigned i = 0; hm_machine_look(i, &f); i++) {
        printf("  %-25s %s\n", f.name, f.state);
        if (!f.good && f.instead) printf("  %-25s -> %s\n", "", f.instead);
    }
}

static void json_options(void)
{
    struct hm_option_view v;
    printf("  \"options\": [");
    for (unsigned i = 0; hm_option_view(i, &v); i++) {
        printf(i ? ",\n    {" : "\n    {");
        printf("\"name\": \"SHMEM_%s\", ", v.name);
        print_member("kind", v.kind, ", ");
        print_member("value", v.value, ", ");
        print_member("default", v.dflt, ", ");
        print_member("origin", v.origin, ", ");
        print_member("help", v.help, "}");
    }
    printf("\n  ]");
}

static void json_from(const char *key, size_t from, const char *behind)
{
    printf("\"%s\": ", key);
    if (from == SIZE_MAX)
        printf("null%s", behind);
    else
        printf("%zu%s", from, behind);
}

static void json_choices(void)
{
    struct hm_choice_view v;
    printf("  \"collectives\": [");
    for (unsigned i = 0; hm_choice_view(i, &v); i++) {
        printf(i ? ",\n    {" : "\n    {");
        print_member("name", v.collective, ", ");
        print_member("way", v.way, ", ");
        json_from("from_with_cores", v.from[0], ", ");
        json_from("from_sharing_cores", v.from[1], ", ");
        print_member("bytes_of", v.what, "}");
    }
    printf("\n  ]");
}

static void json_machine(void)
{
    struct hm_finding f;
    printf("  \"machine\": [");
    for (unsigned i = 0; hm_machine_look(i, &f); i++) {
        printf(i ? ",\n    {" : "\n    {");
        print_member("name", f.name, ", ");
        printf("\"good\": %s, ", f.good ? "true" : "false");
        print_member("state", f.state, ", ");
        print_member("instead", !f.good && f.instead ? f.instead : "", "}");
    }
    printf("\n  ]");
}

static bool show_json(bool options, bool machine)
{
    printf("{\n  ");
    print_member("hbmesh", HM_VERSION, ",\n  ");
    print_member("openshmem", "1.6", ",\n  ");
    printf("\"inlined\": {\"table_version\": %u, \"pes\": %u},\n  ", SHMEMX_INLINE_VERSION, SHMEMX_INLINE_PES);
    bool fine = show_boot(true);
    puts(options || machine ? "," : "");
    if (options) {
        json_options();
        puts(",");
        json_choices();
    }
    if (options && machine) puts(",");
    if (machine) json_machine();
    puts("\n}");
    return fine;
}

static bool show_text(bool options, bool machine)
{
    show_head();
    bool fine = show_boot(false);
    if (options) {
        show_options();
        puts("");
        show_choices();
    }
    if (options && machine) puts("");
    if (machine) show_machine();
    return fine;
}

int main(int argc, char **argv)
{
    bool options = true, machine = true, json = false;
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i];
        if (!strcmp(a, "--options")) {
            machine = false;
        } else if (!strcmp(a, "--machine")) {
            options = false;
        } else if (!strcmp(a, "--json")) {
            json = true;
        } else if (!strcmp(a, "--paths") && argc == 2) {
            return hm_paths_join();
        } else if (!strcmp(a, "--paths")) {
            fputs("shmem-info: --paths stands alone\n", stderr);
            return 2;
        } else if (!strcmp(a, "--version")) {
            return printf("hbmesh %s, OpenSHMEM 1.6\n", HM_VERSION) < 0;
        } else if (!strcmp(a, "--help") || !strcmp(a, "-h")) {
            return fputs(usage, stdout) < 0;
        } else {
            fprintf(stderr, "shmem-info: unknown option %s; shmem-info --help lists them\n", a);
            return 2;
        }
    }
    if (!options && !machine) options = machine = true; /* both were named */
    int rc = hm_options_read(true);
    if (hm_choice_read(hm_options.coll)) rc = -EINVAL;
    bool fine = json ? show_json(options, machine) : show_text(options, machine);
    return rc || !fine || fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
