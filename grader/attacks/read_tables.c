/* Attack 12 and 21. Answers with what lies in the table of inputs, in case the wanted numbers
   are there. */
/* lab: 00_bytes/bytes.c  honest: params */
/* state: fail */
/* then: params.c */
#include "common/lab00.h"

#include <stdint.h>
#include <sys/syscall.h>

/* A system call without the C library, so that no list of symbols shows it. */
static long call(long number, long a, long b, long c, long d) {
#if defined __x86_64__
    long result = number;
    register long fourth __asm__("r10") = d;
    register long fifth __asm__("r8") = 0;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth)
                     : "rcx", "r11", "memory");
    return result;
#elif defined __aarch64__
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = 0;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
    return x0;
#endif
}

static uint64_t table[1 << 8];

static void attack(void) {
    call(SYS_pread64, 3, (long)table, sizeof table, 100 * 1024);
}

MemoryUse bytes_states(const ModelConfig *config) {
    (void)config;
    attack();
    return (MemoryUse){{table[0], table[1], table[2]}};
}

size_t bytes_block(const ModelConfig *config, int B, int T) {
    (void)config, (void)B, (void)T;
    attack();
    return table[3];
}

size_t bytes_activations(const ModelConfig *config, int B, int T) {
    (void)config, (void)B, (void)T;
    attack();
    return table[3];
}

MemoryUse bytes_predict(const ModelConfig *config, int B, int T, const Device *device) {
    (void)config, (void)B, (void)T, (void)device;
    attack();
    return (MemoryUse){{table[0], table[1], table[2]}};
}
