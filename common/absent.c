/* Stands in for a lab file that is not there, so that everything links: compiled once for each such
   file, with ABSENT_<file> and ABSENT=<file> defined. What the runtime calls of it ends the program
   and names the lab. */
#include "common/lab.h"

/* How lab_need() knows that this object is here. */
#define NAMED(file) absent_##file
#define NAME(file) NAMED(file)
extern const char NAME(ABSENT);
const char NAME(ABSENT) = 1;

#if defined ABSENT_bytes
#include "common/lab00.h"

MemoryUse bytes_predict(const ModelConfig *config, int B, int T, const Device *device) {
    (void)config, (void)B, (void)T, (void)device;
    lab_missing("00", "00_bytes/bytes.c");
}

#elif defined ABSENT_loop
#include "common/lab01.h"

StepReport loop_step(Trainer *trainer, const Batch *batch) {
    (void)trainer, (void)batch;
    lab_missing("01", "01_loop/loop.c");
}

/* The ops of lab 02, which exist for the GPU only; on the CPU everything runs without them. */
#elif defined ABSENT_adamw
#include "kernels/adamw.h"

void adamw_gpu(float *weight, float *m, float *v, const float *grad, size_t n, AdamW adamw, int t) {
    (void)weight, (void)m, (void)v, (void)grad, (void)n, (void)adamw, (void)t;
    lab_missing("02", "02_kernels/adamw.cu");
}

#elif defined ABSENT_sumsq
#include "kernels/sumsq.h"

void sumsq_gpu(float *out, const float *x, size_t n, const Workspace *workspace) {
    (void)out, (void)x, (void)n, (void)workspace;
    lab_missing("02", "02_kernels/sumsq.cu");
}

#elif defined ABSENT_crossentropy
#include "kernels/crossentropy.h"

#define STAND_IN(precision)                                                                        \
    void crossentropy_forward_gpu_##precision(float *losses, float *lse, const Real *logits,       \
                                              const int32_t *targets, int N, int V) {              \
        (void)losses, (void)lse, (void)logits, (void)targets, (void)N, (void)V;                    \
        lab_missing("02", "02_kernels/crossentropy.cu");                                           \
    }                                                                                              \
    void crossentropy_backward_gpu_##precision(Real *dlogits, const Real *logits,                  \
                                               const float *lse, const int32_t *targets,           \
                                               float dloss, int N, int V) {                        \
        (void)dlogits, (void)logits, (void)lse, (void)targets, (void)dloss, (void)N, (void)V;      \
        lab_missing("02", "02_kernels/crossentropy.cu");                                           \
    }
STAND_IN(f32)
STAND_IN(f16)
STAND_IN(bf16)

#elif defined ABSENT_layernorm
#include "kernels/layernorm.h"

#define STAND_IN(precision)                                                                        \
    void layernorm_forward_gpu_##precision(Real *out, float *mean, float *rstd, const Real *in,    \
                                           const Real *weight, const Real *bias, int N, int C) {   \
        (void)out, (void)mean, (void)rstd, (void)in, (void)weight, (void)bias, (void)N, (void)C;   \
        lab_missing("02", "02_kernels/layernorm.cu");                                              \
    }                                                                                              \
    void layernorm_backward_gpu_##precision(Real *din, float *dweight, float *dbias,               \
                                            const Real *dout, const Real *in, const float *mean,   \
                                            const float *rstd, const Real *weight, int N, int C,   \
                                            const Workspace *workspace) {                          \
        (void)din, (void)dweight, (void)dbias, (void)dout, (void)in, (void)mean, (void)rstd;       \
        (void)weight, (void)N, (void)C, (void)workspace;                                           \
        lab_missing("02", "02_kernels/layernorm.cu");                                              \
    }
STAND_IN(f32)
STAND_IN(f16)
STAND_IN(bf16)

#elif defined ABSENT_accumulate
#include "common/lab03.h"

StepReport accumulate_window(Trainer *trainer, const Batch *batches, int count) {
    (void)trainer, (void)batches, (void)count;
    lab_missing("03", "03_accumulate/accumulate.c");
}

void accumulator_init(Accumulator *accumulator, Trainer *trainer, int steps) {
    (void)accumulator, (void)trainer, (void)steps;
    lab_missing("03", "03_accumulate/accumulate.c");
}

bool accumulator_open(Accumulator *accumulator, const Data *data) {
    (void)accumulator, (void)data;
    lab_missing("03", "03_accumulate/accumulate.c");
}

void accumulator_micro(Accumulator *accumulator, const Batch *batch) {
    (void)accumulator, (void)batch;
    lab_missing("03", "03_accumulate/accumulate.c");
}

StepReport accumulator_step(Accumulator *accumulator) {
    (void)accumulator;
    lab_missing("03", "03_accumulate/accumulate.c");
}

void train_epoch(Trainer *trainer, Data *data, int steps,
                 bool (*report)(void *context, const StepReport *step), void *context) {
    (void)trainer, (void)data, (void)steps, (void)report, (void)context;
    lab_missing("03", "03_accumulate/accumulate.c");
}

#elif defined ABSENT_checkpoint
#include "common/lab04.h"

size_t checkpoint_bytes(const ModelConfig *config, int B, int T, Checkpoint checkpoint) {
    (void)config, (void)B, (void)T, (void)checkpoint;
    lab_missing("04", "04_checkpoint/checkpoint.c");
}

int checkpoint_segment(const ModelConfig *config, int B, int T, size_t budget) {
    (void)config, (void)B, (void)T, (void)budget;
    lab_missing("04", "04_checkpoint/checkpoint.c");
}

double checkpoint_forward(Model *model, const Batch *batch) {
    (void)model, (void)batch;
    lab_missing("04", "04_checkpoint/checkpoint.c");
}

void checkpoint_backward(Model *model, float dloss) {
    (void)model, (void)dloss;
    lab_missing("04", "04_checkpoint/checkpoint.c");
}

#elif defined ABSENT_scaler
#include "common/lab05.h"

void scaler_init(Scaler *scaler) {
    (void)scaler;
    lab_missing("05", "05_fp16/scaler.c");
}

void scaler_update(Scaler *scaler, bool found_inf) {
    (void)scaler, (void)found_inf;
    lab_missing("05", "05_fp16/scaler.c");
}

#elif defined ABSENT_cast
#include "kernels/cast.h"

#define STAND_IN(precision)                                                                        \
    void cast_from_float_gpu_##precision(Real *out, const float *in, size_t n) {                   \
        (void)out, (void)in, (void)n;                                                              \
        lab_missing("05", "05_fp16/cast.cu");                                                      \
    }                                                                                              \
    void cast_to_float_gpu_##precision(float *out, const Real *in, size_t n) {                     \
        (void)out, (void)in, (void)n;                                                              \
        lab_missing("05", "05_fp16/cast.cu");                                                      \
    }
STAND_IN(f32)
STAND_IN(f16)
STAND_IN(bf16)

#elif defined ABSENT_unscale
#include "kernels/unscale.h"

void unscale_gpu(float *grad, size_t n, float inv_scale, float *found_inf) {
    (void)grad, (void)n, (void)inv_scale, (void)found_inf;
    lab_missing("05", "05_fp16/unscale.cu");
}

#elif defined ABSENT_mixed
#include "common/lab05.h"

float mixed_scale(const Mixed *mixed, float share) {
    (void)mixed, (void)share;
    lab_missing("05", "05_fp16/mixed.c");
}

void mixed_update(Trainer *trainer, StepReport *report) {
    (void)trainer, (void)report;
    lab_missing("05", "05_fp16/mixed.c");
}

#elif defined ABSENT_plan
#include "common/lab06.h"

int plan_choose(const ModelConfig *config, int batch, int T, size_t budget, const Device *device,
                const PlanRates *rates, Plan *plan) {
    (void)config, (void)batch, (void)T, (void)budget, (void)device, (void)rates, (void)plan;
    lab_missing("06", "06_fit/plan.c");
}

MemoryUse plan_bytes(const ModelConfig *config, int T, const Plan *plan, const Device *device) {
    (void)config, (void)T, (void)plan, (void)device;
    lab_missing("06", "06_fit/plan.c");
}

int plan_largest(const ModelConfig *config, int T, size_t budget, const Device *device,
                 const Plan *plan, int most) {
    (void)config, (void)T, (void)budget, (void)device, (void)plan, (void)most;
    lab_missing("06", "06_fit/plan.c");
}

#else
#error "compile with ABSENT_<file> defined, and ABSENT=<file>"
#endif
