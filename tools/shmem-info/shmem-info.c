/* shmem-info: version, options with value, origin and help, and what this machine can do. */
#define _GNU_SOURCE
#include "machine.h"
#include "base/option.h"
#include "base/version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

static const char usage[] =
    "usage: shmem-info [--options | --machine] [--json] | --version | --help\n"
    "\n"
    "Shows what hbmesh is, how it is set up here, and what this machine lets it do.\n"
    "\n"
    "  --options   only the options: name, value, where the value comes from, what it is for\n"
    "  --machine   only the machine: each facility the library uses, and what it does without\n"
    "  --json      the same as one JSON object\n"
    "  --version   one line: hbmesh and the OpenSHMEM version it implements\n"
    "  --help      this text\n"
    "\n"
    "Options are read from the environment, as a program would read them: run it as\n"
    "    SHMEM_SYMMETRIC_SIZE=4G shmem-info\n"
    "to see what a setting means. Exit status: 0, or 1 when a value is malformed.\n";

static void show_head(void)
{
    struct utsname u = {0};
    uname(&u);
    printf("hbmesh %s, OpenSHMEM 1.6\n%s %s, %s\n\n", HM_VERSION, u.sysname, u.release, u.machine);
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

static void show_machine(void)
{
    struct hm_finding f;
    puts("This machine");
    for (unsigned i = 0; hm_machine_look(i, &f); i++) {
        printf("  %-25s %s\n", f.name, f.state);
        if (!f.good && f.instead) printf("  %-25s -> %s\n", "", f.instead);
    }
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

static void show_json(bool options, bool machine)
{
    printf("{\n  ");
    print_member("hbmesh", HM_VERSION, ",\n  ");
    print_member("openshmem", "1.6", options || machine ? ",\n" : "\n");
    if (options) json_options();
    if (options && machine) puts(",");
    if (machine) json_machine();
    puts("\n}");
}

static void show_text(bool options, bool machine)
{
    show_head();
    if (options) show_options();
    if (options && machine) puts("");
    if (machine) show_machine();
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
    if (json)
        show_json(options, machine);
    else
        show_text(options, machine);
    return rc || fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
