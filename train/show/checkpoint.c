/* Lab 04 on the screen: the memory of a plain and of a checkpointed step over time, and what every
   segment takes, predicted and counted.

       checkpoint --folder build/pictures --segment 2 --budget 16
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/files.h"
#include "common/lab.h"
#include "labs/04_checkpoint/contract.h"
#include "train/timeline.h"

enum { B = 4, T = 128 };
static const ModelConfig config = {.V = 256, .T = T, .L = 8, .NH = 4, .C = 128, .dropout = 0.1f};

typedef struct Show {
    const char *folder;
    int segment; /* of the picture; 0: chosen for the budget */
    int budget;  /* MiB of activations */
} Show;

/* The memory and the time of a step. */
typedef struct Step {
    Memory *memory;
    Model *model;
    double milliseconds;
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

/* The second of two passes is looked at: the first pays for what libraries set up. */
static Step step_new(Device *device, int segment) {
    int32_t ids[B * T];
    for (int i = 0; i < B * T; i++) {
        ids[i] = i * 7 % config.V;
    }
    Batch batch = {.B = B, .T = T, .tokens = ids, .targets = ids, .valid = B * T};
    Step step = {.memory = memory_new(device, (MemoryOptions){0})};
    step.model = model_new(&config, step.memory, 1);
    step.model->checkpoint.segment = segment;
    one_pass(step.model, &batch);
    memory_peak_reset(step.memory);
    step.model->block_forwards = 0;
    memory_record(step.memory, true);
    double begin = now();
    one_pass(step.model, &batch);
    step.milliseconds = 1e3 * (now() - begin);
    memory_record(step.memory, false);
    return step;
}

static void step_free(Step *step) {
    model_free(step->model);
    memory_free(step->memory);
}

static size_t activations(const Step *step) {
    return memory_peak(step->memory).bytes[MEMORY_ACTIVATIONS];
}

/* All segments, so that the neighbours of a choice can be compared with it. */
static void print_segments(Device *device, int chosen) {
    printf("L %d, C %d, NH %d, batch (%d, %d): activations of a step\n\n"
           "  segment  predicted bytes  counted bytes  blocks run     ms\n",
           config.L, config.C, config.NH, B, T);
    for (int S = 1; S <= config.L; S++) {
        Step step = step_new(device, S);
        printf("  %7d %16zu %14zu %11d %6.1f%s\n", S,
               checkpoint_bytes(&config, B, T, (Checkpoint){.segment = S}), activations(&step),
               (int)step.model->block_forwards, step.milliseconds, S == chosen ? "  <-" : "");
        step_free(&step);
    }
}

static int draw(Device *device, const char *folder, int segment) {
    Device *second = device_cpu_new(0);
    if (second == NULL) {
        return -1;
    }
    Step plain = step_new(device, 0), less = step_new(second, segment);
    char title[96], *path = path_join(folder, "memory04.svg");
    snprintf(title, sizeof title, "Checkpointed, segments of %d", segment);
    int failed = timeline_pictures((Memory *const[]){plain.memory, less.memory},
                                   (const char *const[]){"A plain step", title}, 2, path);
    if (!failed) {
        printf("\nMemory timelines: %s\n", path);
    }
    free(path);
    step_free(&less);
    step_free(&plain);
    device_free(second);
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
        if (!known || end == NULL || *end != '\0' || value < 1 ||
            value > (segment ? config.L : 4096)) {
            return false;
        }
        *(segment ? &show->segment : &show->budget) = (int)value;
    }
    return true;
}

int main(int argc, char **argv) {
    Show show = {.folder = "build/pictures", .budget = 16};
    if (!parse(argc, argv, &show)) {
        fprintf(stderr, "usage: checkpoint [--folder DIR] [--segment 1..%d | --budget MIB]\n",
                config.L);
        return EXIT_USAGE;
    }
    int segment = show.segment;
    if (segment == 0) {
        segment = checkpoint_segment(&config, B, T, (size_t)show.budget << 20);
        if (segment == 0) {
            fprintf(stderr, "no segment fits into %d MiB\n", show.budget);
            return EXIT_RUN;
        }
        printf("A budget of %d MiB: segments of %d.\n", show.budget, segment);
    }
    Device *device = device_cpu_new(0);
    if (device == NULL || folder_make(show.folder) != 0) {
        return EXIT_RUN;
    }
    print_segments(device, segment);
    int failed = draw(device, show.folder, segment);
    device_free(device);
    return stdout_flush() != 0 || failed ? EXIT_RUN : 0;
}
