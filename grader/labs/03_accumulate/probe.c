/* Lab 03 in the probe: windows of micro-batches, on each of the three levels. What happens is seen
   from beside (grader/probe_watch.h). */
#include <stdlib.h>
#include <string.h>

#include "grader/labs/03_accumulate/shared.h"
#include "grader/probe.h"
#include "labs/03_accumulate/contract.h"

/* ---- more windows, of passes that only count ------------------------------------------------- */

/* How often they ran, with the trainer that is given and with a second one; and how often anything
   did with one whose turn it was not. */
static uint64_t ends, passes[2], strays;
static int step_at_end; /* of the schedule, when the first update is skipped */
static Trainer second;
static const Trainer *at_work;

static double accumulate_count_forward(Trainer *trainer, const Batch *batch) {
    int which = trainer == &second;
    passes[which]++;
    return (double)(MORE_LOSS + which) * batch->valid;
}

static void accumulate_count_backward(Trainer *trainer, float share) {
    strays += trainer != at_work;
    (void)share;
}

/* An end of a window that skips its update. */
static void accumulate_skip(Trainer *trainer, StepReport *report) {
    strays += trainer != at_work;
    model_zero_grad(trainer->model);
    report->skipped = true;
    step_at_end = ends++ == 0 ? trainer->schedule.step : step_at_end;
}

static Trainer *accumulate_counting(void) {
    Trainer *trainer = &window_run.trainer;
    trainer->forward = accumulate_count_forward;
    trainer->backward = accumulate_count_backward;
    passes[0] = passes[1] = strays = 0;
    at_work = trainer;
    return trainer;
}

/* How many windows were skipped, the ticks in them, and those before the first one's end. */
static void accumulate_give_skipped(int ticks_before) {
    uint64_t *seen = wire_get(window_run.out, "skipped", WIRE_U64, NULL);
    seen[0] = ends;
    seen[1] = (uint64_t)(window_run.trainer.schedule.step - ticks_before);
    seen[2] = ends > 0 ? (uint64_t)(step_at_end - ticks_before) : 0;
}

static void accumulate_give_more(int run, const StepReport *report, uint64_t ran) {
    ((float *)wire_get(window_run.out, "more.loss", WIRE_F32, NULL))[run] = (float)report->loss;
    ((uint64_t *)wire_get(window_run.out, "more.tokens", WIRE_U64, NULL))[run] = report->tokens;
    ((uint64_t *)wire_get(window_run.out, "more.passes", WIRE_U64, NULL))[run] = ran + strays;
}

/* Level 1: a long window of large micro-batches, whose update is skipped. All their tokens are the
   same zeros, which take no memory while they are only read. */
static void accumulate_long(void) {
    Batch many[MORE_LONG];
    Trainer *trainer = accumulate_counting();
    int before = trainer->schedule.step;
    const int32_t *zeros = calloc((size_t)MORE_SIDE * MORE_SIDE, sizeof *zeros);
    CHECK(zeros != NULL, "no host memory");
    for (int i = 0; i < MORE_LONG; i++) {
        many[i] = (Batch){MORE_SIDE, MORE_SIDE, zeros, zeros, MORE_SIDE * MORE_SIDE, false};
    }
    trainer->update = accumulate_skip;
    StepReport report = accumulate_window(trainer, many, MORE_LONG);
    accumulate_give_more(0, &report, passes[0]);
    accumulate_give_skipped(before);
    free((void *)zeros);
}

/* Micro-batches with more targets than an int counts, if two are added. */
static Data *accumulate_large_data(void) {
    Batch large[MORE_MICROS];
    for (int i = 0; i < MORE_MICROS; i++) {
        large[i] = window_run.batch[0];
        large[i].valid = INT32_MAX;
    }
    return data_from_batches(large, MORE_MICROS);
}

/* Windows of `count` accumulators side by side, whose updates are skipped; afterwards none is open.
   One that is complete too early says so, and the rest is left out. */
static void accumulate_side_by_side(int count, int run) {
    Accumulator pair[2];
    Data *data[2];
    Trainer *trainer[2] = {&window_run.trainer, &second};
    bool good = true;
    memset(pair, 0xff, sizeof pair); /* a loss of NaN: accumulator_init() sets it */
    for (int k = 0; k < count; k++) {
        data[k] = accumulate_large_data();
        accumulator_init(&pair[k], trainer[k], MORE_MICROS);
        good = accumulator_open(&pair[k], data[k]) && good;
    }
    for (int i = 0; i < MORE_MICROS * count && good; i++) {
        Batch batch;
        int k = i % count;
        at_work = trainer[k];
        good = data_next(data[k], &batch) && !pair[k].sync_gradients;
        if (good) {
            accumulator_micro(&pair[k], &batch);
        }
    }
    for (int k = 0; k < count && good && pair[k].sync_gradients; k++) {
        at_work = trainer[k];
        StepReport report = accumulator_step(&pair[k]);
        accumulate_give_more(run + k, &report, passes[k]);
        accumulator_open(&pair[k], data[k]);
    }
    for (int k = 0; k < count; k++) {
        data_free(data[k]);
    }
}

/* Windows of an accumulator, to the end of an epoch: how many micro-batches each has. */
static void accumulate_to_the_end(Accumulator *accumulator, Data *data, uint64_t *size,
                                  int *count) {
    Batch batch;
    while (*count < MORE_REUSED && accumulator_open(accumulator, data)) {
        while (!accumulator->sync_gradients && data_next(data, &batch)) {
            accumulator_micro(accumulator, &batch);
            size[*count]++;
        }
        if (!accumulator->sync_gradients) {
            return;
        }
        StepReport report = accumulator_step(accumulator);
        accumulate_give_more((*count)++ == 0 ? MORE_RUNS - 2 : MORE_RUNS - 1, &report, 0);
    }
}

/* One accumulator, prepared once more while a window is open; then two epochs, and other data. */
static void accumulate_reused(void) {
    uint64_t *size = wire_get(window_run.out, "reused", WIRE_U64, NULL);
    Data *four = data_from_batches(window_run.batch, MORE_MICROS + 1);
    Data *other = data_from_batches(window_run.batch, MORE_MICROS - 1);
    Accumulator accumulator;
    Batch batch;
    int count = 0;
    memset(size, 0, MORE_REUSED * sizeof *size);
    at_work = &window_run.trainer;
    strays = 0;
    accumulator_init(&accumulator, &window_run.trainer, MORE_MICROS);
    if (accumulator_open(&accumulator, other) && data_next(other, &batch)) {
        accumulator_micro(&accumulator, &batch);
    }
    data_next_epoch(other);
    accumulator_init(&accumulator, &window_run.trainer, MORE_MICROS);
    accumulate_to_the_end(&accumulator, four, size, &count);
    data_next_epoch(four);
    accumulate_to_the_end(&accumulator, four, size, &count);
    accumulate_to_the_end(&accumulator, other, size, &count);
    data_free(other);
    data_free(four);
}

/* Level 2: one, then two at once, then one for several epochs. */
static void accumulate_pair(void) {
    accumulate_counting()->update = accumulate_skip;
    second = window_run.trainer;
    for (int run = 0; run < MORE_RUNS; run++) { /* of those that do not finish */
        accumulate_give_more(run, &(StepReport){0}, 0);
    }
    accumulate_side_by_side(1, 0);
    accumulate_counting();
    accumulate_side_by_side(2, 1);
    accumulate_reused();
}

/* The micro-batches that are handed out after each window that is reported. */
typedef struct RestNotes {
    const Data *data;
    int count;
} RestNotes;

static bool accumulate_note(void *context, const StepReport *report) {
    RestNotes *notes = context;
    (void)report;
    uint64_t *rest = wire_get(window_run.out, "rest", WIRE_U64, NULL);
    if (notes->count < MORE_REPORTS) {
        rest[notes->count++] = data_position(notes->data).row;
    }
    return true;
}

static bool accumulate_stop(void *context, const StepReport *report) {
    (void)context, (void)report;
    return false;
}

/* Micro-batches of the epoch that are handed out after the last call, and after one more. */
static void accumulate_give_position(const Data *data, int i) {
    ((uint64_t *)wire_get(window_run.out, "position", WIRE_U64, NULL))[i] = data_position(data).row;
}

/* Level 3: one window of one micro-batch; then the rest of the epoch, whose updates are skipped;
   then there is nothing left. Then an epoch after the last step of the schedule; and one that is
   shorter than a window of the most micro-batches that there can be. */
static void accumulate_rest(Data *data) {
    Trainer *trainer = accumulate_counting();
    RestNotes notes = {.data = data};
    memset(wire_get(window_run.out, "rest", WIRE_U64, NULL), 0, MORE_REPORTS * sizeof(uint64_t));
    train_epoch(trainer, data, 1, accumulate_stop, &notes);
    accumulate_give_position(data, 1);
    int before = trainer->schedule.step;
    trainer->update = accumulate_skip;
    train_epoch(trainer, data, MORE_MICROS, accumulate_note, &notes);
    train_epoch(trainer, data, MORE_MICROS, accumulate_note, &notes);
    accumulate_give_skipped(before);
    trainer->schedule.step = trainer->schedule.max_steps;
    data_next_epoch(data);
    train_epoch(trainer, data, MORE_MICROS, accumulate_note, &notes);
    data_next_epoch(data);
    train_epoch(trainer, data, INT32_MAX, accumulate_note, &notes);
}

/* ---- cases ----------------------------------------------------------------------------------- */

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
    if (window_run.option[OPTION_MORE]) {
        accumulate_long();
    }
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
        CHECK(!window.sync_gradients && window.micro == 0,
              "no micro-batch is left, and accumulator_open() leaves a window marked as complete");
        data_next_epoch(data);
    }
    data_free(data);
    if (window_run.option[OPTION_MORE]) {
        accumulate_pair();
    }
    window_run_close();
}

static bool accumulate_report(void *context, const StepReport *report) {
    CHECK(context == &window_run, "report() was not given its context");
    accumulate_done(report);
    return window_run.number != (size_t)window_run.option[OPTION_STOP];
}

static void accumulate_run_epochs(void) {
    Data *data = data_from_batches(window_run.batch, window_run.batches);
    for (int epoch = 0; epoch < window_run.option[OPTION_EPOCHS]; epoch++) {
        train_epoch(&window_run.trainer, data, window_run.option[OPTION_MICROS], accumulate_report,
                    &window_run);
        accumulate_give_position(data, 0);
        data_next_epoch(data);
    }
    if (window_run.option[OPTION_MORE]) {
        accumulate_rest(data);
    }
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
