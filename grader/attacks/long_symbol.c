/* Attack 34. Gives a symbol a name of four hundred letters, behind which a reader of a list
   might find another kind. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
#include "common/lab00.h"

/* The 400th letter is that of a symbol which nobody else sees. */
#define LETTERS_100                                                                                \
    "tttttttttttttttttttttttttttttttttttttttttttttttttt"                                           \
    "tttttttttttttttttttttttttttttttttttttttttttttttttt"
#define NAME LETTERS_100 LETTERS_100 LETTERS_100 LETTERS_100 "t"
__asm__(".globl " NAME "\n .set " NAME ", 0");

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
