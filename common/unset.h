/**
 * @file unset.h
 * @brief What a variable holds that was never set, where UNSET_SHOWS is on (common/build.mk).
 * @ingroup common
 *
 * All of its bytes are 0xFE by gcc and 0xAA by clang, whose floats are NaN. Something may have been
 * added since, so the upper bits tell.
 */
#ifndef COMMON_UNSET_H
#define COMMON_UNSET_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#if defined __x86_64__ && defined __linux__
#include <ucontext.h>
#endif

/** Whether a number looks like one that was never set: of 64 bits, or an int among 64. */
static inline bool unset_number(uint64_t number) {
    uint64_t above = number >> 32;
    uint64_t upper = above == 0 || above == 0xffffffff ? number >> 16 & 0xffff : above >> 16;
    return upper == 0xfefe || upper == 0xaaaa;
}

/** The same of a float: -1.7e38, which arithmetic with numbers of common sizes leaves. */
static inline bool unset_float(float number) {
    return number < -1.6e38f && number > -1.8e38f;
}

/** Whether an address is near that of a pointer which was never set: less than 16 MB from it. */
static inline bool unset_address(uint64_t address) {
    /* of 48 bits: aarch64 leaves the uppermost ones out */
    const uint64_t near = 16 << 20, all = 0xffffffffffff;
    uint64_t from_gcc = (address - 0xfefefefefefe + near) & all;
    uint64_t from_clang = (address - 0xaaaaaaaaaaaa + near) & all;
    return from_gcc < 2 * near || from_clang < 2 * near;
}

/**
 * Whether a fault came through a pointer that was never set. An x86 processor does not say which
 * address that was, since no memory can have it: then a register holds it.
 *
 * Elsewhere it is `si_addr`, which an emulator may leave 0: then no pointer is known to be one.
 *
 * @param info    of the signal
 * @param context of the signal: a ucontext_t
 */
static inline bool unset_pointer(const siginfo_t *info, const void *context) {
#if defined __x86_64__ && defined __linux__
    const greg_t *registers = ((const ucontext_t *)context)->uc_mcontext.gregs;
    bool found = false;
    for (int i = 0; i < 15; i++) { /* the general ones come first */
        found = found || unset_address((uint64_t)registers[i]);
    }
    return info->si_signo == SIGSEGV && info->si_code == SI_KERNEL && found;
#else
    (void)context;
    return unset_address((uint64_t)(uintptr_t)info->si_addr);
#endif
}

#endif
