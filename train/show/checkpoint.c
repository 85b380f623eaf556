/* Lab 04 on the screen: the memory of a plain and of a checkpointed step over time, and what every
   segment takes, predicted and counted.

       checkpoint --folder build/pictures --segment 2 --budget 16

   It shows what is there: the plain step before any task is done, and the rest task by task. What
   may reach a hole runs in a child (train/attempt.h), all of it before the first thread is
   started here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/crash.h"
#include "common/files.h"
#include "common/lab.h"
#include "labs/04_checkpoint/contract.h"
#include "train/attempt.h"
#include "train/measure.h"
#include "train/meter.h"
#include "train/timeline.h"

/* No dropout: it takes no memory, so that the picture is there before task 3 is. */
enum { B = 4, T = 128, L = 8, REPEAT = 5 };
static const ModelConfig config = {.V = 256, .T = T, .L = L, .NH = 4, .C = 128};

typedef struct Show {
    const char *folder;
    int segment; /* of the picture; 0: chosen for the budget */
    int budget;  /* MiB of activations */
    int status;  /* of the program, so far */
} Show;

/* ---- a step ---------------------------------------------------------------------------------- */

typedef struct Step {
    Device *device;
    Memory *memory;
    Model *model;
    double milliseconds[REPEAT];
} Step;

static void one_pass(Model *model, const Batch *batch) {
    if (model->checkpoint.segment > 0) {
        checkpoint_forward(model, batch);
        checkpoint_backward(model, 1.0f / (float)batch->valid);
    } else {
        model_forward(model, batch);
        model_backward(model, 1.0f / (float)batch->valid);
    }
}

/* Passes of a model; the last one is recorded. The first pays for what libraries set up. */
static Step step_new(int segment) {
    int32_t ids[B * T];
    for (int i = 0; i < B * T; i++) {
        ids[i] = i * 7 % config.V;
    }
    Batch batch = {.B = B, .T = T, .tokens = ids, .targets = ids, .valid = B * T};
    Step step = {.device = device_cpu_new(0)};
    if (step.device == NULL) {
        exit(EXIT_RUN);
    }
    step.memory = memory_new(step.device, (MemoryOptions){0});
    step.model = model_new(&config, step.memory, 1);
    step.model->checkpoint.segment = segment;
    one_pass(step.model, &batch);
    for (int i = 0; i < REPEAT; i++) {
        memory_peak_reset(step.memory);
        step.model->block_forwards = 0;
        memory_record(step.memory, i == REPEAT - 1);
        double began = now_ms();
        one_pass(step.model, &batch);
        step.milliseconds[i] = now_ms() - began;
    }
    memory_record(step.memory, false);
    return step;
}

static void step_free(Step *step) {
    model_free(step->model);
    memory_free(step->memory);
    device_free(step->device);
}

/* ---- what is tried in a child ---------------------------------------------------------------- */

/* Of a segment: what a step takes, if it finished, and what was predicted. */
typedef struct SegmentRow {
    size_t counted, predicted;
    int blocks; /* that ran forward */
    double milliseconds, noise;
    Attempt step, formula;
} SegmentRow;

static void count_step(void *context, void *result) {
    SegmentRow *row = result;
    Step step = step_new(*(const int *)context);
    row->counted = memory_peak(step.memory).bytes[MEMORY_ACTIVATIONS];
    row->blocks = (int)step.model->block_forwards;
    row->noise = noise(step.milliseconds, REPEAT);
    row->milliseconds = median(step.milliseconds, REPEAT);
    step_free(&step);
}

static void predict_step(void *context, void *result) {
    *(size_t *)result =
        checkpoint_bytes(&config, B, T, (Checkpoint){.segment = *(const int *)context});
}

static void choose(void *context, void *result) {
    const Show *show = context;
    *(int *)result = checkpoint_segment(&config, B, T, (size_t)show->budget << 20);
}

static SegmentRow row_of(int segment) {
    SegmentRow row;
    Attempt step = attempt(count_step, &segment, &row, sizeof row);
    row.step = step;
    row.formula = attempt(predict_step, &segment, &row.predicted, sizeof row.predicted);
    return row;
}

/* ---- the table ------------------------------------------------------------------------------- */

static bool differs(const SegmentRow *row) {
    return row->step.done && row->formula.done && row->counted != row->predicted;
}

static void print_bytes(const Attempt *made, size_t bytes) {
    if (made->done) {
        printf(" %15zu", bytes);
    } else {
        printf(" %15s", made->todo ? "not yet" : "failed");
    }
}

static void print_row(int S, const SegmentRow *row, bool chosen) {
    printf("  %7d", S);
    print_bytes(&row->formula, row->predicted);
    print_bytes(&row->step, row->counted);
    if (row->step.done) {
        printf(" %11d %6.1f", row->blocks, row->milliseconds);
    } else {
        printf(" %11s %6s", "-", "-");
    }
    if (differs(row)) {
        printf("  %+lld", (long long)row->counted - (long long)row->predicted);
    }
    printf("%s\n", chosen ? "  <- the picture" : "");
}

static const Attempt *attempt_of(const SegmentRow *rows, int i) {
    return i < L ? &rows[i].step : &rows[i - L].formula;
}

/* Each hole that was reached, once. */
static void print_holes(const SegmentRow *rows) {
    for (int i = 0; i < 2 * L; i++) {
        const Attempt *made = attempt_of(rows, i);
        bool first = made->todo;
        for (int before = 0; before < i; before++) {
            first = first && strcmp(attempt_of(rows, before)->said, made->said) != 0;
        }
        if (first) {
            printf("not yet: %s\n", made->said);
        }
    }
}

/* A sentence for each conclusion from the numbers. */
static void print_findings(const SegmentRow *rows) {
    int wrong = 0;
    double most = 1;
    for (int i = 0; i < L; i++) {
        wrong += differs(&rows[i]);
        most = rows[i].step.done && rows[i].noise > most ? rows[i].noise : most;
    }
    if (wrong > 0) {
        printf(
            "counted is not predicted in %d of %d rows (by the bytes at the end of the row): the "
            "step keeps\na tensor too long or drops one, or checkpoint_bytes() is wrong: make "
            "grade04 CHECK=bytes\n",
            wrong, L);
    }
    if (most > NOISE_BUSY) {
        printf(
            "The machine is busy: of %d passes the middle one took up to %.1f times as long as the "
            "fastest.\nms is the middle one; compare bytes, not times.\n",
            REPEAT, most);
    }
    print_holes(rows);
}

static void count_rows(Show *show, SegmentRow *rows) {
    Meter meter = meter_begin("segments", L);
    for (int i = 0; i < L; i++) {
        rows[i] = row_of(i + 1);
        if (rows[i].step.status != 0 || rows[i].formula.status != 0) {
            show->status = EXIT_RUN;
        }
        meter_tell(&meter, i + 1);
    }
    meter_clear(&meter);
}

static void print_segments(const SegmentRow *rows, int chosen) {
    printf("L %d, C %d, NH %d, batch (%d, %d): activations of a step\n\n"
           "  segment predicted bytes   counted bytes  blocks run     ms\n",
           L, config.C, config.NH, B, T);
    for (int S = 1; S <= L; S++) {
        print_row(S, &rows[S - 1], S == chosen);
    }
    print_findings(rows);
}

/* ---- the picture ----------------------------------------------------------------------------- */

/* The segment of the picture: that of --segment, or the one chosen, or until task 5 is done 1. */
static int settle_segment(Show *show) {
    int segment = show->segment;
    if (segment == 0) {
        Attempt chosen = attempt(choose, show, &segment, sizeof segment);
        if (chosen.todo) {
            printf("Task 5 chooses the segment for a budget; until then the picture is of segments "
                   "of 1.\n");
        } else if (!chosen.done) {
            show->status = EXIT_RUN;
        } else if (segment < 1 || segment > L) {
            fprintf(stderr, "no segment fits into %d MiB\n", show->budget);
            exit(EXIT_RUN);
        } else {
            printf("A budget of %d MiB: segments of %d.\n", show->budget, segment);
        }
    }
    return segment > 0 ? segment : 1;
}

/* The plain step above; the checkpointed one below it, where there is one. */
static int draw(const char *folder, int segment, bool checkpointed) {
    Step plain = step_new(0), less = {0};
    if (checkpointed) {
        less = step_new(segment);
    }
    char title[96], *path = path_join(folder, "memory04.svg");
    snprintf(title, sizeof title, "Checkpointed, segments of %d", segment);
    int failed =
        timeline_pictures((Memory *const[]){plain.memory, less.memory},
                          (const char *const[]){"A plain step", title}, 1 + checkpointed, path);
    if (!failed) {
        printf("\nMemory timeline%s: %s\n",
               checkpointed ? "s, plain above checkpointed"
                            : " of a plain step; yours comes below it",
               path);
    }
    free(path);
    if (checkpointed) {
        step_free(&less);
    }
    step_free(&plain);
    return failed;
}

static bool parse(int argc, char **argv, Show *show) {
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 < argc && strcmp(argv[i], "--folder") == 0) {
            show->folder = argv[i + 1];
            continue;
        }
        bool segment = strcmp(argv[i], "--segment") == 0;
        char *end = NULL;
        long value = i + 1 < argc ? strtol(argv[i + 1], &end, 10) : 0;
        bool known = segment || strcmp(argv[i], "--budget") == 0;
        if (!known || end == NULL || *end != '\0' || value < 1 || value > (segment ? L : 4096)) {
            return false;
        }
        *(segment ? &show->segment : &show->budget) = (int)value;
    }
    return true;
}

int main(int argc, char **argv) {
    Show show = {.folder = "build/pictures", .budget = 16};
    if (!parse(argc, argv, &show)) {
        fprintf(stderr, "usage: checkpoint [--folder DIR] [--segment 1..%d | --budget MIB]\n", L);
        return EXIT_USAGE;
    }
    if (folder_make(show.folder) != 0) {
        return EXIT_RUN;
    }
    crash_tell();
    SegmentRow rows[L];
    int segment = settle_segment(&show);
    count_rows(&show, rows);
    print_segments(rows, segment);
    if (draw(show.folder, segment, rows[segment - 1].step.done) != 0) {
        show.status = EXIT_RUN;
    }
    return stdout_flush() != 0 ? EXIT_RUN : show.status;
}
