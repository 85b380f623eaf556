/* The micro-batches of a pipeline's first stage, on one stack and in lanes.

       lanes --micro_batches 6 --in_flight 2 --picture lanes.svg

   On one stack the last forward has to be the first backward, so all forwards come first and every
   micro-batch is kept. In lanes a micro-batch goes back as soon as its gradient is here, and its
   lane is used again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/files.h"
#include "common/lab.h"
#include "common/model.h"
#include "train/timeline.h"

enum { B = 4, T = 64, MOST = 32 };
static const ModelConfig config = {.V = 256, .T = T, .L = 2, .NH = 4, .C = 64};

typedef struct LanesShow {
    int micro_batches, in_flight;
    const char *picture; /* NULL for none */
} LanesShow;

/* A stage of its own: a model, and a pass for each micro-batch in flight. */
typedef struct Stage {
    Device *device;
    Memory *memory;
    Model *model;
    Pass pass[MOST];
    int passes;
} Stage;

static Stage stage_new(int passes, bool lanes) {
    Stage stage = {.device = device_cpu_new(0), .passes = passes};
    if (stage.device == NULL) {
        exit(EXIT_RUN);
    }
    stage.memory = memory_new(stage.device, (MemoryOptions){0});
    stage.model = model_new(&config, stage.memory, 1);
    for (int i = 0; i < passes; i++) {
        char name[32];
        snprintf(name, sizeof name, "lane %d", i);
        Memory *memory = lanes ? memory_lane(stage.memory, name) : stage.memory;
        stage.pass[i] = pass_new(stage.model, memory, NULL);
    }
    return stage;
}

static void stage_free(Stage *stage) {
    for (int i = 0; i < stage->passes; i++) {
        pass_free(&stage->pass[i]);
    }
    model_free(stage->model);
    memory_free(stage->memory);
    device_free(stage->device);
}

static void forward(Stage *stage, int micro) {
    static const int32_t ids[B * T];
    Batch batch = {.B = B, .T = T, .tokens = ids, .targets = ids, .valid = B * T};
    pass_forward(&stage->pass[micro % stage->passes], &batch);
}

static void backward(Stage *stage, int micro) {
    pass_backward(&stage->pass[micro % stage->passes], 1.0f / (B * T));
}

/* The first pass is slower than the others; the picture begins after it. */
static void warm_up(Stage *stage) {
    forward(stage, 0);
    backward(stage, 0);
    memory_peak_reset(stage->memory);
    memory_record(stage->memory, true);
}

static Stage on_one_stack(const LanesShow *show) {
    Stage stage = stage_new(show->micro_batches, false);
    warm_up(&stage);
    for (int micro = 0; micro < show->micro_batches; micro++) {
        forward(&stage, micro);
    }
    for (int micro = show->micro_batches - 1; micro >= 0; micro--) {
        backward(&stage, micro);
    }
    return stage;
}

static Stage in_lanes(const LanesShow *show) {
    Stage stage = stage_new(show->in_flight, true);
    warm_up(&stage);
    for (int micro = 0; micro < show->micro_batches + show->in_flight; micro++) {
        if (micro >= show->in_flight) {
            backward(&stage, micro - show->in_flight);
        }
        if (micro < show->micro_batches) {
            forward(&stage, micro);
        }
    }
    return stage;
}

static void print_peak(const char *way, const Stage *stage) {
    MemoryUse peak = memory_peak(stage->memory);
    printf("  %-9s %10zu bytes at the peak, %10zu of them activations\n", way, memory_total(&peak),
           peak.bytes[MEMORY_ACTIVATIONS]);
}

static int show_both(const LanesShow *show) {
    Stage stack = on_one_stack(show), lanes = in_lanes(show);
    Memory *const memory[] = {stack.memory, lanes.memory};
    static const char *const title[] = {
        "One stack: every micro-batch is kept until the last forward has run",
        "Lanes: each micro-batch goes as soon as its backward has run"};
    printf("%d micro-batches, %d in flight in lanes\n\n", show->micro_batches, show->in_flight);
    print_peak("one stack", &stack);
    print_peak("lanes", &lanes);
    int result = show->picture == NULL ? 0 : timeline_pictures(memory, title, 2, show->picture);
    stage_free(&stack);
    stage_free(&lanes);
    return result;
}

static bool parse(int argc, char **argv, LanesShow *show) {
    for (int i = 1; i + 1 < argc; i += 2) {
        char *end;
        long value = strtol(argv[i + 1], &end, 10);
        bool number = end != argv[i + 1] && *end == '\0' && value >= 1 && value <= MOST;
        if (strcmp(argv[i], "--picture") == 0) {
            show->picture = argv[i + 1];
        } else if (strcmp(argv[i], "--micro_batches") == 0 && number) {
            show->micro_batches = (int)value;
        } else if (strcmp(argv[i], "--in_flight") == 0 && number) {
            show->in_flight = (int)value;
        } else {
            return false;
        }
    }
    return argc % 2 == 1 && show->in_flight <= show->micro_batches;
}

int main(int argc, char **argv) {
    LanesShow show = {.micro_batches = 6, .in_flight = 2};
    if (!parse(argc, argv, &show)) {
        fprintf(stderr, "usage: lanes [--micro_batches 1..32] [--in_flight 1..micro_batches] "
                        "[--picture FILE.svg]\n");
        return EXIT_USAGE;
    }
    int result = show_both(&show);
    return result == 0 && stdout_flush() == 0 ? 0 : EXIT_RUN;
}
