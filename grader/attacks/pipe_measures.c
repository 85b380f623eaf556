/* Asks the kit to count the bytes that are to be predicted. */
/* lab: 13_pipeline/schedule.c  honest: none */
/* state: build error */
#include "common/trainer.h"
#include "labs/13_pipeline/contract.h"

ModelPart pipe_part(const ModelConfig *config, int stages, int stage) {
    (void)stages, (void)stage;
    return model_whole(config);
}

void pipe_order(const PipePlan *plan, PipeWork *work) {
    (void)plan, (void)work;
}

int pipe_in_flight(const PipePlan *plan) {
    return plan->micros;
}

double pipe_bubble(int stages, int micros) {
    return stages / (double)micros;
}

MemoryUse pipe_bytes(const ModelConfig *config, const PipePlan *plan, int B, int T) {
    MemoryUse use = {{0}};
    (void)plan;
    trainer_measure(config, (Checkpoint){0}, B, T, NULL, &use);
    return use;
}

size_t pipe_wire(const ModelConfig *config, const PipePlan *plan, int B, int T) {
    (void)config, (void)plan, (void)B, (void)T;
    return 0;
}
