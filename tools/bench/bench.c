/* Times full training steps (forward, backward, AdamW, zeroing) on one fixed batch; bench.py holds
   the outcome against a peer. Prints one line:

   ms=<median ms per step> pass_ms=<forward and backward alone> tokens_per_s=<of the median step>
   peak_mib=<growth of the resident set> counted_mib=<by memory.h> simulated=<a GPU that is none>
   bound_ms=<the least time of a step on this CPU: peak.h> peak_gflops=<of products,
   between the steps> copy_gbs=<of the rest, after them>; of a GPU none of the three

   Weights in half are updated through float masters, so that a step is a whole one: AdamW on the
   masters, then their rounding into the weights. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/files.h"
#include "common/lab.h"
#include "common/trainer.h"
#include "common/watch.h"
#include "tools/bench/peak.h"
#include "tools/bench/timing.h"
#include "train/measure.h"

typedef struct Setting {
    ModelConfig config;
    int B, steps;
    bool gpu;
} Setting;

/* The largest resident set of this program. Not getrusage(): its figure begins with that of the
   process that started us. 0 where there is no /proc. */
static double peak_mib(void) {
    FILE *status = fopen("/proc/self/status", "r");
    char line[128];
    long kib = 0;
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        sscanf(line, "VmHWM: %ld kB", &kib);
    }
    if (status != NULL) {
        fclose(status);
    }
    return (double)kib / 1024;
}

/* The number that an option sets; NULL for those that take a word. */
static int *number_of(Setting *s, int option) {
    switch (option) {
    case 'V':
        return &s->config.V;
    case 'L':
        return &s->config.L;
    case 'N':
        return &s->config.NH;
    case 'C':
        return &s->config.C;
    case 'T':
        return &s->config.T;
    case 'B':
        return &s->B;
    case 's':
        return &s->steps;
    default:
        return NULL;
    }
}

/* Whether the value of an option is one. */
static bool set(Setting *s, int option, const char *value) {
    char *end;
    int *number = number_of(s, option);
    if (number != NULL) {
        *number = (int)strtol(value, &end, 10);
        return *end == '\0' && *number > 0;
    }
    switch (option) {
    case 'p':
        s->config.precision = value[0] == 'b' ? BF16 : strcmp(value, "f16") == 0 ? F16 : F32;
        return true;
    case 'a':
        s->config.attention = value[0] == 'f' ? ATTENTION_FLASH : ATTENTION_PLAIN;
        return true;
    default:
        s->gpu = strcmp(value, "gpu") == 0;
        return s->gpu || strcmp(value, "cpu") == 0;
    }
}

static Setting parse(int argc, char **argv) {
    static const struct option names[] = {
        {"vocabulary", 1, NULL, 'V'}, {"layers", 1, NULL, 'L'},    {"heads", 1, NULL, 'N'},
        {"width", 1, NULL, 'C'},      {"time", 1, NULL, 'T'},      {"batch", 1, NULL, 'B'},
        {"steps", 1, NULL, 's'},      {"precision", 1, NULL, 'p'}, {"attention", 1, NULL, 'a'},
        {"device", 1, NULL, 'd'},     {NULL, 0, NULL, 0}};
    Setting s = {.config = {.V = 256, .T = 128, .L = 4, .NH = 4, .C = 128}, .B = 8, .steps = 20};
    for (int found; (found = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        if (found == '?') {
            exit(EXIT_USAGE); /* it has been said */
        }
        if (!set(&s, found, optarg)) {
            fprintf(stderr, "bench: %s is not a value of its option\n", optarg);
            exit(EXIT_USAGE);
        }
    }
    return s;
}

static const AdamW HYPER = {
    .beta1 = 0.9f, .beta2 = 0.999f, .epsilon = 1e-8f, .weight_decay = 0.1f, .learning_rate = 3e-4f};

/* The optimizer has updated the masters; lab 05 would round them, and is not here. */
static void write_weights(const Optimizer *optimizer) {
    const Model *model = optimizer->model;
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        model->ops->cast_from_float(param->weight, optimizer->master[i], param->count);
    }
}

/* The cost of the ops of a step: of those with products the FLOPs, of the others the bytes. */
static void count(void *context, const char *op, Cost cost) {
    (void)op;
    Cost *step = context;
    cost_add(step, 1, cost.flops > 0 ? (Cost){.flops = cost.flops} : cost);
}

/* The rate of a copy. The last thing of the program: it takes memory of its own. */
static double measure_copy(Device *device) {
    Timing timing = timing_new(device, (Effort){.round_ms = 100, .copy_bytes = 256 << 20});
    return timing_copy_rate(&timing);
}

int main(int argc, char **argv) {
    enum { WARM_UP = 2 };
    Setting s = parse(argc, argv);
    int N = s.B * s.config.T;
    double idle = peak_mib();
    Device *device = s.gpu ? device_gpu_new(ops_gpu) : device_cpu_new(0);
    if (device == NULL) {
        return 1;
    }
    Memory *memory = memory_new(device, (MemoryOptions){0});
    Model *model = model_new(&s.config, memory, 1);
    bool half = s.config.precision != F32;
    Optimizer *optimizer = optimizer_new(model, HYPER);
    /* Keeps gradients of f16 away from zero. AdamW divides it out again, up to its epsilon. */
    float loss_scale = s.config.precision == F16 ? 1024 : 1;
    int32_t *ids = malloc((size_t)(N + 1) * sizeof *ids);
    double *step_ms = malloc((size_t)s.steps * sizeof *step_ms);
    double *pass_ms = malloc((size_t)s.steps * sizeof *pass_ms);
    double *flops = malloc((size_t)s.steps * sizeof *flops);
    Rng rng = rng_new(1, RNG_DATA);
    for (int i = 0; i <= N; i++) {
        ids[i] = (int32_t)rng_below(&rng, (uint64_t)s.config.V);
    }
    Batch batch = {.B = s.B, .T = s.config.T, .tokens = ids, .targets = ids + 1, .valid = N};
    double loss = 0;
    Cost cost = {0};
    const Ops *ops = model->ops;
    for (int step = -WARM_UP; step < s.steps; step++) {
        bool first = step == -WARM_UP;
        model->ops = first ? ops_watch((Watch){ops, s.config.precision, NULL, count, &cost}) : ops;
        double begin = now_ms();
        loss = model_forward(model, &batch) / N;
        model_backward(model, loss_scale / (float)N);
        device_synchronize(device);
        double passed = now_ms();
        optimizer_step(optimizer, HYPER.learning_rate);
        if (half) {
            write_weights(optimizer);
        }
        model_zero_grad(model);
        device_synchronize(device);
        if (step >= 0) {
            pass_ms[step] = passed - begin;
            step_ms[step] = now_ms() - begin;
            /* Between the steps: what a neighbour takes of the cores differs by the second. */
            flops[step] = s.gpu ? 0 : peak_flops();
        }
    }
    MemoryUse peak = memory_peak(memory);
    double ms = median(step_ms, s.steps), resident = peak_mib() - idle;
    printf("ms=%.3f pass_ms=%.3f tokens_per_s=%.0f peak_mib=%.1f counted_mib=%.1f simulated=%d "
           "loss=%.4f",
           ms, median(pass_ms, s.steps), 1e3 * N / ms, resident, memory_mib(memory_total(&peak)),
           device->simulated, loss);
    if (!s.gpu) {
        Peak most = {.flops = median(flops, s.steps), .bytes = measure_copy(device)};
        printf(" bound_ms=%.3f peak_gflops=%.1f copy_gbs=%.2f", peak_ms(most, cost),
               most.flops * 1e-6, most.bytes * 1e-6);
    }
    printf(" device=\"%s\"\n", device->note);
    return stdout_flush() == 0 ? 0 : EXIT_RUN;
}
