/* The cost of accumulation, checkpointing and adapters, as ratios of things timed in turn in one
   run:

   accumulation    a window, update and all, to its micro-batches' own forward and backward
   checkpointing   a step that runs every block again to a plain one; and its activations to the
                   blocks' inputs and one whole block
   adapters        a step that trains adapters of rank 8 to one that trains the model; the aim is
                   the ratio of their arithmetic, and a tenth

   Prints a line for each with the aim. --rounds N: how often each is timed (27; on a GPU, which may
   be a simulated one, 9); --device gpu. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/files.h"
#include "common/lab.h"
#include "kernels/cost.h"
#include "labs/03_accumulate/contract.h"
#include "labs/10_lora/contract.h"
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

/* A model wide enough for its matrices to be the work, and adapters beside c_attn. Those of CONFIG
   have them too, where attention and the ops between are a larger part. */
static const ModelConfig WIDE = {.V = 256, .T = T, .L = 2, .NH = 6, .C = 384};
static const Adapter ADAPTER = {.rank = 8, .targets = 1 << LINEAR_QKV, .alpha = 16};

/* It, and its twin with adapters. */
static Trainer whole, thin;

static void step_whole(Trainer *trainer, const Batch *batches) {
    (void)trainer;
    step(&whole, batches);
}

static void step_thin(Trainer *trainer, const Batch *batches) {
    (void)trainer;
    step(&thin, batches);
}

/* FLOPs of a linear layer, forward and backward; with `frozen` the gradient of its weight goes. */
static double linear_flops(double C, double OC, bool frozen) {
    double N = B * T;
    return matmul_forward_cost(N, C, OC, true, 4).flops +
           matmul_backward_cost(N, C, OC, true, !frozen, !frozen, 4).flops;
}

/* FLOPs of a step, with adapters or without. Of a branch the first product runs again. */
static double step_flops(const ModelConfig *config, const Adapter *adapter) {
    double C = config->C, NH = config->NH, r = adapter->rank, N = B * T;
    const double in[BLOCK_LINEARS] = {C, C, C, 4 * C}, out[BLOCK_LINEARS] = {3 * C, C, 4 * C, C};
    double block = attention_forward_cost(B, T, C, NH, 4).flops +
                   attention_backward_cost(B, T, C, NH, 4).flops;
    for (int id = 0; id < BLOCK_LINEARS; id++) {
        block += linear_flops(in[id], out[id], r > 0);
        if (adapter->targets >> id & 1) {
            block += linear_flops(in[id], r, false) + linear_flops(r, out[id], false) +
                     matmul_forward_cost(N, in[id], r, false, 4).flops;
        }
    }
    return config->L * block + linear_flops(C, config->V, r > 0);
}

static Trainer trainer_of(const Trainer *like, ModelConfig config, const Adapter *adapter,
                          Memory *memory) {
    config.adapter = *adapter;
    Trainer trainer = *like;
    trainer.model = model_new(&config, memory, 1);
    if (adapter->rank > 0) {
        lora_init(trainer.model, 1);
        adapters_attach(trainer.model);
    }
    trainer.optimizer = optimizer_new(trainer.model, HYPER);
    return trainer;
}

static void bench_adapters(Trainer *trainer, const ModelConfig *config, const Batch *batches,
                           int rounds) {
    const Adapter none = {0};
    Memory *memory = memory_new(trainer->model->device, (MemoryOptions){0});
    Memory *other = memory_new(trainer->model->device, (MemoryOptions){0});
    whole = trainer_of(trainer, *config, &none, memory);
    thin = trainer_of(trainer, *config, &ADAPTER, other);
    Contest contest = {.ways = {step_thin, step_whole}};
    compare(trainer, batches, 2 * rounds, &contest);
    double work = step_flops(config, &ADAPTER) / step_flops(config, &none);
    printf("adapters       %8.2f ms with adapters, %8.2f ms the whole model of %d channels; of its "
           "arithmetic %.3f",
           contest.ms[0], contest.ms[1], config->C, work);
    judge(contest.ms[0] / contest.ms[1], work + 0.1);
    optimizer_free(thin.optimizer);
    optimizer_free(whole.optimizer);
    model_free(thin.model);
    model_free(whole.model);
    memory_free(other);
    memory_free(memory);
}

static void bench(Trainer *trainer, const Batch *batches, int rounds) {
    Contest contest = {.ways = {window, passes}};
    compare(trainer, batches, rounds, &contest);
    printf("accumulation   %8.2f ms a window of %d, %8.2f ms its passes alone", contest.ms[0],
           MICRO_BATCHES, contest.ms[1]);
    judge(contest.ms[0] / contest.ms[1], 1.02);
    model_zero_grad(trainer->model);

    contest.ways[0] = step_again;
    contest.ways[1] = step;
    compare(trainer, batches, 4 * rounds, &contest);
    printf("checkpointing  %8.2f ms with every block again, %8.2f ms plain", contest.ms[0],
           contest.ms[1]);
    judge(contest.ms[0] / contest.ms[1], 1.25);

    Device *device = trainer->model->device;
    size_t boundary = (size_t)B * T * (size_t)CONFIG.C * sizeof(float);
    size_t kept = activations(CONFIG, CONFIG.L, 1, device);
    size_t one = activations(CONFIG, 1, 0, device) + (size_t)(CONFIG.L - 1) * boundary;
    printf("               %8zu bytes of activations, %8zu in the inputs and one block", kept, one);
    judge((double)kept / (double)one, 1.01);
    bench_adapters(trainer, &WIDE, batches, rounds);
    bench_adapters(trainer, &CONFIG, batches, 2 * rounds);
}

int main(int argc, char **argv) {
    static const struct option names[] = {
        {"rounds", 1, NULL, 'r'}, {"device", 1, NULL, 'd'}, {NULL, 0, NULL, 0}};
    int asked = 0;
    bool gpu = false, given = false;
    for (int found; (found = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        if (found == 'r') {
            asked = atoi(optarg);
            given = true;
        } else if (found == 'd') {
            gpu = strcmp(optarg, "gpu") == 0;
        } else {
            return EXIT_USAGE;
        }
    }
    /* neighbours on a virtual machine make one round differ from the next by a tenth */
    int rounds = given ? asked : gpu ? 9 : 27;
    if (rounds < 1 || 4 * rounds > MOST_ROUNDS) {
        fprintf(stderr, "--rounds: 1 to %d\n", MOST_ROUNDS / 4);
        return EXIT_USAGE;
    }
    lab_need("10", gpu);
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
    printf("%d aim%s missed\n", missed, missed == 1 ? "" : "s");
    optimizer_free(trainer.optimizer);
    model_free(model);
    memory_free(memory);
    device_free(device);
    return stdout_flush() == 0 ? 0 : EXIT_RUN;
}
