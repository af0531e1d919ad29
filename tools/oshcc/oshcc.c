/* oshcc, oshc++, oshcxx, oshCC: the compiler, told where hbmesh is.
 *
 * A program rather than a script: arguments pass through untouched, whatever they hold, and it adds no
 * shell's start to each compilation. Everything is found from where this file lies (PREFIX/bin), so PREFIX
 * can be moved. */
#define _GNU_SOURCE
#include "base/version.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Set by the build: the compilers it used, the library's folder relative to the prefix, and flags
 * (sanitizers) without which a program cannot use this build of the library. */
#ifndef HM_CC
#define HM_CC "cc"
#define HM_CXX "c++"
#endif
#ifndef HM_LIBDIR
#define HM_LIBDIR "lib"
#endif
#ifndef HM_FLAGS
#define HM_FLAGS ""
#endif

struct list {
    const char **at;
    size_t n, room;
};

static struct list line, compile_flags, link_flags;
static bool cxx;
static const char *me = "oshcc";
static char prefix[PATH_MAX], libdir[PATH_MAX];

/* What the user's arguments ask for. */
static struct {
    bool links, inputs, shared, archive,
        language,     /* archive: take libhbmesh.a; language: an -x is in force */
        inlined;      /* single-element calls need no call */
    const char *show; /* NULL, or what stands behind -showme: ("" for all) */
} ask = {.links = true};

static void die(const char *what, const char *arg)
{
    fprintf(stderr, "%s: %s%s%s\n", me, what, arg ? ": " : "", arg ? arg : "");
    exit(1);
}

static void *need(void *p)
{
    if (!p) die("out of memory", NULL);
    return p;
}

static void add(struct list *l, const char *s)
{
    if (l->n + 2 > l->room) {
        l->room = l->room ? 2 * l->room : 32;
        l->at = need(realloc(l->at, l->room * sizeof *l->at));
    }
    l->at[l->n++] = s;
    l->at[l->n] = NULL;
}

static void add_all(struct list *l, const struct list *from)
{
    for (size_t i = 0; i < from->n; i++)
        add(l, from->at[i]);
}

/* "ccache gcc -m64" is three arguments. */
static void add_words(struct list *l, const char *text)
{
    char *copy = need(strdup(text)), *rest = copy;
    for (char *word; (word = strsep(&rest, " \t"));)
        if (*word) add(l, word);
}

static char *join(const char *a, const char *b)
{
    char *s;
    if (asprintf(&s, "%s%s", a, b) < 0) die("out of memory", NULL);
    return s;
}

static bool is(const char *a, const char *b)
{
    return !strcmp(a, b);
}
static bool starts(const char *s, const char *with)
{
    return !strncmp(s, with, strlen(with));
}
static bool ends(const char *s, const char *with)
{
    size_t n = strlen(s), m = strlen(with);
    return n >= m && is(s + n - m, with);
}

/* --- where we are --- */

static bool in_libdir(const char *name)
{
    char *path = join(libdir, name);
    bool there = !access(path, R_OK);
    free(path);
    return there;
}

/* Some systems keep their libraries in lib/x86_64-linux-gnu or lib64: the build knows. A package may have
 * moved them. */
static bool try_libdir(const char *relative)
{
    if (snprintf(libdir, sizeof libdir, "%s/%s", prefix, relative) >= (int)sizeof libdir) return false;
    return in_libdir("/libhbmesh.so") || in_libdir("/libhbmesh.a");
}

static void find_prefix(void)
{
    ssize_t n = readlink("/proc/self/exe", prefix, sizeof prefix - 1);
    if (n < 0)
        die("cannot read /proc/self/exe, so I do not know where hbmesh is; is /proc mounted?",
            strerror(errno));
    prefix[n] = 0;
    for (int up = 0; up < 2; up++) { /* PREFIX/bin/oshcc */
        char *slash = strrchr(prefix, '/');
        if (slash) *slash = 0;
    }
    if (try_libdir(HM_LIBDIR) || try_libdir("lib") || try_libdir("lib64")) return;
    die("there is no libhbmesh.so or libhbmesh.a beside me; build or install hbmesh whole. I looked in",
        libdir);
}

static void find_name(const char *argv0)
{
    const char *slash = argv0 ? strrchr(argv0, '/') : NULL;
    me = slash ? slash + 1 : argv0 ? argv0 : "oshcc";
    cxx = ends(me, "++") || ends(me, "xx") || ends(me, "CC");
}

/* --- what is asked --- */

/* Options whose value is the next argument: it is no input file, whatever it looks like. */
static bool takes_value(const char *a)
{
    static const char *const names[] = {
        "-o",
        "-I",
        "-L",
        "-D",
        "-U",
        "-l",
        "-x",
        "-T",
        "-u",
        "-z",
        "-B",
        "-A",
        "-e",
        "-G",
        "-include",
        "-imacros",
        "-isystem",
        "-iquote",
        "-idirafter",
        "-iprefix",
        "-iwithprefix",
        "-iwithprefixbefore",
        "-isysroot",
        "-imultilib",
        "-MF",
        "-MT",
        "-MQ",
        "-Xlinker",
        "-Xassembler",
        "-Xpreprocessor",
        "-Xclang",
        "-Xanalyzer",
        "-mllvm",
        "-target",
        "-arch",
        "-aux-info",
        "-dumpbase",
        "-dumpbase-ext",
        "-dumpdir",
        "-wrapper",
        "-rpath",
        "-working-directory",
        "--param",
        "--sysroot",
        "--output",
        "--include-directory",
        "--define-macro",
        "--library-directory",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (is(a, names[i])) return true;
    return false;
}

static bool stops_before_linking(const char *a)
{
    static const char *const names[] = {
        "-c", "-S",        "-E",         "-M",           "-MM",          "-fsyntax-only",
        "-r", "--compile", "--assemble", "--preprocess", "--precompile", "-emit-ast"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (is(a, names[i])) return true;
    return false;
}

/* Is it ours? Then it does not reach the compiler. */
static bool take_own(const char *a)
{
    if (is(a, "-show") || is(a, "--show") || is(a, "-showme") || is(a, "--showme"))
        ask.show = "";
    else if (starts(a, "-showme:"))
        ask.show = a + strlen("-showme:");
    else if (starts(a, "--showme:"))
        ask.show = a + strlen("--showme:");
    else if (is(a, "-hm-static"))
        ask.archive = true;
    else if (is(a, "-hm-inline"))
        ask.inlined = true;
    else
        return false;
    return true;
}

static void read_arguments(int argc, char **argv, struct list *users)
{
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i];
        if (take_own(a)) continue;
        add(users, a);
        if (stops_before_linking(a))
            ask.links = false;
        else if (is(a, "-shared") || is(a, "--shared"))
            ask.shared = true;
        else if (is(a, "-static") || is(a, "--static") || is(a, "-static-pie"))
            ask.archive = true;
        else if (is(a, "-") || a[0] != '-')
            ask.inputs = true; /* also @file, which surely names some */
        else if (starts(a, "-l"))
            ask.inputs = true;
        if (starts(a, "-x"))
            ask.language = !(is(a, "-xnone") || (is(a, "-x") && i + 1 < argc && is(argv[i + 1], "none")));
        if (takes_value(a) && i + 1 < argc) add(users, argv[++i]);
    }
}

/* --- what we say to the compiler --- */

static void make_compile_flags(void)
{
    add_words(&compile_flags, HM_FLAGS);
    if (ask.inlined) add(&compile_flags, "-DSHMEMX_INLINE"); /* see shmem/inline.h */
    char *include = join(prefix, "/include");
    if (is(include, "/usr/include"))
        return; /* named again, it would move in front of the compiler's own headers */
    add(&compile_flags, join("-I", include));
}

static bool is_system(const char *dir)
{
    return is(dir, "/usr/lib") || is(dir, "/lib") || is(dir, "/usr/lib64") || is(dir, "/" HM_LIBDIR) ||
           is(dir, "/usr/" HM_LIBDIR);
}

static void add_rpath(struct list *l)
{
    if (is_system(libdir)) return;
    if (!strchr(libdir, ',')) { /* -Wl, splits at commas */
        add(l, join("-Wl,--enable-new-dtags,-rpath,", libdir));
        return;
    }
    add(l, "-Xlinker");
    add(l, "-rpath");
    add(l, "-Xlinker");
    add(l, libdir);
}

static void make_link_flags(void)
{
    if (!in_libdir("/libhbmesh.so")) ask.archive = true;
    if (ask.archive && !in_libdir("/libhbmesh.a"))
        die("a static link needs libhbmesh.a, which is not installed in", libdir);
    add_words(&link_flags, HM_FLAGS);
    if (ask.language) { /* or our object would be read as source text */
        add(&link_flags, "-x");
        add(&link_flags, "none");
    }
    /* By name, and into programs only: the linker refuses what it holds in a shared object. */
    if (!ask.shared && in_libdir("/hbmesh-start.o")) add(&link_flags, join(libdir, "/hbmesh-start.o"));
    if (ask.archive) {
        add(&link_flags, join(libdir, "/libhbmesh.a"));
        add(&link_flags, "-lpthread");
        add(&link_flags, "-ldl");
        return;
    }
    add(&link_flags, join("-L", libdir));
    add_rpath(&link_flags);
    add(&link_flags, "-lhbmesh");
}

static bool in_path(const char *program)
{
    if (strchr(program, '/')) return !access(program, X_OK);
    const char *path = getenv("PATH");
    char *copy = need(strdup(path ? path : "/usr/local/bin:/usr/bin:/bin")), *rest = copy;
    bool there = false;
    for (char *dir; !there && (dir = strsep(&rest, ":"));) {
        char *full = join(*dir ? dir : ".", join("/", program));
        there = !access(full, X_OK);
        free(full);
    }
    free(copy);
    return there;
}

static void add_compiler(void)
{
    static const char *const vars[2][2] = {{"OSHCC_CC", "SHMEM_CC"}, {"OSHCC_CXX", "SHMEM_CXX"}};
    static const char *const usual[2][4] = {{HM_CC, "cc", "gcc", "clang"}, {HM_CXX, "c++", "g++", "clang++"}};
    for (int i = 0; i < 2; i++) {
        const char *value = getenv(vars[cxx][i]);
        if (!value || !value[strspn(value, " \t")]) continue;
        add_words(&line, value);
        return;
    }
    for (int i = 0; i < 4; i++) {
        if (!in_path(usual[cxx][i])) continue;
        add(&line, usual[cxx][i]);
        return;
    }
    die(cxx ? "no C++ compiler found: install g++ or clang, or name one in OSHCC_CXX"
            : "no C compiler found: install gcc or clang, or name one in OSHCC_CC",
        NULL);
}

/* --- showing --- */

static void print_quoted(const char *s)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%^";
    if (*s && s[strspn(s, plain)] == 0) {
        fputs(s, stdout);
        return;
    }
    putchar('\'');
    for (; *s; s++) {
        if (*s == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*s);
    }
    putchar('\'');
}

static void print_list(const struct list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        if (i) putchar(' ');
        print_quoted(l->at[i]);
    }
    putchar('\n');
}

static int show(void)
{
    if (!*ask.show) {
        print_list(&line);
    } else if (is(ask.show, "compile")) {
        print_list(&compile_flags);
    } else if (is(ask.show, "link")) {
        print_list(&link_flags);
    } else if (is(ask.show, "command")) {
        line.n = 0;
        add_compiler();
        print_list(&line);
    } else if (is(ask.show, "incdirs")) {
        printf("%s/include\n", prefix);
    } else if (is(ask.show, "libdirs")) {
        puts(libdir);
    } else if (is(ask.show, "libs")) {
        puts("hbmesh");
    } else if (is(ask.show, "version")) {
        printf("%s (hbmesh) %s\n", me, HM_VERSION);
    } else {
        die("-showme: takes compile, link, command, incdirs, libdirs, libs or version, not", ask.show);
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct list users = {0};
    find_name(argv[0]);
    find_prefix();
    read_arguments(argc, argv, &users);
    make_compile_flags();
    make_link_flags();

    add_compiler();
    if (ask.inputs || ask.show) add_all(&line, &compile_flags);
    add_all(&line, &users);
    if (ask.links && (ask.inputs || ask.show)) add_all(&line, &link_flags);
    if (ask.show) return show();
    execvp(line.at[0], (char **)line.at);
    fprintf(stderr, "%s: cannot run the compiler %s: %s\n", me, line.at[0], strerror(errno));
    return 127;
}
