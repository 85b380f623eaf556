/* The GPU device, simulated or real, against the CPU: whole training steps, and `train` itself. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/testkit/fixture.h"
#include "common/testkit/program.h"
#include "common/testkit/scratch.h"
#include "common/trainer.h"
#include "labs/00_bytes/contract.h"

/* Two sequences, the second of which ends early; a length that no tile divides. */
enum { B = 2, T = 65, ENDS = 40 };

static int32_t tokens[B * T], targets[B * T];

static Batch ragged_batch(void) {
    Rng rng = rng_new(5, RNG_DATA);
    Batch batch = {.B = B, .T = T, .tokens = tokens, .targets = targets};
    for (int i = 0; i < B * T; i++) {
        tokens[i] = (int32_t)rng_below(&rng, 256);
        targets[i] = i >= T + ENDS || i % 11 == 3 ? IGNORE_INDEX : (int32_t)rng_below(&rng, 256);
        batch.valid += targets[i] != IGNORE_INDEX;
    }
    return batch;
}

static ModelConfig config_of(Precision precision, Attention attention) {
    return (ModelConfig){.V = 256,
                         .T = T,
                         .L = 3,
                         .NH = 4,
                         .C = 64,
                         .dropout = 0.2f,
                         .precision = precision,
                         .attention = attention};
}

/* The results of a step: gradients, and in f32 the updated weights. */
typedef struct GpuStep {
    size_t count;     /* elements of all parameters */
    MemoryUse peak;   /* counted */
    size_t padding;   /* counted */
    double loss;      /* sum over the targets */
    float grad_norm;  /* global */
    float *gradients; /* (count) */
    float *weights;   /* (count); zero in half, where lab 05 makes the update */
    float room[];     /* for both */
} GpuStep;

static size_t step_bytes(const ModelConfig *config) {
    return sizeof(GpuStep) + 2 * bytes_params(config) * sizeof(float);
}

static void read_all(const Model *model, float *to, bool gradients) {
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        const void *from = gradients ? (const void *)param->grad : (const void *)param->weight;
        device_download(model->device, to, from, param->count * sizeof(float));
        to += param->count;
    }
}

/* The update is smooth in the gradient: with a small epsilon, one of nearly 0 would decide its
   sign, and the sign the update. */
static const AdamW smooth = {.beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-2f, .weight_decay = 0.1f};

static void run_step(Device *device, const ModelConfig *config, GpuStep *step) {
    Batch batch = ragged_batch();
    Memory *memory = memory_new(device, (MemoryOptions){.checked = !device->simulated});
    Model *model = model_new(config, memory, 17);
    Optimizer *optimizer = config->precision == F32 ? optimizer_new(model, smooth) : NULL;
    step->count = model_param_elements(model);
    step->gradients = step->room;
    step->weights = step->room + step->count;
    step->loss = model_forward(model, &batch);
    model_backward(model, 1.0f / (float)batch.valid);
    step->grad_norm = model_grad_norm(model);
    read_all(model, step->gradients, true);
    if (optimizer != NULL) {
        optimizer_step(optimizer, 1e-2f);
        read_all(model, step->weights, false);
    }
    step->peak = memory_peak(memory);
    optimizer_free(optimizer);
    model_free(model);
    memory_free(memory);
}

static GpuStep *step_on(Device *device, const ModelConfig *config) {
    GpuStep *step = calloc(1, step_bytes(config));
    cr_assert_not_null(device);
    cr_assert_not_null(step);
    run_step(device, config, step);
    device_free(device);
    cr_assert_eq(fixture_problems(), 0);
    return step;
}

static void expect_close(const char *name, const float *got, const float *want, size_t n,
                         const ModelConfig *config) {
    char text[COMPARISON_TEXT];
    double *doubles = malloc(n * sizeof *doubles);
    for (size_t i = 0; i < n; i++) {
        doubles[i] = (double)want[i];
    }
    Comparison comparison = compare(got, doubles, n, tolerance_of_model(config->precision));
    cr_assert(comparison.pass, "%s, %s attention: %s", precision_name(config->precision),
              config->attention == ATTENTION_PLAIN ? "plain" : "flash",
              comparison_text(&comparison, name, text));
    free(doubles);
}

static void expect_number(const char *what, double got, double want, double relative) {
    cr_assert_float_eq(got, want, relative * want, "%s is %.9g, not %.9g", what, got, want);
    if (getenv("SHOW_SHARES") != NULL) {
        fprintf(stderr, "share %.2g gpu and cpu: %s\n", fabs(got - want) / (relative * want), what);
    }
}

/* Parameter by parameter: each is held to its own size. */
static void expect_same_step(const GpuStep *gpu, const GpuStep *cpu, const ModelConfig *config) {
    Param params[64];
    size_t at = 0;
    params_describe(params, config);
    for (int i = 0; i < params_count(config); at += params[i++].count) {
        expect_close(params[i].name, gpu->gradients + at, cpu->gradients + at, params[i].count,
                     config);
        if (config->precision == F32) {
            expect_close(params[i].name, gpu->weights + at, cpu->weights + at, params[i].count,
                         config);
        }
    }
    expect_number("the loss", gpu->loss, cpu->loss, tolerance_of_loss(config->precision));
    expect_number("the norm", (double)gpu->grad_norm, (double)cpu->grad_norm,
                  tolerance_of_model(config->precision).norm);
}

static void compare_devices(Precision precision) {
    for (int attention = 0; attention < 2; attention++) {
        ModelConfig config = config_of(precision, (Attention)attention);
        GpuStep *cpu = step_on(device_cpu_new(256 << 20), &config);
        GpuStep *gpu = step_on(device_gpu_new(ops_gpu), &config);
        expect_same_step(gpu, cpu, &config);
        free(cpu);
        free(gpu);
    }
}

Test(gpu, step_is_the_cpus_in_f32, .timeout = 300) {
    compare_devices(F32);
}

Test(gpu, step_is_the_cpus_in_f16, .timeout = 300) {
    compare_devices(F16);
}

Test(gpu, step_is_the_cpus_in_bf16, .timeout = 300) {
    compare_devices(BF16);
}

/* ---- same bits ------------------------------------------------------------------------------- */

/* The simulator reads its schedule once, when a program first calls it: so each has a process. */
static GpuStep *step_under(const char *schedule, const ModelConfig *config) {
    GpuStep *step =
        mmap(NULL, step_bytes(config), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(step, MAP_FAILED);
    pid_t child = fork();
    if (child == 0) {
        setenv("CUDASIM_SCHED", schedule, 1);
        Device *device = device_gpu_new(ops_gpu);
        if (device == NULL) {
            _exit(2);
        }
        run_step(device, config, step);
        device_free(device);
        _exit(fixture_problems() > 0);
    }
    int status;
    waitpid(child, &status, 0);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "under %s: status %d", schedule,
              status);
    return step;
}

static void expect_same_bits(Precision precision) {
    static const char *const schedules[] = {"forward", "forward", "reverse", "random:1"};
    for (int attention = 0; attention < 2; attention++) {
        ModelConfig config = config_of(precision, (Attention)attention);
        GpuStep *first = step_under(schedules[0], &config);
        for (size_t i = 1; i < sizeof schedules / sizeof *schedules; i++) {
            GpuStep *step = step_under(schedules[i], &config);
            cr_assert(step->count > 0 && step->count == first->count);
            cr_assert_eq(step->loss, first->loss, "%s: the loss differs", schedules[i]);
            cr_assert_arr_eq(step->room, first->room, 2 * step->count * sizeof(float),
                             "%s, %s attention: other bits under %s", precision_name(precision),
                             attention == ATTENTION_PLAIN ? "plain" : "flash", schedules[i]);
            munmap(step, step_bytes(&config));
        }
        munmap(first, step_bytes(&config));
    }
}

Test(gpu, same_bits_under_every_schedule_in_f32, .timeout = 600) {
    expect_same_bits(F32);
}

Test(gpu, same_bits_under_every_schedule_in_f16, .timeout = 600) {
    expect_same_bits(F16);
}

Test(gpu, same_bits_under_every_schedule_in_bf16, .timeout = 600) {
    expect_same_bits(BF16);
}

/* ---- memory ---------------------------------------------------------------------------------- */

Test(gpu, predicted_bytes_are_counted_bytes, .timeout = 300) {
    Device *device = device_gpu_new(ops_gpu);
    cr_assert_not_null(device);
    for (int i = 0; i < 6; i++) {
        ModelConfig config = config_of((Precision)(i % 3), (Attention)(i / 3));
        MemoryUse counted, predicted = bytes_predict(&config, B, T, device);
        trainer_measure(&config, (Checkpoint){0}, B, T, device, &counted);
        for (int kind = 0; kind < MEMORY_KINDS; kind++) {
            cr_assert_eq(counted.bytes[kind], predicted.bytes[kind],
                         "%s: %s, counted %zu, predicted %zu", precision_name(config.precision),
                         memory_kind_name((MemoryKind)kind), counted.bytes[kind],
                         predicted.bytes[kind]);
        }
    }
    device_free(device);
}

/* The bytes that grow with the sequence in a step of one block that is really run. */
static size_t growing_bytes(Device *device, Attention attention, int length) {
    ModelConfig config = {.V = 256, .T = length, .L = 1, .NH = 4, .C = 16, .attention = attention};
    MemoryUse use;
    trainer_measure(&config, (Checkpoint){0}, 1, length, device, &use);
    return use.bytes[MEMORY_WORKSPACE] + use.bytes[MEMORY_ACTIVATIONS];
}

/* Flash attention is there so that no tensor grows with T squared; nor may its scratch memory. */
Test(gpu, flash_needs_bytes_linear_in_T, .timeout = 300) {
    Device *device = device_gpu_new(ops_gpu);
    cr_assert_not_null(device);
    for (int attention = 0; attention < 2; attention++) {
        size_t bytes = growing_bytes(device, (Attention)attention, 128);
        size_t twice = growing_bytes(device, (Attention)attention, 256);
        bool linear = twice <= 2 * bytes;
        cr_expect_eq(linear, attention == ATTENTION_FLASH, "%s: T 128: %zu bytes, T 256: %zu",
                     attention == ATTENTION_FLASH ? "flash" : "plain", bytes, twice);
    }
    device_free(device);
}

/* Bytes copied in odd sizes and places come back unchanged. */
Test(gpu, copies_and_fills) {
    enum { BYTES = 9 << 20 }; /* more than the pinned buffer holds, twice */
    Device *device = device_gpu_new(ops_gpu);
    cr_assert_not_null(device);
    unsigned char *out = malloc(BYTES), *in = calloc(1, BYTES);
    for (size_t i = 0; i < BYTES; i++) {
        out[i] = (unsigned char)(i * 2654435761u >> 24);
    }
    char *data = device_alloc(device, BYTES);
    void *empty = device_alloc(device, 0);
    cr_assert(data != NULL && empty != NULL);
    device_upload(device, data, out, BYTES);
    device_fill(device, data + 1000, 7, 999);
    memset(out + 1000, 7, 999);
    device_upload(device, data + 5, out + 3, 77);
    memmove(out + 5, out + 3, 77);
    device_upload(device, data, NULL, 0);
    device_download(device, in, data, BYTES);
    cr_assert_arr_eq(in, out, BYTES);
    device_release(device, empty, 0);
    device_release(device, data, BYTES);
    device_free(device);
    cr_assert_eq(fixture_problems(), 0);
    free(out);
    free(in);
}

/* ---- train ----------------------------------------------------------------------------------- */

static double loss_at(const char *step) {
    const char *line = strstr(output, step);
    cr_assert_not_null(line, "no \"%s\" in:\n%s", step, output);
    return strtod(strstr(line, "loss ") + 5, NULL);
}

Test(gpu, thirty_steps_learn, .timeout = 600) {
    cr_assert_eq(train("--device gpu --data common/data/kit.txt --n_layer 2 --n_embd 64 --n_head 4 "
                       "--n_positions 64 --max_steps 30 "
                       "--per_device_train_batch_size 4 --logging_steps 1 --eval_fraction 0 "
                       "--learning_rate 0.003"),
                 0, "%s", output);
    double first = loss_at("step 1/30"), last = loss_at("step 30/30");
    cr_assert(last <= 0.8 * first, "from %g to %g", first, last);
    cr_assert_null(strstr(output, "differs"), "predicted is not counted:\n%s", output);
    scratch_remove();
}

/* Few validation rows: the simulator takes its time. */
#define SHORT TINY "--device gpu --dropout 0.1 --eval_fraction 0.02 "

Test(gpu, does_what_the_cpu_does, .timeout = 300) {
    text_file();
    cr_assert_eq(train(SHORT
                       "--max_steps 4 --logging_steps 1 --eval_steps 2 --output_dir $S/o "
                       "--attention flash --documents --profile --generate 20 --check_memory"),
                 0, "%s", output);
    const char *const words[] = {"Device: gpu, ", "step 4/4", "Where the time goes",
                                 "The model continues", "memory.svg"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        cr_assert_not_null(strstr(output, words[i]), "%s is missing in:\n%s", words[i], output);
    }
#ifndef BACKEND_CUDA
    cr_assert_eq(strncmp(output, "Device: gpu, SIMULATED", 22), 0,
                 "the first line does not say that it is simulated:\n%s", output);
#endif
    scratch_remove();
}

Test(gpu, resumed_is_uninterrupted_bit_for_bit, .timeout = 300) {
    text_file();
    cr_assert_eq(train(SHORT "--max_steps 6 --save_steps 2 --output_dir $S/whole"), 0, "%s",
                 output);
    cr_assert_eq(train(SHORT "--max_steps 6 --output_dir $S/again "
                             "--resume_from_checkpoint $S/whole/checkpoint-4 && "
                             "diff -r $S/whole/checkpoint-6 $S/again/checkpoint-6"),
                 0, "%s", output);
    scratch_remove();
}

Test(gpu, keeps_its_budget, .timeout = 300) {
    text_file();
    cr_assert_eq(train(SHORT "--max_steps 1 --memory_budget 65536B"), 1, "%s", output);
    cr_assert_not_null(strstr(output, "out of memory"), "%s", output);
    cr_assert_null(strstr(output, "[cudasim]"), "%s", output);
    scratch_remove();
}
