/* Times full training steps (forward, backward, AdamW, zeroing) on one fixed batch; bench.py holds
   the outcome against a peer. Prints one line:

   ms=<median ms per step> pass_ms=<forward and backward alone> peak_mib=<growth of the resident
   set> counted_mib=<by memory.h> */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/trainer.h"

typedef struct Setting {
    ModelConfig config;
    int B, steps;
} Setting;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e3 * (double)time.tv_sec + 1e-6 * (double)time.tv_nsec;
}

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

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, by_size);
    return values[count / 2];
}

static Setting parse(int argc, char **argv) {
    static const struct option names[] = {{"vocabulary", 1, NULL, 'V'}, {"layers", 1, NULL, 'L'},
                                          {"heads", 1, NULL, 'N'},      {"width", 1, NULL, 'C'},
                                          {"time", 1, NULL, 'T'},       {"batch", 1, NULL, 'B'},
                                          {"steps", 1, NULL, 's'},      {"precision", 1, NULL, 'p'},
                                          {"attention", 1, NULL, 'a'},  {NULL, 0, NULL, 0}};
    Setting s = {.config = {.V = 256, .T = 128, .L = 4, .NH = 4, .C = 128}, .B = 8, .steps = 20};
    for (int found; (found = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        int number = atoi(optarg);
        switch (found) {
        case 'V':
            s.config.V = number;
            break;
        case 'L':
            s.config.L = number;
            break;
        case 'N':
            s.config.NH = number;
            break;
        case 'C':
            s.config.C = number;
            break;
        case 'T':
            s.config.T = number;
            break;
        case 'B':
            s.B = number;
            break;
        case 's':
            s.steps = number;
            break;
        case 'p':
            s.config.precision = optarg[0] == 'b' ? BF16 : strcmp(optarg, "f16") == 0 ? F16 : F32;
            break;
        case 'a':
            s.config.attention = optarg[0] == 'f' ? ATTENTION_FLASH : ATTENTION_PLAIN;
            break;
        default:
            exit(2);
        }
    }
    return s;
}

int main(int argc, char **argv) {
    enum { WARM_UP = 2 };
    Setting s = parse(argc, argv);
    int N = s.B * s.config.T;
    double idle = peak_mib();
    Device *device = device_cpu_new(0);
    Memory *memory = memory_new(device, (MemoryOptions){0});
    Model *model = model_new(&s.config, memory, 1);
    Optimizer *optimizer = NULL;
    if (s.config.precision == F32) {
        optimizer = optimizer_new(
            model, (AdamW){.beta1 = 0.9f, .beta2 = 0.999f, .epsilon = 1e-8f, .weight_decay = 0.1f});
    }
    int32_t *ids = malloc((size_t)(N + 1) * sizeof *ids);
    double *step_ms = malloc((size_t)s.steps * sizeof *step_ms);
    double *pass_ms = malloc((size_t)s.steps * sizeof *pass_ms);
    Rng rng = rng_new(1, RNG_DATA);
    for (int i = 0; i <= N; i++) {
        ids[i] = (int32_t)rng_below(&rng, (uint64_t)s.config.V);
    }
    Batch batch = {.B = s.B, .T = s.config.T, .tokens = ids, .targets = ids + 1, .valid = N};
    double loss = 0;
    for (int step = -WARM_UP; step < s.steps; step++) {
        double begin = now();
        loss = model_forward(model, &batch) / N;
        model_backward(model, 1.0f / (float)N);
        device_synchronize(device);
        double passed = now();
        if (optimizer != NULL) {
            optimizer_step(optimizer, 3e-4f);
        }
        model_zero_grad(model);
        device_synchronize(device);
        if (step >= 0) {
            pass_ms[step] = passed - begin;
            step_ms[step] = now() - begin;
        }
    }
    MemoryUse peak = memory_peak(memory);
    printf("ms=%.3f pass_ms=%.3f peak_mib=%.1f counted_mib=%.1f loss=%.4f device=\"%s\"\n",
           median(step_ms, s.steps), median(pass_ms, s.steps), peak_mib() - idle,
           (double)memory_total(&peak) / (1024 * 1024), loss, device->note);
    return 0;
}
