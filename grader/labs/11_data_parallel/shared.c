#include "grader/labs/11_data_parallel/shared.h"

#include <math.h>

#include "grader/probe.h"
#include "grader/probe_techniques.h"
#include "labs/05_fp16/contract.h"

void shared_open(const RankRun *run, RankTrainer *rank) {
    *rank = (RankTrainer){.trainer = given_trainer(run->in, run->memory)};
    rank->trainer.model->checkpoint.segment = run->option[DDP_SEGMENT];
    if (run->option[DDP_SCALED]) {
        scaler_init(&rank->mixed.scaler);
        rank->mixed.scaler.scale = 1024;
        rank->mixed.dynamic = true;
        rank->trainer.mixed = &rank->mixed;
    }
    optimizer_take_weights(rank->trainer.optimizer);
    probe_techniques(&rank->trainer);
}

void shared_close(RankTrainer *rank) {
    optimizer_free(rank->trainer.optimizer);
    model_free(rank->trainer.model);
}

Batch turn_batch(const RankRun *run, int w, int k, int rank) {
    return given_batch(run->in, (w * run->option[DDP_MICROS] + k) * run->ranks + rank);
}

float turn_share(const RankRun *run, int w) {
    int together = run->option[DDP_MICROS] * run->ranks, valid = 0;
    for (int i = 0; i < together; i++) {
        valid += given_batch(run->in, w * together + i).valid;
    }
    return valid > 0 ? 1.0f / (float)valid : 0;
}

void turn_spoil(const RankRun *run, const Model *model, int w, int k) {
    static const float infinite = INFINITY;
    const Param *last = &model->params[model->param_count - 1];
    if (w == 0 && k == 0 && run->option[DDP_SPOILED] == run->rank + 1) {
        device_upload(run->device, last->grad, &infinite, sizeof infinite);
    }
}

StepReport shared_update(RankTrainer *rank) {
    Trainer *trainer = &rank->trainer;
    StepReport report = {0};
    if (trainer->update != NULL) {
        trainer->update(trainer, &report);
    } else {
        report.grad_norm = optimizer_clip(trainer->model, trainer->max_grad_norm);
        optimizer_step(trainer->optimizer, schedule_rate(&trainer->schedule));
        model_zero_grad(trainer->model);
    }
    if (!report.skipped) {
        schedule_tick(&trainer->schedule);
    }
    return report;
}
