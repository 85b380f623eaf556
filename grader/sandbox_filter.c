#define _GNU_SOURCE
/* The filter of system calls. What is not named here is refused, so a call that a kernel of next
   year brings is refused as well. */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "grader/sandbox_layers.h"

#define CALL(name) SCMP_SYS(name)

/* The calls that numbers, memory, threads, reading and printing need. */
static const int plain_calls[] = {
    /* files that are open, and reading */
    CALL(read),
    CALL(readv),
    CALL(pread64),
    CALL(write),
    CALL(writev),
    CALL(lseek),
    CALL(close),
    CALL(fstat),
    CALL(stat),
    CALL(lstat),
    CALL(newfstatat),
    CALL(statx),
    CALL(access),
    CALL(faccessat),
    CALL(faccessat2),
    CALL(readlink),
    CALL(readlinkat),
    CALL(getcwd),
    CALL(getdents64),
    CALL(fadvise64),
    CALL(poll),
    CALL(ppoll),
    /* memory */
    CALL(mmap),
    CALL(munmap),
    CALL(mprotect),
    CALL(mremap),
    CALL(madvise),
    CALL(brk),
    CALL(msync),
    CALL(mincore),
    CALL(membarrier),
    /* threads */
    CALL(futex),
    CALL(set_robust_list),
    CALL(rseq),
    CALL(set_tid_address),
    CALL(sched_yield),
    CALL(sched_getaffinity),
    CALL(sched_getparam),
    CALL(sched_getscheduler),
    CALL(getcpu),
    CALL(exit),
    CALL(exit_group),
    /* signals to itself: kill() and tgkill() are below */
    CALL(rt_sigaction),
    CALL(rt_sigprocmask),
    CALL(rt_sigreturn),
    CALL(rt_sigpending),
    CALL(rt_sigsuspend),
    CALL(sigaltstack),
    CALL(restart_syscall),
    CALL(alarm),
    CALL(setitimer),
    CALL(pause),
    /* time, and asking who one is */
    CALL(clock_gettime),
    CALL(clock_getres),
    CALL(clock_nanosleep),
    CALL(nanosleep),
    CALL(gettimeofday),
    CALL(time),
    CALL(times),
    CALL(getrusage),
    CALL(getrandom),
    CALL(uname),
    CALL(sysinfo),
    CALL(getpid),
    CALL(gettid),
    CALL(getppid),
    CALL(getuid),
    CALL(geteuid),
    CALL(getgid),
    CALL(getegid),
    CALL(getpgrp),
    CALL(getrlimit),
    CALL(arch_prctl),
};

/* The calls that a compiler needs besides: other programs, pipes between them, files that come and
 * go. */
static const int compiler_calls[] = {
    CALL(fork),     CALL(vfork),     CALL(execve),    CALL(wait4),     CALL(waitid),
    CALL(pipe),     CALL(pipe2),     CALL(dup),       CALL(dup2),      CALL(dup3),
    CALL(pselect6), CALL(select),    CALL(unlink),    CALL(unlinkat),  CALL(rename),
    CALL(renameat), CALL(renameat2), CALL(mkdir),     CALL(mkdirat),   CALL(rmdir),
    CALL(chmod),    CALL(fchmod),    CALL(fchmodat),  CALL(umask),     CALL(chdir),
    CALL(fchdir),   CALL(ftruncate), CALL(fallocate), CALL(pwrite64),  CALL(copy_file_range),
    CALL(sendfile), CALL(fsync),     CALL(fdatasync), CALL(utimensat), CALL(flock),
    CALL(statfs),   CALL(fstatfs),   CALL(setrlimit), CALL(getpgid),   CALL(getsid),
};

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* Not all machines have all calls: an unknown one needs no rule. */
static int known(int status) {
    return status == -EDOM || status == -EOPNOTSUPP ? 0 : status;
}

static int allow(scmp_filter_ctx filter, const int *calls, size_t count) {
    int status = 0;
    for (size_t i = 0; i < count && status == 0; i++) {
        status = known(seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0));
    }
    return status;
}

/* Allows a call whose argument `at` is `value` in the bits of `mask`. */
static int allow_if(scmp_filter_ctx filter, int call, unsigned at, unsigned long mask,
                    unsigned long value) {
    return known(seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1,
                                  SCMP_CMP(at, SCMP_CMP_MASKED_EQ, mask, value)));
}

/* Opening: of files to be read, unless there is a folder to write in;
   Landlock sees to the paths. */
static int allow_open(scmp_filter_ctx filter, bool may_write) {
    const unsigned long writing =
        may_write ? 0 : O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY);
    int status = allow_if(filter, CALL(open), 1, writing, 0);
    return status != 0 ? status : allow_if(filter, CALL(openat), 2, writing, 0);
}

/* Threads, or processes as well, but no new view of the machine. clone3() hides its flags in
   memory, where a filter cannot look: told that there is none, the C library takes clone(). */
static int allow_clone(scmp_filter_ctx filter, bool may_execute) {
    const unsigned long namespaces = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                                     CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWCGROUP;
    const unsigned long thread = may_execute ? 0 : CLONE_THREAD;
    int status = allow_if(filter, CALL(clone), 0, namespaces | thread, thread);
    if (status == 0) {
        status = known(seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), CALL(clone3), 0));
    }
    return status;
}

/* abort() and raise(), but no signal to anybody else; few of the switches of a process. */
static int allow_self(scmp_filter_ctx filter) {
    const unsigned long all = ~0ul, self = (unsigned long)getpid();
    const struct {
        int call;
        unsigned at;
        unsigned long value;
    } rules[] = {
        {CALL(kill), 0, self},
        {CALL(tgkill), 0, self},
        {CALL(prlimit64), 0, 0},
        {CALL(getpgid), 0, 0}, /* getpgrp() of a machine without that call */
        {CALL(sched_setaffinity), 0, 0},
        {CALL(prctl), 0, PR_SET_NAME},
        {CALL(prctl), 0, PR_GET_NAME},
        {CALL(prctl), 0, PR_GET_DUMPABLE},
        {CALL(ioctl), 1, TCGETS},
        {CALL(ioctl), 1, TIOCGWINSZ},
        {CALL(fcntl), 1, F_GETFD},
        {CALL(fcntl), 1, F_SETFD},
        {CALL(fcntl), 1, F_GETFL},
        {CALL(fcntl), 1, F_DUPFD},
        {CALL(fcntl), 1, F_DUPFD_CLOEXEC},
        {CALL(fcntl), 1, F_GET_SEALS},
    };
    int status = 0;
    for (size_t i = 0; i < COUNT(rules) && status == 0; i++) {
        status = allow_if(filter, rules[i].call, rules[i].at, all, rules[i].value);
    }
    return status;
}

/* A program may close a room of its own (grader/probe_room.h): a further filter only takes away.
   One that asks another process is something else, so of the switches there is one. */
static int allow_filter(scmp_filter_ctx filter) {
    return known(seccomp_rule_add(filter, SCMP_ACT_ALLOW, CALL(seccomp), 2,
                                  SCMP_A0(SCMP_CMP_EQ, SECCOMP_SET_MODE_FILTER, 0),
                                  SCMP_A1(SCMP_CMP_EQ, SECCOMP_FILTER_FLAG_TSYNC, 0)));
}

/* execve() has three arguments. The filter asks for a password in the fourth and fifth, which dies
   with the memory of the process that knew it: one call passes, and no other after it. */
static int allow_first_execute(scmp_filter_ctx filter, Password password) {
    return seccomp_rule_add(filter, SCMP_ACT_ALLOW, CALL(execve), 2,
                            SCMP_A3(SCMP_CMP_EQ, password.first, 0),
                            SCMP_A4(SCMP_CMP_EQ, password.second, 0));
}

/* libseccomp has a rule's call by this machine's number, and knows it by name on the others. */
static int choose_machine(scmp_filter_ctx filter, uint32_t machine) {
    if (machine == seccomp_arch_native()) {
        return 0;
    }
    int status = seccomp_arch_add(filter, machine);
    return status != 0 ? status : seccomp_arch_remove(filter, SCMP_ARCH_NATIVE);
}

scmp_filter_ctx filter_make(uint32_t machine, bool may_execute, bool may_write, Password password) {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    if (filter == NULL) {
        return NULL;
    }
    int status = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    status = status != 0 ? status : choose_machine(filter, machine);
    status = status != 0 ? status : allow(filter, plain_calls, COUNT(plain_calls));
    status = status != 0 ? status : allow_open(filter, may_write);
    status = status != 0 ? status : allow_clone(filter, may_execute);
    status = status != 0 ? status : allow_self(filter);
    if (status == 0) {
        status = may_execute ? allow(filter, compiler_calls, COUNT(compiler_calls))
                             : allow_first_execute(filter, password);
    }
    status = status != 0 || may_execute ? status : allow_filter(filter);
    if (status != 0) {
        seccomp_release(filter);
        return NULL;
    }
    return filter;
}

const char *filter_system_calls(bool may_execute, bool may_write, Password password) {
    scmp_filter_ctx filter = filter_make(seccomp_arch_native(), may_execute, may_write, password);
    if (filter == NULL) {
        return "no filter of system calls (seccomp_init)";
    }
    int status = seccomp_load(filter);
    seccomp_release(filter);
    return status == 0 ? NULL : "no filter of system calls (seccomp_load)";
}
