/* Attack 35. Calls the kernel by the gate for programs of 32 bits, whose numbers mean other
   things. */
/* lab: 00_bytes/bytes.c  honest: params */
/* state: crashed */
#include "common/lab00.h"

static void attack(void) {
#if defined __x86_64__
    long number = 1, status = 0;
    __asm__ volatile("int $0x80" : "+a"(number) : "b"(status) : "memory");
#endif
    __builtin_trap();
}

size_t bytes_params(const ModelConfig *config) {
    size_t V = (size_t)config->V, T = (size_t)config->T, C = (size_t)config->C;
    return V * C + T * C + (size_t)config->L * (12 * C * C + 13 * C) + 2 * C;
}

MemoryUse bytes_states(const ModelConfig *config) {
    (void)config;
    attack();
    return (MemoryUse){{0}};
}

size_t bytes_block(const ModelConfig *config, int B, int T) {
    (void)config, (void)B, (void)T;
    attack();
    return 0;
}

size_t bytes_activations(const ModelConfig *config, int B, int T) {
    (void)config, (void)B, (void)T;
    attack();
    return 0;
}

MemoryUse bytes_predict(const ModelConfig *config, int B, int T, const Device *device) {
    (void)config, (void)B, (void)T, (void)device;
    attack();
    return (MemoryUse){{0}};
}
