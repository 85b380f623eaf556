/* The probe's side of labs that train: opens the model from the judge's inputs. The contract is in
   probe_training.h. */
#include "grader/probe_training.h"

#include "grader/probe.h"

int given_batches(const Wire *in) {
    size_t numbers;
    wire_get(in, "shapes", WIRE_I32, &numbers);
    return (int)(numbers / 2);
}

Batch given_batch(const Wire *in, int i) {
    const int32_t *shape = wire_get(in, "shapes", WIRE_I32, NULL);
    Batch batch = {.tokens = wire_get(in, "tokens", WIRE_I32, NULL),
                   .targets = wire_get(in, "targets", WIRE_I32, NULL)};
    for (; i > 0; i--, shape += 2) {
        batch.tokens += (size_t)shape[0] * (size_t)shape[1];
        batch.targets += (size_t)shape[0] * (size_t)shape[1];
    }
    batch.B = shape[0];
    batch.T = shape[1];
    for (int j = 0; j < batch.B * batch.T; j++) {
        batch.valid += batch.targets[j] != IGNORE_INDEX;
    }
    return batch;
}

void given_weights(const Wire *in, Model *model) {
    const float *weights = wire_get(in, "weights", WIRE_F32, NULL);
    for (int i = 0; i < model->param_count; i++) {
        model_upload_weight(model, &model->params[i], weights);
        weights += model->params[i].count;
    }
}

Trainer given_trainer(const Wire *in, Memory *memory) {
    ModelConfig config = probe_config(in);
    const float *adamw = wire_get(in, "adamw", WIRE_F32, NULL);
    const float *rate = wire_get(in, "rate", WIRE_F32, NULL);
    const int32_t *schedule = wire_get(in, "schedule", WIRE_I32, NULL);
    uint64_t seed = *(const uint64_t *)wire_get(in, "seed", WIRE_U64, NULL);
    Trainer trainer = {.model = model_new(&config, memory, seed), .max_grad_norm = rate[1]};
    given_weights(in, trainer.model);
    trainer.optimizer = optimizer_new(trainer.model, (AdamW){.beta1 = adamw[0],
                                                             .beta2 = adamw[1],
                                                             .epsilon = adamw[2],
                                                             .weight_decay = adamw[3]});
    trainer.schedule = (Schedule){.learning_rate = rate[0],
                                  .decay = (Decay)schedule[0],
                                  .warmup_steps = schedule[1],
                                  .max_steps = schedule[2]};
    return trainer;
}

void hand_back(Wire *out, Device *device, const char *name, const float *values, size_t count) {
    size_t wanted;
    float *to = wire_get(out, name, WIRE_F32, &wanted);
    CHECK(count == wanted, "%s: %zu numbers, not %zu", name, wanted, count);
    device_download(device, to, values, count * sizeof *to);
}

void hand_back_gradients(Wire *out, const Model *model, const char *what, const char *when, int i) {
    for (int k = 0; k < model->param_count; k++) {
        char name[WIRE_NAME];
        const Param *param = &model->params[k];
        hand_back(out, model->device, param_name(name, what, param, when, i), param->grad,
                  param->count);
    }
}
