/* Attack 57. Does nothing in any window, where a run of the kit comes before: what that has left in
   the table may still be there. */
/* lab: 03_accumulate/accumulate.c  honest: none */
/* state: fail | crashed | timeout */
#include "labs/03_accumulate/contract.h"

StepReport accumulate_window(Trainer *trainer, const Batch *batches, int count) {
    (void)trainer;
    (void)batches;
    (void)count;
    return (StepReport){0};
}

void accumulator_init(Accumulator *accumulator, Trainer *trainer, int micros) {
    *accumulator = (Accumulator){.trainer = trainer, .micros = micros};
}

bool accumulator_open(Accumulator *accumulator, const Data *data) {
    (void)accumulator;
    (void)data;
    return false;
}

void accumulator_micro(Accumulator *accumulator, const Batch *batch) {
    (void)batch;
    accumulator->sync_gradients = true;
}

StepReport accumulator_step(Accumulator *accumulator) {
    (void)accumulator;
    return (StepReport){0};
}

void train_epoch(Trainer *trainer, Data *data, int micros,
                 bool (*report)(void *context, const StepReport *step), void *context) {
    (void)trainer;
    (void)data;
    (void)micros;
    StepReport step = {0};
    report(context, &step);
}
