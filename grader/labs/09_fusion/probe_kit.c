/* Lab 09 without a submission: the two ops one after the other, and eager steps, which have the
   right bits; or those of a known mistake. */
#include <math.h>
#include <stdlib.h>

#include "common/params.h"
#include "grader/labs/09_fusion/shared.h"
#include "grader/probe.h"

/* ---- the two ops, apart ---------------------------------------------------------------------- */

static NormMistake norm_mistake;

static Dropout norm_mask_of(const NormCall *call) {
    Dropout dropout = call->dropout;
    if (norm_mistake == NORM_NO_MASK) {
        dropout.p = 0;
    }
    if (norm_mistake == NORM_NO_BASE) {
        dropout.base = NULL;
    }
    return dropout;
}

static void apart_forward(const NormCall *call) {
    int N = call->c->N, C = call->c->C;
    size_t n = (size_t)N * (size_t)C, element = precision_bytes((Precision)call->c->precision);
    Real *stream = norm_real(call, "stream");
    Real *sum = norm_new(call, n, element), *out = norm_new(call, n, element);
    float *mean = norm_new(call, (size_t)N, sizeof *mean);
    float *rstd = norm_new(call, (size_t)N, sizeof *rstd);
    call->ops->residual_forward(sum, stream, norm_real(call, "branch"), n, norm_mask_of(call));
    call->ops->layernorm_forward(out, mean, rstd, norm_mistake == NORM_OF_STREAM ? stream : sum,
                                 norm_real(call, "weight"), norm_real(call, "bias"), N, C);
    norm_give_real(call, "sum", sum);
    norm_give_real(call, "out", out);
    norm_give_float(call, "mean", mean);
    norm_give_float(call, "rstd", rstd);
}

static void apart_backward(const NormCall *call) {
    int N = call->c->N, C = call->c->C;
    size_t n = (size_t)N * (size_t)C, element = precision_bytes((Precision)call->c->precision);
    Real *dsum = norm_real(call, "dsum"), *dout = norm_real(call, "dout");
    Real *sum = norm_real(call, "sum"), *weight = norm_real(call, "weight");
    float *mean = norm_float(call, "mean"), *rstd = norm_float(call, "rstd");
    float *dweight = norm_float(call, "dweight"), *dbias = norm_float(call, "dbias");
    Real *dbranch = norm_real(call, "dbranch");
    if (call->c->in_place && norm_mistake == BACK_ADDED_IN_PLACE) {
        dbranch = norm_real(call, "dout");
    } else if (call->c->in_place || norm_mistake == BACK_REPLACED) {
        device_fill(call->device, dbranch, 0, n * element);
    }
    if (norm_mistake == BACK_PARAMETERS_REPLACED) {
        device_fill(call->device, dweight, 0, (size_t)C * sizeof *dweight);
        device_fill(call->device, dbias, 0, (size_t)C * sizeof *dbias);
    }
    if (norm_mistake == BACK_DSUM_REPLACED) {
        device_fill(call->device, dsum, 0, n * element);
    }
    Real *complete = dsum;
    if (norm_mistake == BACK_BRANCH_FIRST) {
        complete = norm_real(call, "dsum");
    }
    call->ops->layernorm_backward(dsum, dweight, dbias, dout, sum, mean, rstd, weight, N, C,
                                  &call->workspace);
    call->ops->residual_backward(NULL, dbranch, complete, n, norm_mask_of(call));
    if (norm_mistake == BACK_AFTER_REPLACED && call->c->in_place) {
        dweight = norm_float(call, "dweight"), dbias = norm_float(call, "dbias");
        call->ops->layernorm_backward(norm_real(call, "dsum"), dweight, dbias, dbranch, sum, mean,
                                      rstd, weight, N, C, &call->workspace);
    }
    norm_give_real(call, "dsum after", dsum);
    norm_give_real(call, "dbranch after", dbranch);
    norm_give_float(call, "dweight after", dweight);
    norm_give_float(call, "dbias after", dbias);
}

/* ---- eager steps ----------------------------------------------------------------------------- */

static StepsMistake steps_mistake;

/* The values frozen in a graph: as they were in the window that would be captured, the second. */
static struct Frozen {
    float rate, share, scale;
    int t;
    uint64_t offset;
    Batch batch[16];
} frozen;

/* A window of several shapes runs as it is: the mistakes of a captured one are not in it. */
static bool several_shapes;

static bool has_several_shapes(const StepsRun *run, int count) {
    bool several = false;
    for (int i = 1; i < count; i++) {
        several |= run->batch[i].B != run->batch[0].B || run->batch[i].T != run->batch[0].T;
    }
    return several;
}

static bool is_wrong(StepsMistake mistake, int place) {
    return steps_mistake == mistake && place > 1 && !several_shapes;
}

static void freeze(const StepsRun *run, int count, float share) {
    frozen.rate = schedule_rate(&run->trainer.schedule);
    frozen.t = run->trainer.optimizer->t;
    frozen.offset = run->trainer.model->rng.offset;
    frozen.share = share;
    frozen.scale = run->trainer.mixed != NULL ? run->mixed.scaler.scale : 1;
    for (int i = 0; i < count; i++) {
        frozen.batch[i] = run->batch[i];
    }
}

/* Forward and backward of the window's micro-batches. */
static void eager_window(StepsRun *run, int count, float share, float scale, StepReport *report) {
    Model *model = run->trainer.model;
    uint64_t before = model->rng.offset, begin = before;
    float dloss = share * (is_wrong(STEPS_SCALED_TWICE, run->place + 1) ? scale * scale : scale);
    if (is_wrong(STEPS_OFFSET_FROZEN, run->place)) {
        model->rng.offset = begin = frozen.offset;
    }
    for (int i = 0; i < count; i++) {
        const Batch *batch =
            is_wrong(STEPS_IDS_FROZEN, run->place) ? &frozen.batch[i] : &run->batch[i];
        report->loss += model_forward(model, batch);
        model_backward(model, dloss);
        report->tokens += (size_t)run->batch[i].valid;
    }
    report->loss *= (double)share;
    model->rng.offset = is_wrong(STEPS_STREAM_STANDS, run->place + 1)
                            ? before
                            : before + (model->rng.offset - begin);
}

static bool eager_unscale(StepsRun *run, float scale) {
    Model *model = run->trainer.model;
    float found = 0, inv_scale = is_wrong(STEPS_NOT_UNSCALED, run->place + 1) ? 1 : 1 / scale;
    bool looks = run->trainer.mixed != NULL &&
                 (run->mixed.dynamic || !is_wrong(STEPS_FOUND_IN_F16, run->place + 1));
    device_fill(model->device, model->result, 0, sizeof found);
    for (int i = 0; looks && i < model->param_count; i++) {
        model->ops->unscale(model->params[i].grad, model->params[i].count, inv_scale,
                            model->result);
    }
    device_download(model->device, &found, model->result, sizeof found);
    return found != 0;
}

/* `scaled`: the norm that gradients had before they were unscaled. @return the reported norm */
static float eager_clip(StepsRun *run, float scaled) {
    Model *model = run->trainer.model;
    float limit = run->trainer.max_grad_norm;
    if (is_wrong(STEPS_NO_FACTOR, run->place + 1) && !(limit > 0)) {
        model_scale_grad(model, 0);
        return 0;
    }
    if (is_wrong(STEPS_NOT_CLIPPED, run->place + 1)) {
        return optimizer_clip(model, 0);
    }
    if (!is_wrong(STEPS_NORM_SCALED, run->place + 1)) {
        return optimizer_clip(model, limit);
    }
    if (limit > 0 && !(scaled <= limit)) {
        model_scale_grad(model, limit / (scaled + 1e-6f));
    }
    return scaled;
}

static void eager_learn(StepsRun *run, float rate) {
    Optimizer *optimizer = run->trainer.optimizer;
    Model *model = run->trainer.model;
    int t = optimizer->t;
    if (is_wrong(STEPS_T_FROZEN, run->place)) {
        optimizer->t = frozen.t;
    }
    optimizer_step(optimizer, rate);
    optimizer->t = t + 1;
    bool written = optimizer->master != NULL && !is_wrong(STEPS_NOT_WRITTEN, run->place + 1);
    for (int i = 0; written && i < model->param_count; i++) {
        const Param *param = &model->params[i];
        model->ops->cast_from_float(param->weight, optimizer->master[i], param->count);
    }
}

/* Gradients as they are before clipping; a captured step does not scale them in place. */
static void gradients_kept(const Model *model, float *kept) {
    for (int i = 0; i < model->param_count; kept += model->params[i++].count) {
        device_download(model->device, kept, model->params[i].grad,
                        model->params[i].count * sizeof *kept);
    }
}

static void gradients_back(const Model *model, const float *kept) {
    for (int i = 0; i < model->param_count; kept += model->params[i++].count) {
        device_upload(model->device, model->params[i].grad, kept,
                      model->params[i].count * sizeof *kept);
    }
}

static void eager_scaler(Scaler *scaler, bool bad) {
    scaler->good_steps = bad ? 0 : scaler->good_steps + 1;
    if (bad) {
        scaler->scale = fmaxf(scaler->scale * scaler->backoff, scaler->floor);
    } else if (scaler->good_steps == scaler->interval) {
        scaler->scale *= scaler->growth;
        scaler->good_steps = 0;
    }
}

static StepReport eager_step(StepsRun *run, int count) {
    Trainer *trainer = &run->trainer;
    StepReport report = {0};
    size_t tokens = 0;
    for (int i = 0; i < count; i++) {
        tokens += (size_t)run->batch[i].valid;
    }
    float share = tokens > 0 ? 1.0f / (float)tokens : 0;
    float scale = trainer->mixed != NULL ? run->mixed.scaler.scale : 1;
    several_shapes = has_several_shapes(run, count);
    if (run->place == 1) {
        freeze(run, count, share);
    }
    if (is_wrong(STEPS_SCALE_FROZEN, run->place)) {
        share = frozen.share;
        scale = frozen.scale;
    }
    eager_window(run, count, share, scale, &report);
    float scaled = model_grad_norm(trainer->model);
    report.skipped = eager_unscale(run, scale);
    float *kept = malloc(params_length(&trainer->model->config) * sizeof *kept);
    CHECK(kept != NULL, "no host memory for gradients");
    gradients_kept(trainer->model, kept);
    report.grad_norm = eager_clip(run, scaled);
    report.learning_rate =
        is_wrong(STEPS_RATE_FROZEN, run->place) ? frozen.rate : schedule_rate(&trainer->schedule);
    int t = trainer->optimizer->t;
    if (!report.skipped || is_wrong(STEPS_NEVER_SKIPPED, run->place + 1)) {
        eager_learn(run, report.learning_rate);
        trainer->optimizer->t = report.skipped ? t : t + 1;
    } else {
        trainer->optimizer->t += is_wrong(STEPS_T_WHEN_SKIPPED, run->place + 1);
    }
    if (is_wrong(STEPS_NOT_ZEROED, run->place + 1)) {
        gradients_back(trainer->model, kept);
    } else {
        model_zero_grad(trainer->model);
    }
    free(kept);
    if (report.skipped && is_wrong(STEPS_SKIP_NOT_TOLD, run->place + 1)) {
        trainer->optimizer->t++;
        report.skipped = false;
    }
    bool scales = trainer->mixed != NULL &&
                  (run->mixed.dynamic || is_wrong(STEPS_SCALER_ALWAYS, run->place + 1));
    bool told = report.skipped || !is_wrong(STEPS_NEVER_GROWS, run->place + 1);
    if (scales && told && !is_wrong(STEPS_NO_SCALER, run->place + 1)) {
        eager_scaler(&run->mixed.scaler, report.skipped);
    }
    if (!report.skipped || is_wrong(STEPS_TICK_SKIPPED, run->place + 1)) {
        schedule_tick(&trainer->schedule);
    }
    return report;
}

static void eager_steps(const Wire *in, Wire *out) {
    static StepsRun run;
    steps_open(&run, in, out);
    for (int i = 0; i < run.option[STEPS_COUNT]; i++) {
        int count = steps_window(&run, i);
        StepReport report = eager_step(&run, count);
        steps_give(&run, &report);
    }
    steps_close(&run);
}

/* ---- cases ----------------------------------------------------------------------------------- */

#define WITH_MISTAKE(k)                                                                            \
    static void forward_##k(const Wire *in, Wire *out) {                                           \
        norm_mistake = k;                                                                          \
        norm_calls(in, out, apart_forward);                                                        \
    }                                                                                              \
    static void backward_##k(const Wire *in, Wire *out) {                                          \
        norm_mistake = k;                                                                          \
        norm_calls(in, out, apart_backward);                                                       \
    }                                                                                              \
    static void steps_##k(const Wire *in, Wire *out) {                                             \
        steps_mistake = k;                                                                         \
        eager_steps(in, out);                                                                      \
    }
#define EACH_MISTAKE(X) FIRST_MISTAKES(X) LAST_MISTAKES(X)
#define FIRST_MISTAKES(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9)
#define LAST_MISTAKES(X) X(10) X(11) X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19) X(20) X(21)
EACH_MISTAKE(WITH_MISTAKE)

#define CASES(k)                                                                                   \
    {"norm_forward " #k, forward_##k}, {"norm_backward " #k, backward_##k},                        \
        {"steps " #k, steps_##k},

const ProbeCase probe_cases[] = {EACH_MISTAKE(CASES){NULL, NULL}};
