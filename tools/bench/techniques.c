/* The cost of accumulation and checkpointing, as ratios of things timed in turn in one run:

   accumulation    a window, update and all, to its micro-batches' own forward and backward
   checkpointing   a step that runs every block again to a plain one; and its activations to the
                   blocks' inputs and one whole block

   Prints a line for each with the aim. --rounds N: how often each is timed (9); --device gpu. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/files.h"
#include "common/lab.h"
#include "labs/03_accumulate/contract.h"
#include "train/labs.h"
#include "train/measure.h"
#include "train/techniques.h"

enum { B = 8, T = 128, MICRO_BATCHES = 8, MOST_ROUNDS = 1000 };

static const ModelConfig CONFIG = {.V = 256, .T = T, .L = 4, .NH = 4, .C = 128};
static const AdamW HYPER = {.beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-8f, .weight_decay = 0.1f};

/* Two ways to do some work, timed in turn. */
typedef struct Contest {
    void (*ways[2])(Trainer *trainer, const Batch *batches);
    double ms[2]; /* medians */
} Contest;

static int missed;

static void compare(Trainer *trainer, const Batch *batches, int rounds, Contest *contest) {
    Device *device = trainer->model->device;
    static double ms[2][MOST_ROUNDS];
    for (int round = -1; round < rounds; round++) { /* the first one warms up */
        for (int way = 0; way < 2; way++) {
            device_synchronize(device);
            double begin = now_ms();
            contest->ways[way](trainer, batches);
            device_synchronize(device);
            if (round >= 0) {
                ms[way][round] = now_ms() - begin;
            }
        }
    }
    for (int way = 0; way < 2; way++) {
        contest->ms[way] = median(ms[way], rounds);
    }
}

static void judge(double ratio, double aim) {
    printf("  ratio %.3f, aim %.2f%s\n", ratio, aim, ratio <= aim ? "" : "  MISSED");
    missed += !(ratio <= aim);
}

static void window(Trainer *trainer, const Batch *batches) {
    accumulate_window(trainer, batches, MICRO_BATCHES);
}

static void passes(Trainer *trainer, const Batch *batches) {
    for (int i = 0; i < MICRO_BATCHES; i++) {
        model_forward(trainer->model, &batches[i]);
        model_backward(trainer->model, 1.0f / (float)batches[i].valid);
    }
}

static void step(Trainer *trainer, const Batch *batches) {
    accumulate_window(trainer, batches, 1);
}

static void step_again(Trainer *trainer, const Batch *batches) {
    trainer->model->checkpoint = (Checkpoint){.segment = 1};
    step(trainer, batches);
    trainer->model->checkpoint = (Checkpoint){0};
}

static size_t activations(ModelConfig config, int L, int segment, Device *device) {
    MemoryUse peak;
    config.L = L;
    Trainer way = {0};
    techniques_set(&way);
    trainer_measure_as(&way, &config, (Checkpoint){.segment = segment}, B, T, device, &peak);
    return peak.bytes[MEMORY_ACTIVATIONS];
}

static void bench(Trainer *trainer, const Batch *batches, int rounds) {
    Contest contest = {.ways = {window, passes}};
    compare(trainer, batches, rounds, &contest);
    printf("accumulation   %8.2f ms a window of %d, %8.2f ms its passes alone", contest.ms[0],
           MICRO_BATCHES, contest.ms[1]);
    judge(contest.ms[0] / contest.ms[1], 1.03);
    model_zero_grad(trainer->model);

    contest.ways[0] = step_again;
    contest.ways[1] = step;
    compare(trainer, batches, 4 * rounds, &contest);
    printf("checkpointing  %8.2f ms with every block again, %8.2f ms plain", contest.ms[0],
           contest.ms[1]);
    judge(contest.ms[0] / contest.ms[1], 1.36);

    Device *device = trainer->model->device;
    size_t boundary = (size_t)B * T * (size_t)CONFIG.C * sizeof(float);
    size_t kept = activations(CONFIG, CONFIG.L, 1, device);
    size_t one = activations(CONFIG, 1, 0, device) + (size_t)(CONFIG.L - 1) * boundary;
    printf("               %8zu bytes of activations, %8zu in the inputs and one block", kept, one);
    judge((double)kept / (double)one, 1.01);
}

int main(int argc, char **argv) {
    static const struct option names[] = {
        {"rounds", 1, NULL, 'r'}, {"device", 1, NULL, 'd'}, {NULL, 0, NULL, 0}};
    int rounds = 9;
    bool gpu = false;
    for (int found; (found = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        if (found == 'r') {
            rounds = atoi(optarg);
        } else if (found == 'd') {
            gpu = strcmp(optarg, "gpu") == 0;
        } else {
            return EXIT_USAGE;
        }
    }
    if (rounds < 1 || 4 * rounds > MOST_ROUNDS) {
        fprintf(stderr, "--rounds: 1 to %d\n", MOST_ROUNDS / 4);
        return EXIT_USAGE;
    }
    lab_need("04", gpu);
    lab_need("03", gpu);
    Device *device = gpu ? device_gpu_new(ops_gpu) : device_cpu_new(0);
    if (device == NULL) {
        return EXIT_RUN;
    }
    Memory *memory = memory_new(device, (MemoryOptions){0});
    Model *model = model_new(&CONFIG, memory, 1);
    Trainer trainer = {.model = model,
                       .optimizer = optimizer_new(model, HYPER),
                       .schedule = {.decay = DECAY_CONSTANT, .learning_rate = 3e-4f},
                       .max_grad_norm = 1};
    techniques_set(&trainer);
    static int32_t ids[MICRO_BATCHES * B * T + 1];
    Batch batches[MICRO_BATCHES];
    Rng rng = rng_new(1, RNG_DATA);
    for (int i = 0; i <= MICRO_BATCHES * B * T; i++) {
        ids[i] = (int32_t)rng_below(&rng, 256);
    }
    for (int i = 0; i < MICRO_BATCHES; i++) {
        int32_t *tokens = ids + (ptrdiff_t)i * B * T;
        batches[i] =
            (Batch){.B = B, .T = T, .tokens = tokens, .targets = tokens + 1, .valid = B * T};
    }
    printf("%s, %s; medians of %d rounds\n", device->name, device->note, rounds);
    bench(&trainer, batches, rounds);
    printf("%d aims missed\n", missed);
    optimizer_free(trainer.optimizer);
    model_free(model);
    memory_free(memory);
    device_free(device);
    return stdout_flush() == 0 ? 0 : EXIT_RUN;
}
