/* Attack 59. Macros that grow to a million million letters. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
#include "common/lab00.h"

#define A x x x x x x x x x x x x x x x x x x x x
#define C A A A A A A A A A A A A A A A A A A A A
#define D C C C C C C C C C C C C C C C C C C C C
#define E D D D D D D D D D D D D D D D D D D D D
#define F E E E E E E E E E E E E E E E E E E E E
#define G F F F F F F F F F F F F F F F F F F F F
#define H G G G G G G G G G G G G G G G G G G G G
#define I H H H H H H H H H H H H H H H H H H H H
#define J I I I I I I I I I I I I I I I I I I I I
const char *bomb = "" J;

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
