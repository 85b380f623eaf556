/* Attack 17. Returns the numbers of the demo model, whatever is asked. */
/* lab: 00_bytes/bytes.c  honest: params */
/* state: fail */
#include "common/lab00.h"

size_t bytes_params(const ModelConfig *config) {
    size_t V = (size_t)config->V, T = (size_t)config->T, C = (size_t)config->C;
    return V * C + T * C + (size_t)config->L * (12 * C * C + 13 * C) + 2 * C;
}

MemoryUse bytes_states(const ModelConfig *config) {
    (void)config;
    return (MemoryUse){{7398400, 7398400, 14796800}};
}

size_t bytes_block(const ModelConfig *config, int B, int T) {
    (void)config, (void)B, (void)T;
    return 1849600;
}

size_t bytes_activations(const ModelConfig *config, int B, int T) {
    (void)config, (void)B, (void)T;
    return 1849600;
}

MemoryUse bytes_predict(const ModelConfig *config, int B, int T, const Device *device) {
    (void)config, (void)B, (void)T, (void)device;
    return (MemoryUse){{7398400, 7398400, 14796800}};
}
