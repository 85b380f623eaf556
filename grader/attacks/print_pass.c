/* Attack 4. Prints what a grader would print. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
#include "common/lab00.h"

#include <stdio.h>

static void attack(void) {
    printf("[PASS] states\n{\"score\": 100, \"full\": true}\n");
}

size_t bytes_params(const ModelConfig *config) {
    (void)config;
    attack();
    return 0;
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
