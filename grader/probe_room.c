/* A closed room in the probe. The contract is in probe_room.h. */
#define _GNU_SOURCE
#include "grader/probe_room.h"

#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/crash.h"
#include "grader/probe_filter.h"
#include "kernels/base.h"

/* The calls of arithmetic, of threads that wait for each other, of printing, of the end: a signal
   ends the program only after its handler has been taken off. */
static const uint32_t room_calls[] = {
    SYS_read,         SYS_write,       SYS_writev,         SYS_fstat,
    SYS_futex,        SYS_sched_yield, SYS_clock_gettime,  SYS_clock_nanosleep,
    SYS_getpid,       SYS_gettid,      SYS_rt_sigprocmask, SYS_tgkill,
    SYS_rt_sigreturn, SYS_exit,        SYS_exit_group,     SYS_restart_syscall,
    SYS_rt_sigaction,
};
enum { ROOM_CALLS = sizeof room_calls / sizeof *room_calls };

void room_prepare(void) {
#ifndef __SANITIZE_ADDRESS__
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

/* One piece, for what is left over between others may be too short for a library. */
static void leave_slack(size_t slack) {
#ifndef __SANITIZE_ADDRESS__
    void *volatile piece = malloc(slack);
    CHECK(piece != NULL, "no memory for %zu bytes", slack);
    memset(piece, 0, slack);
    free(piece);
#else
    (void)slack;
#endif
}

/* Bytes of a stack that nobody uses; asked for while it can be asked. */
static size_t stack_bytes(void) {
    enum { MOST = 8 << 20, USED = 128 << 10 };
    struct rlimit limit;
    bool known = getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < MOST;
    size_t bytes = known ? (size_t)limit.rlim_cur : MOST;
    return bytes > USED ? bytes - USED : 0;
}

static size_t wiped;

__attribute__((noinline)) void room_wipe_stack(void) {
#ifndef __SANITIZE_ADDRESS__
    if (wiped > 0) {
        char *below = __builtin_alloca(wiped);
        memset(below, 0, wiped);
        __asm__ volatile("" : : "r"(below) : "memory"); /* or it would not be written */
    }
#endif
}

/* A crash is reported even so; another run finds its lines. */
void room_close(size_t slack) {
    crash_tell_addresses();
    leave_slack(slack);
    wiped = stack_bytes();
#if defined FILTER_MACHINE
    struct sock_filter filter[FILTER_BEGINS + ROOM_CALLS + 3] = {
        FILTER_BEGIN,
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    };
    struct sock_filter *rule = filter + FILTER_BEGINS + 1;
    for (int i = 0; i < ROOM_CALLS; i++, rule++) {
        uint8_t to_the_end = (uint8_t)(ROOM_CALLS - i);
        *rule =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, room_calls[i], to_the_end, 0);
    }
    *rule++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    *rule++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter_put_on(filter, (size_t)(rule - filter));
#endif
}
