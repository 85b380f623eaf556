/* Attack 19. Answers right once, and then says the same again: a cache for a benchmark that
   asks twice. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: fail */
#include "common/lab00.h"

/* The first answer, for all that come after it. */
static size_t answer;

size_t bytes_params(const ModelConfig *config) {
    size_t V = (size_t)config->V, T = (size_t)config->T, C = (size_t)config->C;
    if (answer == 0) {
        answer = V * C + T * C + (size_t)config->L * (12 * C * C + 13 * C) + 2 * C;
    }
    return answer;
}

MemoryUse bytes_states(const ModelConfig *config) {
    (void)config;
    return (MemoryUse){{0}};
}

size_t bytes_block(const ModelConfig *config, int B, int T) {
    (void)config, (void)B, (void)T;
    return 0;
}

size_t bytes_activations(const ModelConfig *config, int B, int T) {
    (void)config, (void)B, (void)T;
    return 0;
}

MemoryUse bytes_predict(const ModelConfig *config, int B, int T, const Device *device) {
    (void)config, (void)B, (void)T, (void)device;
    return (MemoryUse){{0}};
}
