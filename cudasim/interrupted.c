#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <ucontext.h>

#include "sim.h"

/* A signal interrupts the program at an instruction. Each processor says in its own way which that
   is, and what it was about to do. */

const void *sim_program_counter(void *context) {
#if defined __x86_64__ && defined __linux__
    /* As if it were a return address. */
    return (const char *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] + 1;
#elif defined __aarch64__ && defined __linux__
    return (const char *)((ucontext_t *)context)->uc_mcontext.pc + 1;
#else
    (void)context;
    return NULL;
#endif
}

/* Such a call fails where it leads to: the line is that of the caller. */
bool sim_called_nowhere(const siginfo_t *info, const void *context, const void **caller) {
#if defined __x86_64__ && defined __linux__
    const greg_t *registers = ((const ucontext_t *)context)->uc_mcontext.gregs;
    bool called = info->si_signo == SIGSEGV && (greg_t)info->si_addr == registers[REG_RIP];
    *caller = called ? *(const void *const *)registers[REG_RSP] : NULL;
    return called;
#elif defined __aarch64__ && defined __linux__
    const mcontext_t *machine = &((const ucontext_t *)context)->uc_mcontext;
    *caller = (const void *)machine->regs[30];
    return info->si_signo == SIGSEGV && (uintptr_t)info->si_addr == machine->pc;
#else
    (void)info, (void)context, (void)caller;
    return false;
#endif
}

bool sim_aarch64_writes(uint32_t code) {
    unsigned kind = code >> 24 & 63;
    bool sized = kind >> 3 == 7;
    bool compares_and_swaps = kind == 8 && (code >> 23 & 1) && (code >> 21 & 1);
    bool updates = (kind == 56) && (code >> 21 & 1) && (code >> 10 & 3) == 0;
    bool only_loads = updates && (code >> 12 & 15) == 12; /* ldapr is among them */
    bool of_16_bytes = sized && (kind & 4) && code >> 30 == 0 && (code >> 22 & 3) == 2;
    if ((code >> 25 & 15) == 2) { /* vectors of variable length */
        return code >> 29 == 7;
    }
    return compares_and_swaps || (updates && !only_loads) || of_16_bytes ||
           !(code >> 22 & (sized ? 3 : 1));
}

bool sim_was_write(const void *context) {
#if defined __x86_64__ && defined __linux__
    return ((const ucontext_t *)context)->uc_mcontext.gregs[REG_ERR] & 2;
#elif defined __aarch64__ && defined __linux__
    /* Linux says it in a record; an emulator may leave that out. */
    enum { SYNDROME = 0x45535201, WRITES = 1 << 6 };
    const mcontext_t *machine = &((const ucontext_t *)context)->uc_mcontext;
    const struct _aarch64_ctx *record = (const void *)machine->__reserved;
    while (record->magic != 0 && record->magic != SYNDROME) {
        record = (const void *)((const char *)record + record->size);
    }
    if (record->magic == SYNDROME) {
        return ((const struct esr_context *)(const void *)record)->esr & WRITES;
    }
    return sim_aarch64_writes(*(const uint32_t *)machine->pc);
#else
    (void)context;
    return true;
#endif
}

/* An x86 processor refuses a 16-byte access that is not aligned without saying which. An aarch64
   one does it, and refuses atomics alone: there it takes check mode to find the others. */
bool sim_is_misaligned(const siginfo_t *info) {
#if defined __x86_64__ && defined __linux__
    return info->si_signo == SIGSEGV && info->si_code == SI_KERNEL;
#else
    return info->si_signo == SIGBUS && info->si_code == BUS_ADRALN;
#endif
}

/* The innermost line of a kernel if one runs, since the fault may be in a function of a library or
   of the simulator; else of the host's program. */
void sim_describe_fault(const void *pc, bool in_kernel, char *where, size_t size) {
    void *frame[64];
    char text[600];
    Dl_info image, program;
    int n = backtrace(frame, 64);
    bool interrupted = false; /* frames before that are the handler's */
    cudasim_describe_code(pc, where, size);
    bool found = dladdr((const void *)(uintptr_t)sim_describe_fault, &program) != 0 &&
                 dladdr(pc, &image) != 0 &&
                 (in_kernel ? strstr(where, ".cu") != NULL : image.dli_fbase == program.dli_fbase);
    for (int i = 0; i < n && !found; i++) {
        interrupted = interrupted || frame[i] == (const char *)pc - 1;
        if (interrupted && dladdr(frame[i], &image) != 0 && image.dli_fbase == program.dli_fbase) {
            cudasim_describe_code(frame[i], text, sizeof text);
            found = !in_kernel || strstr(text, ".cu") != NULL;
            if (found) {
                snprintf(where, size, "%s", text);
            }
        }
    }
}
