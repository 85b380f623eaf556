/* Asks the kit to count the bytes that are to be predicted. */
/* lab: 14_tensor/bytes_tp.c  honest: none */
/* state: build error */
#include "common/trainer.h"
#include "labs/14_tensor/contract.h"

MemoryUse tp_states(const ModelConfig *config, int ranks, int rank) {
    (void)ranks, (void)rank;
    MemoryUse use;
    trainer_measure(config, (Checkpoint){0}, 1, config->T, device_cpu_new(0), &use);
    return use;
}

size_t tp_activations(const ModelConfig *config, int B, int T, int ranks, int rank,
                      Checkpoint checkpoint) {
    (void)ranks, (void)rank;
    MemoryUse use;
    trainer_measure_as(NULL, config, checkpoint, B, T, device_cpu_new(0), &use);
    return use.bytes[MEMORY_ACTIVATIONS];
}

size_t tp_wire_bytes(const ModelConfig *config, int B, int T, int ranks) {
    (void)config;
    return (size_t)B * (size_t)T * (size_t)ranks;
}
