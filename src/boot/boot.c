#include "boot/boot.h"

#include "boot/packet.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HM_BOOT(name) extern const struct hm_boot hm_boot_##name;
#include "boot/boots.def"
#undef HM_BOOT

static const struct hm_boot *const boots[] = {
#define HM_BOOT(name) &hm_boot_##name,
#include "boot/boots.def"
#undef HM_BOOT
};

void (*hm_boot_idle)(void);
void (*hm_boot_leave)(void);

/* What fails is told by its status. */
void hm_boot_exit_at_once(int status)
{
    if (status == 0 && hm_boot_leave) hm_boot_leave();
    _exit(status);
}

static struct hm_boot_attr said;
static bool has_said;

void hm_boot_set_attr(const struct hm_boot_attr *attr)
{
    has_said = attr != NULL;
    if (attr) said = *attr;
}

const struct hm_boot_attr *hm_boot_get_attr(void)
{
    return has_said ? &said : NULL;
}

/* SHMEM_BOOT, NULL where it leaves the choice to us. */
static const char *asked_for(char *const envp[])
{
    const char *name = hm_boot_variable(envp, "SHMEM_BOOT");
    return name && *name && strcmp(name, "auto") != 0 ? name : NULL;
}

static const struct hm_boot *named(const char *name)
{
    for (size_t i = 0; i < HM_COUNT(boots); i++)
        if (!strcmp(boots[i]->name, name)) return boots[i];
    return NULL;
}

static void choose_named(char *const envp[], const char *name, struct hm_boot_choice *choice)
{
    const struct hm_boot *boot = named(name);
    if (!boot) {
        int n = snprintf(choice->why, sizeof choice->why,
                         "SHMEM_BOOT=%.64s: there is no such bootstrap; there are auto", name);
        for (size_t i = 0; i < HM_COUNT(boots); i++)
            n += snprintf(choice->why + n, sizeof choice->why - (size_t)n, ", %s", boots[i]->name);
        return;
    }
    if (!boot->probe(envp)) {
        snprintf(choice->why, sizeof choice->why, "SHMEM_BOOT=%s, but %s", name, boot->without);
        return;
    }
    choice->boot = boot;
    snprintf(choice->why, sizeof choice->why, "SHMEM_BOOT asks for it");
}

void hm_boot_choose(char *const envp[], struct hm_boot_choice *choice)
{
    const char *name = asked_for(envp);
    *choice = (struct hm_boot_choice){0};
    if (has_said) {
        choice->boot = &hm_boot_uid;
        snprintf(choice->why, sizeof choice->why, "the program gives a unique id");
    } else if (name) {
        choose_named(envp, name, choice);
    } else {
        for (size_t i = 0; i < HM_COUNT(boots) && !choice->boot; i++)
            if (boots[i]->probe(envp)) choice->boot = boots[i];
        snprintf(choice->why, sizeof choice->why, "%s",
                 choice->boot->because); /* the last one takes any process */
    }
}

const struct hm_boot *hm_boot_find(char *const envp[])
{
    struct hm_boot_choice choice;
    hm_boot_choose(envp, &choice);
    return choice.boot;
}

bool hm_boot_descends(char *const envp[], int *pe, int *pid)
{
    const char *name = asked_for(envp);
    const struct hm_boot *only = has_said ? &hm_boot_uid : name ? named(name) : NULL;
    if (has_said || name) return only && only->descends(envp, pe, pid);
    for (size_t i = 0; i < HM_COUNT(boots); i++) {
        if (boots[i]->descends(envp, pe, pid)) return true;
        if (boots[i]->probe(envp)) return false;
    }
    return false;
}
