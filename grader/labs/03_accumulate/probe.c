/* Lab 03 in the probe: windows of micro-batches, on each of the three levels. What happens is seen
   from beside (grader/probe_watch.h). */
#include "grader/probe.h"
#include "grader/labs/03_accumulate/shared.h"
#include "labs/03_accumulate/contract.h"

/* ---- cases ----------------------------------------------------------------------------------- */

/* One more window, with an end of its own that skips its update. */
static uint64_t ends;

static void accumulate_skip(Trainer *trainer, StepReport *report) {
    model_zero_grad(trainer->model);
    report->skipped = true;
    ends++;
}

static bool accumulate_stop(void *context, const StepReport *report) {
    (void)context, (void)report;
    return false;
}

static void accumulate_skipped(Data *data) {
    Trainer *trainer = &window_run.trainer;
    int before = trainer->schedule.step;
    trainer->update = accumulate_skip;
    if (data == NULL) {
        accumulate_window(trainer, window_run.batch, 1);
    } else {
        train_epoch(trainer, data, 1, accumulate_stop, NULL);
    }
    uint64_t *seen = wire_get(window_run.out, "skipped", WIRE_U64, NULL);
    seen[0] = ends > 0;
    seen[1] = (uint64_t)(trainer->schedule.step - before);
}

/* Level 1: windows of OPTION_MICROS micro-batches, the last with the rest. */
static void accumulate_by_hand(const Wire *in, Wire *out) {
    accumulate_open(in, out, ACCUMULATE_ARENA);
    int micros = window_run.option[OPTION_MICROS];
    for (int first = 0; first < window_run.batches; first += micros) {
        int left = window_run.batches - first;
        StepReport report = accumulate_window(&window_run.trainer, window_run.batch + first,
                                              left < micros ? left : micros);
        accumulate_done(&report);
    }
    accumulate_skipped(NULL);
    window_run_close();
}

static void accumulator_window(Accumulator *accumulator, Data *data, uint64_t *sync,
                               uint64_t *micro) {
    Batch batch;
    if (window_run.number < window_run.expected) {
        window_give_number("open.window", (uint64_t)accumulator->window);
        window_give_number("open.tokens", accumulator->tokens);
    }
    while (!accumulator->sync_gradients && data_next(data, &batch)) {
        accumulator_micro(accumulator, &batch);
        size_t row = (size_t)data_position(data).row - 1;
        sync[row] = accumulator->sync_gradients;
        micro[row] = (uint64_t)accumulator->micro;
    }
    StepReport report = accumulator_step(accumulator);
    schedule_tick(&window_run.trainer.schedule);
    accumulate_done(&report);
}

/* Level 2: the loop that level 3 will be, around the student's accumulator. */
static void accumulate_accumulator(const Wire *in, Wire *out) {
    accumulate_open(in, out, ACCUMULATE_ARENA);
    Data *data = data_from_batches(window_run.batch, window_run.batches);
    uint64_t *sync = wire_get(out, "sync_gradients", WIRE_U64, NULL);
    uint64_t *micro = wire_get(out, "micro", WIRE_U64, NULL);
    for (int epoch = 0; epoch < window_run.option[OPTION_EPOCHS]; epoch++) {
        Accumulator window;
        accumulator_init(&window, &window_run.trainer, window_run.option[OPTION_MICROS]);
        while (accumulator_open(&window, data)) {
            CHECK(!window.sync_gradients,
                  "a window opens, and is marked complete: accumulator_step() leaves none open, "
                  "with micro 0 and sync_gradients false");
            accumulator_window(&window, data, sync, micro);
        }
        CHECK(window.window == 0,
              "no micro-batch is left, and accumulator_open() leaves a window of %d",
              window.window);
        data_next_epoch(data);
    }
    data_free(data);
    window_run_close();
}

static bool accumulate_report(void *context, const StepReport *report) {
    CHECK(context == &window_run, "report() was not given its context");
    accumulate_done(report);
    return window_run.number != (size_t)window_run.option[OPTION_STOP];
}

/* Micro-batches of the epoch that are handed out after the last call, and after one more. */
static void accumulate_give_position(const Data *data, int i) {
    ((uint64_t *)wire_get(window_run.out, "position", WIRE_U64, NULL))[i] = data_position(data).row;
}

static void accumulate_run_epochs(void) {
    Data *data = data_from_batches(window_run.batch, window_run.batches);
    for (int epoch = 0; epoch < window_run.option[OPTION_EPOCHS]; epoch++) {
        train_epoch(&window_run.trainer, data, window_run.option[OPTION_MICROS], accumulate_report,
                    &window_run);
        accumulate_give_position(data, 0);
        data_next_epoch(data);
    }
    accumulate_skipped(data);
    accumulate_give_position(data, 1);
    data_free(data);
    window_run_close();
}

/* Level 3. */
static void accumulate_epochs(const Wire *in, Wire *out) {
    accumulate_open(in, out, ACCUMULATE_ARENA);
    accumulate_run_epochs();
}

/* The same in an arena that holds one micro-batch and no more. */
static void accumulate_tight(const Wire *in, Wire *out) {
    accumulate_open(in, out, *(const uint64_t *)wire_get(in, "arena", WIRE_U64, NULL));
    accumulate_run_epochs();
}

const ProbeCase probe_cases[] = {
    {"by_hand", accumulate_by_hand},
    {"accumulator", accumulate_accumulator},
    {"epochs", accumulate_epochs},
    {"tight", accumulate_tight},
    {NULL, NULL},
};
