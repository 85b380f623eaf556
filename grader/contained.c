#define _GNU_SOURCE
/**
 * @file contained.c
 * @brief `contained [--old] PROGRAM ARGS...`: runs a program without the system calls that
 * containers deny.
 * @ingroup grader
 *
 * For tests: what the sandbox still reaches inside of a container, without one. Denied are the
 * calls that Docker's default profile leaves out; with --old also Landlock, which it allows since
 * version 23.
 */
#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/lab.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char *const denied[] = {
    "acct",
    "add_key",
    "bpf",
    "clock_adjtime",
    "clock_settime",
    "clone3",
    "delete_module",
    "fanotify_init",
    "finit_module",
    "fsconfig",
    "fsmount",
    "fsopen",
    "get_mempolicy",
    "init_module",
    "io_uring_enter",
    "io_uring_register",
    "io_uring_setup",
    "ioperm",
    "iopl",
    "kcmp",
    "kexec_file_load",
    "kexec_load",
    "keyctl",
    "lookup_dcookie",
    "mbind",
    "mount",
    "mount_setattr",
    "move_mount",
    "move_pages",
    "name_to_handle_at",
    "open_by_handle_at",
    "open_tree",
    "perf_event_open",
    "personality",
    "pivot_root",
    "process_vm_readv",
    "process_vm_writev",
    "ptrace",
    "quotactl",
    "reboot",
    "request_key",
    "set_mempolicy",
    "setns",
    "settimeofday",
    "swapoff",
    "swapon",
    "syslog",
    "umount2",
    "unshare",
    "userfaultfd",
    "vhangup",
};

static const char *const landlock[] = {
    "landlock_add_rule",
    "landlock_create_ruleset",
    "landlock_restrict_self",
};

/* The C library falls back to clone where clone3 is not there, and says so with this number. A
   profile that answers EPERM would keep it from starting threads. */
static bool deny(scmp_filter_ctx filter, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        int number = seccomp_syscall_resolve_name(names[i]);
        unsigned answer = strcmp(names[i], "clone3") == 0 ? ENOSYS : EPERM;
        /* A call that libseccomp does not know is younger than it. */
        if (number != __NR_SCMP_ERROR &&
            seccomp_rule_add(filter, SCMP_ACT_ERRNO(answer), number, 0) != 0) {
            return false;
        }
    }
    return true;
}

/* Namespaces of one's own are made by clone with one of these flags. */
static bool deny_namespaces(scmp_filter_ctx filter) {
    static const unsigned flags[] = {CLONE_NEWNS,  CLONE_NEWUTS, CLONE_NEWIPC,   CLONE_NEWUSER,
                                     CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWCGROUP};
    bool good = true;
    for (size_t i = 0; i < COUNT(flags); i++) {
        good &= seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                                 SCMP_A0(SCMP_CMP_MASKED_EQ, flags[i], flags[i])) == 0;
    }
    return good;
}

static bool contain(bool old) {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    bool good = filter != NULL && deny_namespaces(filter) && deny(filter, denied, COUNT(denied)) &&
                (!old || deny(filter, landlock, COUNT(landlock))) && seccomp_load(filter) == 0;
    seccomp_release(filter);
    return good;
}

int main(int argc, char **argv) {
    bool old = argc > 1 && strcmp(argv[1], "--old") == 0;
    char **program = argv + (old ? 2 : 1);
    if (*program == NULL) {
        fprintf(stderr, "usage: %s [--old] PROGRAM ARGS...\n", argv[0]);
        return EXIT_USAGE;
    }
    if (!contain(old)) {
        fprintf(stderr, "%s: the system calls cannot be denied\n", argv[0]);
        return EXIT_RUN;
    }
    execvp(program[0], program);
    fprintf(stderr, "%s: %s: %s\n", argv[0], program[0], strerror(errno));
    return EXIT_RUN;
}
