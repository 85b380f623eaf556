/* The plain data-parallel step: all gradients are summed when a window's last backward is done. The
   contract is in ranks.h. */
#include "train/ranks.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/lab.h"
#include "common/text.h"

/* A rank draws its masks from a part of the stream that no other rank comes to. */
enum { MASKS_OF_RANK = 48 };

static void sum_gradients(const Ranks *ranks, const Model *model) {
    for (int i = 0; i < model->param_count; i++) {
        comm_all_reduce(ranks->comm, model->params[i].grad, model->params[i].count, F32);
    }
}

static void backward(Trainer *trainer, float share) {
    Ranks *ranks = trainer->context;
    ranks->backward(trainer, share);
    if (++ranks->done == ranks->micros || data_batches_left(ranks->data) == 0) {
        sum_gradients(ranks, trainer->model);
        ranks->done = 0;
    }
}

/* ---- do all have the same weights? ----------------------------------------------------------- */

static uint64_t hash_weight(const Model *model, const Param *param, uint64_t hash) {
    size_t bytes = param->count * sizeof(float);
    unsigned char *weight = malloc(bytes);
    CHECK(weight != NULL, "no memory for %zu bytes", bytes);
    model_download_weight(model, param, (float *)(void *)weight);
    for (size_t i = 0; i < bytes; i++) {
        hash = hash_add(hash, weight[i]);
    }
    free(weight);
    return hash;
}

static uint64_t hash_weights(const Model *model) {
    uint64_t hash = HASH_BEGIN;
    for (int i = 0; i < model->param_count; i++) {
        hash = hash_weight(model, &model->params[i], hash);
    }
    return hash;
}

/* Rank 0 says it and ends all; the others wait for that. */
static void refuse(Comm *comm, int rank, const char *text) {
    if (comm_rank(comm) == 0) {
        fprintf(stderr, "train: rank %d %s\n", rank, text);
        comm_abandon(comm, EXIT_RUN);
    }
    comm_barrier(comm);
}

static void expect_same_weights(Comm *comm, const Model *model) {
    int count = comm_size(comm);
    uint64_t mine = hash_weights(model), *all = malloc((size_t)count * sizeof *all);
    CHECK(all != NULL, "no memory for %d ranks", count);
    comm_gather(comm, &mine, sizeof mine, all);
    for (int r = 1; r < count; r++) {
        if (all[r] != all[0]) {
            refuse(comm, r, "begins with other weights than rank 0: do both read the same files?");
        }
    }
    free(all);
}

void ranks_join(Trainer *trainer, Ranks *ranks) {
    ranks->backward = trainer->backward;
    trainer->backward = backward;
    trainer->context = ranks;
    trainer->model->rng.offset += (uint64_t)comm_rank(ranks->comm) << MASKS_OF_RANK;
    expect_same_weights(ranks->comm, trainer->model);
}

/* ---- the report of a window ------------------------------------------------------------------ */

/* A rank's word to the others about its window. */
typedef struct Word {
    double loss;
    uint64_t weights; /* a hash of the last layer norm's scale, which every update changes */
    uint64_t masks;   /* where the next one is drawn */
} Word;

/* Ranks that had different micro-batches have drawn different numbers of masks. They go on from
   one place, that of the one ahead: so a checkpoint of rank 0 knows it for all. */
static void settle_masks(Rng *rng, const Word *words, int ranks, int rank) {
    uint64_t most = 0;
    for (int r = 0; r < ranks; r++) {
        uint64_t drawn = words[r].masks - ((uint64_t)r << MASKS_OF_RANK);
        most = drawn > most ? drawn : most;
    }
    rng->offset = ((uint64_t)rank << MASKS_OF_RANK) + most;
}

StepReport ranks_report(Trainer *trainer, const StepReport *report) {
    const Ranks *ranks = trainer->context;
    int count = comm_size(ranks->comm);
    const Model *model = trainer->model;
    Word mine = {report->loss, hash_weight(model, &model->params[LNF_WEIGHT], HASH_BEGIN),
                 model->rng.offset};
    Word *words = malloc((size_t)count * sizeof *words);
    CHECK(words != NULL, "no memory for %d ranks", count);
    comm_gather(ranks->comm, &mine, sizeof mine, words);
    for (int r = 1; r < count; r++) {
        if (words[r].weights != words[0].weights) {
            refuse(ranks->comm, r,
                   "has updated to other weights than rank 0: their machines do "
                   "not compute alike");
        }
    }
    settle_masks(&trainer->model->rng, words, count, comm_rank(ranks->comm));
    StepReport all = *report;
    all.loss = 0;
    for (int r = 0; r < count; r++) {
        all.loss += words[r].loss;
    }
    free(words);
    return all;
}
