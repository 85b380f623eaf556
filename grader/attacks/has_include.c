/* Attack 33. Asks the compiler which files there are, and takes the reference if it is one of
   them. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error|fail */
#include "common/lab00.h"

#if __has_include("solutions/00_bytes/bytes.c") ||                                                 \
                  __has_include("grader/reference.c") ||                                           \
                                __has_include("/etc/passwd") ||                                    \
                                              __has_include("labs/00_bytes/tests.c")
#define SEEN 1
#else
#define SEEN 0
#endif

static void attack(void) {
    if (SEEN) {
        __builtin_trap();
    }
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
