/* The steps of all loops that the judge describes. Each loop has one mistake at most; what is right
   may be written in several ways. */
#include "grader/labs/01_loop/loops/step.h"

#include <math.h>
#include <string.h>

#include "grader/labs/01_loop/term.h"
#include "kernels/half.h"

static bool is(const LoopRun *loop, LoopKind kind, int variant) {
    return loop->spec.kind == kind && loop->spec.variant == variant;
}

/* ---- forward and backward -------------------------------------------------------------------- */

static Batch row_of(const Batch *batch, int b) {
    size_t begin = (size_t)b * (size_t)batch->T;
    Batch row = {
        .B = 1, .T = batch->T, .tokens = batch->tokens + begin, .targets = batch->targets + begin};
    for (int t = 0; t < row.T; t++) {
        row.valid += row.targets[t] != IGNORE_INDEX;
    }
    return row;
}

static float over(float a, float b) {
    return b > 0 ? a / b : 0;
}

/* The weight of each valid target of row b. */
static float share_of(const LoopRun *loop, const Batch *batch, int b) {
    float valid = (float)batch->valid, right = over(1, valid);
    int longest = 0, rows = 0;
    for (int i = 0; i < batch->B; i++) {
        int length = row_of(batch, i).valid;
        longest = length > longest ? length : longest;
        rows += length > 0;
    }
    if (is(loop, LOOP_NO_TARGETS, 0)) {
        return 1 / valid;
    }
    if (loop->spec.kind != LOOP_MEAN) {
        return right;
    }
    const float wrong[] = {
        1 / (float)(batch->B * batch->T),
        1 / (float)batch->B,
        over(1, (float)rows * (float)row_of(batch, b).valid),
        1,
        right * right,
        over(1, (float)(batch->B * longest)),
    };
    return wrong[loop->spec.variant];
}

/* To 11 bits: the most by which two right loops may differ is twice that. */
static void round_gradients(Model *model) {
    for (int i = 0; i < model->param_count; i++) {
        float *grad = model->params[i].grad;
        for (size_t k = 0; k < model->params[i].count; k++) {
            grad[k] = precision_round(F16, grad[k]);
        }
    }
}

/* One pass over a batch whose targets all have this weight. */
static double learn_from(LoopRun *loop, const Batch *batch, float share) {
    Model *model = loop->trainer.model;
    bool afterwards = is(loop, LOOP_RIGHT, 5);
    double loss = model_forward(model, batch);
    model_backward(model, afterwards ? 1 : share);
    if (afterwards) {
        model_scale_grad(model, share);
    }
    if (is(loop, LOOP_RIGHT, 7)) {
        round_gradients(model);
    }
    return loss * (double)share;
}

/* The report's loss where there are no targets. */
static double no_loss(const LoopRun *loop) {
    static const double losses[] = TERM_LOSS_EACH;
    bool other = loop->spec.kind == LOOP_NO_TARGETS && loop->spec.variant >= LOOP_OF_A_TERM;
    return other ? losses[loop->spec.variant - LOOP_OF_A_TERM] : TERM_LOSS_IS;
}

/* The report's loss. */
static double learn(LoopRun *loop, const Batch *batch) {
    double loss = 0;
    if (is(loop, LOOP_RIGHT, 1) || is(loop, LOOP_MEAN, 2)) {
        for (int b = batch->B - 1; b >= 0; b--) {
            Batch row = row_of(batch, b);
            loss += learn_from(loop, &row, share_of(loop, batch, b));
        }
    } else if (is(loop, LOOP_RIGHT, 6)) {
        float half = share_of(loop, batch, 0) / 2;
        loss = learn_from(loop, batch, half) + learn_from(loop, batch, half);
    } else {
        loss = learn_from(loop, batch, share_of(loop, batch, 0));
    }
    bool reports_right = loop->spec.kind == LOOP_MEAN && loop->spec.variant % 2 == 0;
    if (reports_right) {
        loss = model_evaluate(loop->trainer.model, batch) * (double)over(1, (float)batch->valid);
    }
    bool nan = is(loop, LOOP_NO_TARGETS, 0) || is(loop, LOOP_NO_TARGETS, 4);
    return batch->valid > 0 ? loss : nan ? (double)NAN : no_loss(loop);
}

/* ---- clipping -------------------------------------------------------------------------------- */

static void clip_values(Model *model, float limit) {
    for (int i = 0; i < model->param_count; i++) {
        float *grad = model->params[i].grad;
        for (size_t k = 0; k < model->params[i].count; k++) {
            grad[k] = fmaxf(-limit, fminf(limit, grad[k]));
        }
    }
}

static void clip_tensors(Model *model, float limit) {
    for (int i = 0; i < model->param_count; i++) {
        float *grad = model->params[i].grad, sum = 0;
        for (size_t k = 0; k < model->params[i].count; k++) {
            sum += grad[k] * grad[k];
        }
        float factor = sqrtf(sum) > limit ? limit / sqrtf(sum) : 1;
        for (size_t k = 0; k < model->params[i].count; k++) {
            grad[k] *= factor;
        }
    }
}

/* To the limit where `norm` is above it. */
static void clip_by(Model *model, float norm, float limit) {
    if (norm > limit) {
        model_scale_grad(model, limit / norm);
    }
}

/* A limit above 0, in one of the ways that are wrong. */
static void clip_wrongly(LoopRun *loop, float norm, float limit) {
    Model *model = loop->trainer.model;
    switch (loop->spec.variant) {
    case 2:
        clip_values(model, limit);
        break;
    case 3:
        clip_tensors(model, limit);
        break;
    case 4:
        clip_by(model, norm, limit * (2 + 2 * loop->spec.amount));
        break;
    case 5:
        clip_by(model, norm, 1);
        break;
    case 6:
        model_scale_grad(model, limit / norm);
        break;
    case 7:
        clip_by(model, loop->norm_before, limit);
        break;
    case 8:
        clip_tensors(model, limit);
        clip_by(model, model_grad_norm(model), limit);
        break;
    default: /* not at all, or after the update */
        break;
    }
}

/* The norm before, as the report has it. */
static float clip(LoopRun *loop) {
    Model *model = loop->trainer.model;
    float limit = loop->trainer.max_grad_norm, norm = model_grad_norm(model);
    if (loop->spec.kind == LOOP_CLIP && limit > 0 && norm > 0) {
        clip_wrongly(loop, norm, limit);
    } else if (is(loop, LOOP_RIGHT, 2) && limit > 0) {
        clip_by(model, norm, limit);
    } else if (loop->spec.kind != LOOP_CLIP) {
        optimizer_clip(model, limit);
    }
    bool stays = is(loop, LOOP_ZERO, 6) && loop->step > 0;
    loop->norm_before = stays ? loop->norm_before : norm;
    return loop->norm_before;
}

/* ---- rate and update ------------------------------------------------------------------------- */

static float rate_after(const Schedule *schedule, int steps) {
    Schedule next = *schedule;
    next.step += steps;
    return schedule_rate(&next);
}

/* The rate of the update; the report may have another. */
static float rate_of(LoopRun *loop, StepReport *report) {
    const Schedule *schedule = &loop->trainer.schedule;
    float right = schedule_rate(schedule), taken = right;
    if (loop->spec.kind == LOOP_RATE) {
        float counted = rate_after(schedule, loop->step - loop->ticks);
        const float rates[] = {rate_after(schedule, 1),
                               rate_after(schedule, 1),
                               loop->step > 0 ? loop->rate_before : right,
                               schedule->learning_rate,
                               right,
                               right,
                               right * (0.8f - 0.4f * loop->spec.amount),
                               counted,
                               counted,
                               counted};
        taken = rates[loop->spec.variant];
    }
    bool counts = loop->spec.kind == LOOP_RATE && loop->spec.variant >= 7;
    bool honest = is(loop, LOOP_RATE, 0) || is(loop, LOOP_RATE, 3) || counts;
    report->learning_rate = honest ? taken : right;
    loop->rate_before = right;
    return taken;
}

/* How often this step ticks. */
static int ticks_of(const LoopRun *loop, bool empty) {
    static const int uneven[LOOP_MOST_STEPS] = {1, 2, 0, 1};
    if (empty && is(loop, LOOP_NO_TARGETS, 7)) {
        return 2;
    }
    switch (loop->spec.kind == LOOP_RATE ? loop->spec.variant : 0) {
    case 4:
        return 2;
    case 5:
    case 7:
        return 0;
    case 8:
        return loop->step % 2 == 0;
    case 9:
        return uneven[loop->step];
    default:
        return 1;
    }
}

static void tick(LoopRun *loop, bool empty) {
    int ticks = ticks_of(loop, empty);
    for (int i = 0; i < ticks; i++) {
        schedule_tick(&loop->trainer.schedule);
    }
    loop->ticks += ticks;
}

/* ---- zeroing --------------------------------------------------------------------------------- */

static void zero(LoopRun *loop) {
    Model *model = loop->trainer.model;
    if (loop->spec.kind != LOOP_ZERO) {
        model_zero_grad(model);
        return;
    }
    Param *first = &model->params[0];
    switch (loop->spec.variant) {
    case 1:
    case 2:
        if (loop->step % 2 == 2 - loop->spec.variant) {
            model_zero_grad(model);
        }
        break;
    case 3: /* all but the embedding */
        for (Param *param = first + 1; param < first + model->param_count; param++) {
            memset(param->grad, 0, param->count * sizeof *param->grad);
        }
        break;
    case 4:
        model_scale_grad(model, 0.3f + 0.5f * loop->spec.amount);
        break;
    case 5: /* the embedding alone */
        memset(first->grad, 0, first->count * sizeof *first->grad);
        break;
    default: /* never */
        break;
    }
}

/* ---- a step ---------------------------------------------------------------------------------- */

StepReport loop_run_step(LoopRun *loop, const Batch *batch) {
    Trainer *trainer = &loop->trainer;
    StepReport report = {.tokens = (size_t)batch->valid};
    bool empty = batch->valid == 0;
    if (empty && is(loop, LOOP_NO_TARGETS, 1)) {
        report.loss = no_loss(loop);
        return report;
    }
    if (is(loop, LOOP_RIGHT, 3)) {
        model_zero_grad(trainer->model);
    }
    report.loss = learn(loop, batch);
    if (empty && is(loop, LOOP_NO_TARGETS, 5)) {
        model_scale_grad(trainer->model, INFINITY);
    }
    report.grad_norm = clip(loop);
    float rate = rate_of(loop, &report);
    bool early = is(loop, LOOP_RIGHT, 4);
    if (early) {
        tick(loop, empty);
    }
    if (!(empty && is(loop, LOOP_NO_TARGETS, 2))) {
        optimizer_step(trainer->optimizer, rate);
    }
    if (empty && is(loop, LOOP_NO_TARGETS, 6)) {
        optimizer_step(trainer->optimizer, rate);
    }
    if (is(loop, LOOP_CLIP, 1)) {
        optimizer_clip(trainer->model, trainer->max_grad_norm);
    }
    zero(loop);
    if (!early && !(empty && is(loop, LOOP_NO_TARGETS, 3))) {
        tick(loop, empty);
    }
    return report;
}
