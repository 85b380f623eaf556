/* Attack 11. Calls the grader's reference, in case it is in the same program. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
#include "common/lab00.h"

#include "grader/reference.h"

static void attack(void) {
    reference_free(reference_new(&(ModelConfig){.V = 2, .T = 2, .C = 2, .L = 1, .NH = 1}));
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
