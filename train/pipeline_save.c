/* Saves of a run in stages: the whole model in host memory, for as long as a file is written or
   read. The contracts are in pipeline.h. */
#include <stdlib.h>
#include <string.h>

#include "common/weights.h"
#include "train/pipeline.h"

/* A trainer whose model is whole; its device is a CPU, and no budget counts its memory. */
typedef struct WholeModel {
    Device *device;
    Memory *memory;
    Trainer trainer;
} WholeModel;

static WholeModel whole_open(const Trainer *stage) {
    WholeModel whole = {.device = device_cpu_new(0), .trainer = *stage};
    CHECK(whole.device != NULL, "no host memory for a whole model");
    whole.memory = memory_new(whole.device, (MemoryOptions){0});
    whole.trainer.model = model_new_zero(&stage->model->config, whole.memory);
    whole.trainer.model->rng = stage->model->rng;
    whole.trainer.optimizer =
        optimizer_new_as(whole.trainer.model, stage->optimizer->adamw, stage->optimizer->rule);
    whole.trainer.optimizer->t = stage->optimizer->t;
    return whole;
}

static void whole_close(WholeModel *whole) {
    optimizer_free(whole->trainer.optimizer);
    model_free(whole->trainer.model);
    memory_free(whole->memory);
    device_free(whole->device);
}

static void *host_new(size_t bytes) {
    void *data = malloc(bytes + 1);
    CHECK(data != NULL, "no host memory for %zu bytes", bytes);
    return data;
}

/* The stage's parameter i of the whole model; NULL where it is another stage's. */
static const Param *own_param(const Model *stage, int i) {
    for (int k = 0; k < stage->param_count; k++) {
        if (stage->params[k].weight == stage->base[i].weight) {
            return &stage->params[k];
        }
    }
    return NULL;
}

/* The same for a state, by its name and parameter. */
static const OptimizerState *own_state(const Optimizer *stage, const OptimizerState *wanted) {
    const Param *param = own_param(stage->model, wanted->param);
    for (int k = 0; param != NULL && k < stage->state_count; k++) {
        const OptimizerState *state = &stage->states[k];
        if (&stage->model->params[state->param] == param &&
            strcmp(state->name, wanted->name) == 0) {
            return state;
        }
    }
    return NULL;
}

/* ---- together -------------------------------------------------------------------------------- */

/* The bytes of the first rank that has them, into `whole`, where that is not NULL. */
static void gather(Comm *comm, bool mine, const void *bring, size_t bytes, void *whole) {
    size_t ranks = (size_t)comm_size(comm), each = bytes + 1;
    char *one = host_new(each), *all = host_new(ranks * each);
    memset(one, 0, each);
    one[bytes] = mine;
    if (mine) {
        memcpy(one, bring, bytes);
    }
    comm_gather(comm, one, each, all);
    size_t owner = 0;
    while (owner < ranks && !all[owner * each + bytes]) {
        owner++;
    }
    CHECK(owner < ranks, "no stage has it");
    if (whole != NULL) {
        memcpy(whole, all + owner * each, bytes);
    }
    free(one);
    free(all);
}

static void gather_weight(const Pipeline *pipeline, WholeModel *whole, int i) {
    const Model *stage = pipeline->pipe.model;
    const Param *own = own_param(stage, i);
    size_t bytes = stage->base[i].count * sizeof(float);
    float *values = host_new(bytes);
    if (own != NULL) {
        model_download_weight(stage, own, values);
    }
    gather(pipeline->comm, own != NULL, values, bytes, whole != NULL ? values : NULL);
    if (whole != NULL) {
        model_upload_weight(whole->trainer.model, &whole->trainer.model->base[i], values);
    }
    free(values);
}

/* `wanted` is the whole's, or what one would be. */
static void gather_state(const Pipeline *pipeline, const Optimizer *stage,
                         const OptimizerState *wanted, WholeModel *whole) {
    const OptimizerState *own = own_state(stage, wanted);
    size_t bytes = wanted->count * wanted->size;
    void *values = host_new(bytes);
    if (own != NULL) {
        device_download(stage->model->device, values, own->data, bytes);
    }
    gather(pipeline->comm, own != NULL, values, bytes, values);
    if (whole != NULL) {
        device_upload(whole->device, wanted->data, values, bytes);
    }
    free(values);
}

int pipeline_save(const Pipeline *pipeline, const Snapshot *snapshot, const char *output_dir,
                  int limit) {
    /* every rank needs the list of states, not only the one that writes */
    WholeModel whole = whole_open(snapshot->trainer);
    WholeModel *written = output_dir != NULL ? &whole : NULL;
    for (int i = 0; i < whole.trainer.model->base_count; i++) {
        gather_weight(pipeline, written, i);
    }
    for (int i = 0; i < whole.trainer.optimizer->state_count; i++) {
        gather_state(pipeline, snapshot->trainer->optimizer, &whole.trainer.optimizer->states[i],
                     written);
    }
    int result = 0;
    if (written != NULL) {
        Snapshot all = *snapshot;
        all.trainer = &whole.trainer;
        result = snapshot_save(&all, output_dir, limit);
    }
    whole_close(&whole);
    return result;
}

/* ---- apart ----------------------------------------------------------------------------------- */

static void take_weights(Model *stage, const Model *whole) {
    for (int i = 0; i < whole->base_count; i++) {
        if (own_param(stage, i) != NULL) {
            float *values = host_new(whole->base[i].count * sizeof *values);
            model_download_weight(whole, &whole->base[i], values);
            model_upload_weight(stage, &stage->base[i], values);
            free(values);
        }
    }
}

static void take_states(Optimizer *stage, const Optimizer *whole) {
    for (int i = 0; i < whole->state_count; i++) {
        const OptimizerState *from = &whole->states[i], *own = own_state(stage, from);
        if (own != NULL) {
            device_upload(stage->model->device, own->data, from->data, from->count * from->size);
        }
    }
    stage->t = whole->t;
}

int pipeline_load(Snapshot *snapshot, const char *folder) {
    Trainer *stage = snapshot->trainer;
    WholeModel whole = whole_open(stage);
    snapshot->trainer = &whole.trainer;
    int result = snapshot_load(snapshot, folder);
    snapshot->trainer = stage;
    if (result == 0) {
        stage->schedule = whole.trainer.schedule;
        stage->model->rng = whole.trainer.model->rng;
        take_weights(stage->model, whole.trainer.model);
        take_states(stage->optimizer, whole.trainer.optimizer);
    }
    whole_close(&whole);
    return result;
}

int pipeline_load_weights(const Trainer *trainer, const char *path) {
    WholeModel whole = whole_open(trainer);
    int result = weights_load(whole.trainer.model, path);
    if (result == 0) {
        take_weights(trainer->model, whole.trainer.model);
    }
    whole_close(&whole);
    return result;
}
