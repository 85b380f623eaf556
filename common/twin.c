/* Pieces of all ranks as one model in host memory, and the way back. The contract is in twin.h. */
#include "common/twin.h"

#include <stdlib.h>
#include <string.h>

static void *host_new(size_t bytes) {
    void *data = malloc(bytes + 1);
    CHECK(data != NULL, "no host memory for %zu bytes", bytes);
    return data;
}

Twin *twin_open(const Optimizer *pieces) {
    Twin *twin = host_new(sizeof *twin);
    twin->device = device_cpu_new(0);
    CHECK(twin->device != NULL, "no host memory for a whole model");
    twin->memory = memory_new(twin->device, (MemoryOptions){0});
    twin->model = model_new_zero(&pieces->model->config, twin->memory);
    twin->optimizer = optimizer_new_as(twin->model, pieces->adamw, pieces->rule);
    CHECK(twin->optimizer->state_count == pieces->state_count, "%d states, and %d of the pieces",
          twin->optimizer->state_count, pieces->state_count);
    return twin;
}

void twin_close(Twin *twin) {
    if (twin != NULL) {
        optimizer_free(twin->optimizer);
        model_free(twin->model);
        memory_free(twin->memory);
        device_free(twin->device);
        free(twin);
    }
}

/* ---- together -------------------------------------------------------------------------------- */

/* The arrays of all ranks end to end: `mine` has `bytes`, and all together have those of `whole`,
   host memory, or NULL where this rank does not need them. */
static void join(Comm *comm, const void *mine, size_t bytes, void *whole) {
    size_t ranks = (size_t)comm_size(comm), most = 0;
    size_t *each = host_new(ranks * sizeof *each);
    comm_gather(comm, &bytes, sizeof bytes, each);
    for (size_t r = 0; r < ranks; r++) {
        most = each[r] > most ? each[r] : most;
    }
    char *padded = host_new(most), *all = host_new(ranks * most), *to = whole;
    memcpy(padded, mine, bytes);
    comm_gather(comm, padded, most, all);
    for (size_t r = 0; r < ranks && to != NULL; to += each[r], r++) {
        memcpy(to, all + r * most, each[r]);
    }
    free(all);
    free(padded);
    free(each);
}

static void join_weight(Twin *twin, const Model *pieces, int i, Comm *comm) {
    const Param *piece = &pieces->params[i];
    float *mine = host_new(piece->count * sizeof *mine);
    float *whole = twin != NULL ? host_new(piece->whole * sizeof *whole) : NULL;
    model_download_weight(pieces, piece, mine);
    join(comm, mine, piece->count * sizeof *mine, whole);
    if (twin != NULL) {
        model_upload_weight(twin->model, &twin->model->params[i], whole);
    }
    free(whole);
    free(mine);
}

static void join_state(Twin *twin, const Optimizer *pieces, int i, Comm *comm) {
    const OptimizerState *state = &pieces->states[i];
    size_t bytes = state->count * state->size;
    CHECK(state->each > 0, "state \"%s\" of a piece is of no use to the whole", state->name);
    void *mine = host_new(bytes);
    device_download(pieces->model->device, mine, state->data, bytes);
    join(comm, mine, bytes, twin != NULL ? twin->optimizer->states[i].data : NULL);
    free(mine);
}

void twin_gather(Twin *twin, const Optimizer *pieces, Comm *comm) {
    for (int i = 0; i < pieces->model->param_count; i++) {
        join_weight(twin, pieces->model, i, comm);
    }
    for (int i = 0; i < pieces->state_count; i++) {
        join_state(twin, pieces, i, comm);
    }
    if (twin != NULL) {
        twin->optimizer->t = pieces->t;
    }
}

/* ---- apart ----------------------------------------------------------------------------------- */

static void cut_weight(const Twin *twin, Model *whole, Model *pieces, int i) {
    const Param *param = &twin->model->params[i];
    float *values = host_new(param->count * sizeof *values);
    model_download_weight(twin->model, param, values);
    model_upload_weight(whole, &whole->params[i], values);
    if (pieces->mirrors != NULL) {
        model_upload_weight(pieces, &pieces->params[i], values + pieces->params[i].first);
    }
    free(values);
}

static void cut_state(const Twin *twin, Optimizer *pieces, int i) {
    const OptimizerState *state = &pieces->states[i], *from = &twin->optimizer->states[i];
    const Param *piece = &pieces->model->params[state->param];
    CHECK(state->each > 0, "state \"%s\" of a piece is of no use to the whole", state->name);
    size_t first = piece->first / state->each;
    device_upload(pieces->model->device, state->data,
                  (const char *)from->data + first * state->size, state->count * state->size);
}

void twin_cut(const Twin *twin, Model *whole, Optimizer *pieces) {
    const Model *cut = pieces->model->mirrors != NULL ? pieces->model->mirrors : pieces->model;
    CHECK(whole->pieces == cut, "these are pieces of another model");
    for (int i = 0; i < whole->param_count; i++) {
        cut_weight(twin, whole, pieces->model, i);
    }
    for (int i = 0; i < pieces->state_count; i++) {
        cut_state(twin, pieces, i);
    }
    pieces->t = twin->optimizer->t;
}
