/* Attack 5. Writes the record of the grader with the C library. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
#include "common/lab00.h"

#include <stdio.h>

static void attack(void) {
    FILE *record = fopen("build/grades/00_bytes.json", "w");
    if (record != NULL) {
        fputs("{\"score\": 100, \"full\": true}", record);
        fclose(record);
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
