/* The filter of system calls on each machine that the kit is built for: its program is run here,
   whatever this machine is. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "grader/sandbox_layers.h"

static const uint32_t machines[] = {SCMP_ARCH_X86_64, SCMP_ARCH_AARCH64};
enum { MACHINES = sizeof machines / sizeof *machines, CALLS = 600 /* more than any has */ };
static const Password password = {0x1234567890, 0xABCDEF1234};

typedef struct Program {
    struct sock_filter code[4096];
    int length;
} Program;

/* ---- running it ------------------------------------------------------------------------------ */

static Program exported(uint32_t machine, bool may_execute, bool may_write) {
    Program program;
    seccomp_api_set(3); /* an emulator has no filters; here the program is only made */
    scmp_filter_ctx filter = filter_make(machine, may_execute, may_write, password);
    cr_assert_neq(filter, NULL, "libseccomp refuses a rule for machine %x", machine);
    int file = memfd_create("filter", 0);
    cr_assert_eq(seccomp_export_bpf(filter, file), 0);
    ssize_t bytes = pread(file, program.code, sizeof program.code, 0);
    cr_assert(bytes > 0 && bytes < (ssize_t)sizeof program.code);
    program.length = (int)((size_t)bytes / sizeof *program.code);
    close(file);
    seccomp_release(filter);
    return program;
}

static bool jumps(uint16_t condition, uint32_t a, uint32_t k) {
    return condition == BPF_JEQ   ? a == k
           : condition == BPF_JGT ? a > k
           : condition == BPF_JGE ? a >= k
                                  : (a & k) != 0;
}

/* As the kernel runs it. */
static uint32_t run(const Program *program, const struct seccomp_data *call) {
    uint32_t a = 0;
    for (int i = 0; i < program->length; i++) {
        const struct sock_filter *at = &program->code[i];
        switch (at->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            memcpy(&a, (const char *)call + at->k, sizeof a);
            break;
        case BPF_ALU | BPF_AND | BPF_K:
            a &= at->k;
            break;
        case BPF_JMP | BPF_JA:
            i += (int)at->k;
            break;
        case BPF_RET | BPF_K:
            return at->k;
        default:
            cr_assert_eq(BPF_CLASS(at->code) | BPF_SRC(at->code), BPF_JMP | BPF_K, "%x", at->code);
            i += jumps(BPF_OP(at->code), a, at->k) ? at->jt : at->jf;
        }
    }
    cr_assert_fail("the filter's program has no end");
    return 0;
}

/* Of the call of that number, with its arguments. */
static uint32_t answer(const Program *program, uint32_t machine, int number, const uint64_t *args) {
    struct seccomp_data call = {.nr = number, .arch = machine};
    memcpy(call.args, args, sizeof call.args);
    return run(program, &call);
}

/* ---- single calls ---------------------------------------------------------------------------- */

enum { PASSES = SECCOMP_RET_ALLOW, REFUSED = SECCOMP_RET_ERRNO | EPERM };

/* Calls of the C library, also those that stand for older ones where a machine lacks them, and
   calls of an intruder. `everywhere` is false for a call that only some machines have. */
static const struct {
    const char *name;
    uint64_t args[6];
    uint32_t plain,
        compiler; /* answers to a hand-in, and to a compiler with a folder to write in */
    bool everywhere;
} calls[] = {
    {"read", {0}, PASSES, PASSES, true},
    {"openat", {0, 0, O_RDONLY | O_CLOEXEC}, PASSES, PASSES, true},
    {"openat", {0, 0, O_WRONLY}, REFUSED, PASSES, true},
    {"openat", {0, 0, O_RDONLY | O_CREAT}, REFUSED, PASSES, true},
    {"open", {0, O_RDONLY}, PASSES, PASSES, false},
    {"open", {0, O_RDWR}, REFUSED, PASSES, false},
    {"newfstatat", {0}, PASSES, PASSES, true},
    {"stat", {0}, PASSES, PASSES, false},
    {"faccessat", {0}, PASSES, PASSES, true},
    {"readlinkat", {0}, PASSES, PASSES, true},
    {"ppoll", {0}, PASSES, PASSES, true},
    {"prlimit64", {0}, PASSES, PASSES, true},
    {"prlimit64", {1}, REFUSED, REFUSED, true},
    {"getpgid", {0}, PASSES, PASSES, true},
    {"getpgid", {1}, REFUSED, PASSES, true},
    {"clone", {CLONE_VM | CLONE_THREAD}, PASSES, PASSES, true},
    {"clone", {SIGCHLD}, REFUSED, PASSES, true},
    {"clone", {CLONE_VM | CLONE_VFORK}, REFUSED, PASSES, true},
    {"clone", {CLONE_THREAD | CLONE_NEWUSER}, REFUSED, REFUSED, true},
    {"clone3", {0}, SECCOMP_RET_ERRNO | ENOSYS, SECCOMP_RET_ERRNO | ENOSYS, true},
    {"fork", {0}, REFUSED, PASSES, false},
    {"execve", {0}, REFUSED, PASSES, true},
    {"execve", {0, 0, 0, 0x1234567890, 0xABCDEF1234}, PASSES, PASSES, true},
    {"execve", {0, 0, 0, 0x1234567890, 0xABCDEF1235}, REFUSED, PASSES, true},
    {"execveat", {0}, REFUSED, REFUSED, true},
    {"pipe2", {0}, REFUSED, PASSES, true},
    {"unlinkat", {0}, REFUSED, PASSES, true},
    {"kill", {1}, REFUSED, REFUSED, true},
    {"ptrace", {0}, REFUSED, REFUSED, true},
    {"socket", {0}, REFUSED, REFUSED, true},
    {"memfd_create", {0}, REFUSED, REFUSED, true},
    {"process_vm_readv", {0}, REFUSED, REFUSED, true},
    {"pidfd_getfd", {0}, REFUSED, REFUSED, true},
    {"io_uring_setup", {0}, REFUSED, REFUSED, true},
    {"unshare", {0}, REFUSED, REFUSED, true},
    {"mount", {0}, REFUSED, REFUSED, true},
    {"prctl", {PR_SET_NAME}, PASSES, PASSES, true},
    {"prctl", {PR_SET_SECCOMP}, REFUSED, REFUSED, true},
    {"seccomp", {SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC}, PASSES, REFUSED, true},
    {"seccomp",
     {SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER},
     REFUSED,
     REFUSED,
     true},
};

Test(sandbox_filter, calls_pass_or_are_refused_on_each_machine) {
    for (int m = 0; m < MACHINES; m++) {
        Program plain = exported(machines[m], false, false);
        Program compiler = exported(machines[m], true, true);
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
            int number = seccomp_syscall_resolve_name_arch(machines[m], calls[i].name);
            cr_expect(number >= 0 || !calls[i].everywhere, "%x has no %s", machines[m],
                      calls[i].name);
            if (number >= 0) {
                uint32_t found = answer(&plain, machines[m], number, calls[i].args);
                cr_expect_eq(found, calls[i].plain, "%x, %zu: %s: %x", machines[m], i,
                             calls[i].name, found);
                found = answer(&compiler, machines[m], number, calls[i].args);
                cr_expect_eq(found, calls[i].compiler, "%x, %zu: %s for a compiler: %x",
                             machines[m], i, calls[i].name, found);
            }
        }
    }
}

/* ---- all calls ------------------------------------------------------------------------------- */

/* Also those that no row above names: by name they get one answer on all machines. */
static void expect_one_answer(const Program *of_x86, const Program *of_arm, int number) {
    static const uint64_t args[][6] = {{0}, {1, 1, 1, 1, 1, 1}, {CLONE_THREAD, 1, 2}};
    char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_AARCH64, number);
    int there = name != NULL ? seccomp_syscall_resolve_name_arch(SCMP_ARCH_X86_64, name) : -1;
    for (size_t i = 0; i < sizeof args / sizeof *args; i++) {
        uint32_t found = answer(of_arm, SCMP_ARCH_AARCH64, number, args[i]);
        uint32_t wanted =
            there >= 0 ? answer(of_x86, SCMP_ARCH_X86_64, there, args[i]) : (uint32_t)REFUSED;
        cr_expect_eq(found, wanted, "%d %s, %zu: %x, not %x", number, name ? name : "", i, found,
                     wanted);
    }
    free(name);
}

Test(sandbox_filter, machines_differ_in_no_call_that_both_have) {
    for (int compiler = 0; compiler < 2; compiler++) {
        Program of_x86 = exported(SCMP_ARCH_X86_64, compiler, compiler);
        Program of_arm = exported(SCMP_ARCH_AARCH64, compiler, compiler);
        for (int number = 0; number < CALLS; number++) {
            expect_one_answer(&of_x86, &of_arm, number);
        }
    }
}

Test(sandbox_filter, calls_of_another_machine_end_the_process) {
    for (int m = 0; m < MACHINES; m++) {
        Program program = exported(machines[m], false, false);
        for (int number = 0; number < CALLS; number++) {
            cr_expect_eq(answer(&program, machines[!m], number, (uint64_t[6]){0}),
                         SECCOMP_RET_KILL_PROCESS);
            cr_expect_eq(answer(&program, SCMP_ARCH_X86, number, (uint64_t[6]){0}),
                         SECCOMP_RET_KILL_PROCESS);
        }
    }
}
