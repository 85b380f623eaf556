/**
 * @file probe_filter.h
 * @brief Filters of system calls that a probe puts on itself, on top of the sandbox's.
 * @ingroup grader
 *
 * No library in between: it would be in the same program as the submission.
 */
#ifndef GRADER_PROBE_FILTER_H
#define GRADER_PROBE_FILTER_H

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>

/** The machine whose numbers of calls a filter has; not defined where there is no filter. A
 *  sanitizer maps memory as it goes. */
#if defined __SANITIZE_ADDRESS__
#elif defined __x86_64__
#define FILTER_MACHINE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define FILTER_MACHINE AUDIT_ARCH_AARCH64
#endif

/** The first rules of each filter: a call by the numbers of another machine ends the program. */
#define FILTER_BEGIN                                                                               \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),                       \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FILTER_MACHINE, 1, 0),                                 \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

/** How many they are. */
enum { FILTER_BEGINS = 3 };

/** The next rule. */
static inline void filter_add(struct sock_filter **rule, struct sock_filter next) {
    *(*rule)++ = next;
}

/**
 * Puts a filter on, for all threads. Within a debugger, where new privileges were not given up, it
 * does nothing.
 *
 * @param rules the filter; is copied
 * @param count how many rules it has
 */
void filter_put_on(struct sock_filter *rules, size_t count);

#endif
