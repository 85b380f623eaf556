/* Has the order of the page's picture, three stages and five micro-batches, whatever is asked. */
/* lab: 13_pipeline/schedule.c  honest: tied norm alone one_stage stages messages in_turn few masks
   memory evaluate ends */
/* state: fail | crashed | timeout */
#include "labs/13_pipeline/contract.h"

ModelPart pipe_part(const ModelConfig *config, int stages, int stage) {
    ModelPart part = model_whole(config);
    part.first = stage;
    part.last = stage + 1;
    part.head = stage == stages - 1;
    return part;
}

int pipe_in_flight(const PipePlan *plan) {
    return 3 - plan->stage % 3;
}

void pipe_order(const PipePlan *plan, PipeWork *work) {
    for (int i = 0; i < 2 * plan->micros; i++) {
        work[i] = (PipeWork){.micro = i / 2, .backward = i % 2 != 0};
    }
}

double pipe_bubble(int stages, int micros) {
    (void)stages, (void)micros;
    return 2.0 / 7;
}

MemoryUse pipe_bytes(const ModelConfig *config, const PipePlan *plan, int B, int T) {
    (void)config, (void)plan, (void)B, (void)T;
    return (MemoryUse){{1 << 20, 1 << 20, 2 << 20, 4 << 20}};
}

size_t pipe_wire(const ModelConfig *config, const PipePlan *plan, int B, int T) {
    (void)config, (void)plan, (void)B, (void)T;
    return 131072;
}
