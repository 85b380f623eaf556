/* Attack 34. Replaces a function of the kit, as a weak symbol, so that the linker does not
   complain. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
#include "common/lab00.h"

__attribute__((weak)) int params_count(const ModelConfig *config) {
    (void)config;
    return 0;
}

static void attack(void) {
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
