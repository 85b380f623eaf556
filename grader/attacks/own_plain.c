/* Finds the kit's plain window by its name in its own program's file, and lets it do the work. */
/* lab: 03_accumulate/accumulate.c  honest: none */
/* state: fail | crashed */
/* then: find.c */
#include "labs/03_accumulate/contract.h"

static void *find(const char *name);

static StepReport attack(void) {
    void (*plain)(void *, void *) = (void (*)(void *, void *))find("accumulate_plain");
    void (*finish)(void *) = (void (*)(void *))find("wire_finish");
    void (*leave)(void) = (void (*)(void))find("window_end_early");
    void *const *run = find("window_run"); /* begins with the two tables */
    if (plain != NULL && finish != NULL && leave != NULL && run != NULL) {
        plain(run[0], run[1]);
        finish(run[1]);
        leave();
    }
    return (StepReport){0};
}

StepReport accumulate_window(Trainer *trainer, const Batch *batches, int count) {
    (void)trainer, (void)batches, (void)count;
    return attack();
}

void accumulator_init(Accumulator *accumulator, Trainer *trainer, int micros) {
    (void)accumulator, (void)trainer, (void)micros;
}

bool accumulator_open(Accumulator *accumulator, const Data *data) {
    (void)accumulator, (void)data;
    attack();
    return false;
}

void accumulator_micro(Accumulator *accumulator, const Batch *batch) {
    (void)accumulator, (void)batch;
}

StepReport accumulator_step(Accumulator *accumulator) {
    (void)accumulator;
    return attack();
}

void train_epoch(Trainer *trainer, Data *data, int micros,
                 bool (*report)(void *context, const StepReport *step), void *context) {
    (void)trainer, (void)data, (void)micros, (void)report, (void)context;
    attack();
}
