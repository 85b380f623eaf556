/* Ranks of a run: who reads what, sums, and whether all still agree. The contract is in ranks.h. */
#include "train/ranks.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/lab.h"
#include "common/text.h"

/* The ranks of a replica draw their masks from a part of the stream that no other replica comes
   to. */
enum { MASKS_OF_REPLICA = 48 };

void ranks_share(Data *data, const Grid *grid) {
    if (grid->replicas > 1) {
        data_share(data, (DataShare){.rank = grid->replica,
                                     .ranks = grid->replicas,
                                     .rows = shard_rows,
                                     .end = shard_end,
                                     .turns = shard_turns});
    }
}

/* Gradients are summed once in a window: in the backward of its last micro-batch. */
static void backward(Trainer *trainer, float share) {
    Ranks *ranks = trainer->context;
    bool last = ++ranks->done == ranks->micros || data_batches_left(ranks->data) == 0;
    ddp_begin(ranks->ddp, last);
    ranks->backward(trainer, share);
    ddp_end(ranks->ddp);
    ranks->done = last ? 0 : ranks->done;
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

/* Of all that are here. */
static uint64_t hash_weights(const Model *model) {
    uint64_t hash = HASH_BEGIN;
    for (int i = 0; i < model->param_count; i++) {
        if (optimizer_has(&model->params[i])) {
            hash = hash_weight(model, &model->params[i], hash);
        }
    }
    return hash;
}

/* Of the last layer norm's scale, which every update changes; where it is not here, of what comes
   first. */
static uint64_t hash_one(const Model *model) {
    int i = LNF_WEIGHT;
    for (int k = 0; !optimizer_has(&model->params[i]) && k < model->param_count; k++) {
        i = k;
    }
    return optimizer_has(&model->params[i]) ? hash_weight(model, &model->params[i], HASH_BEGIN) : 0;
}

/* Rank 0 says it and ends all; the others wait for that. */
static void refuse(Comm *comm, int rank, int first, const char *has, const char *why) {
    if (comm_rank(comm) == 0) {
        fprintf(stderr, "train: rank %d %s other weights than rank %d: %s\n", rank, has, first,
                why);
        comm_abandon(comm, EXIT_RUN);
    }
    comm_barrier(comm);
}

static void expect_same_weights(const Ranks *ranks, const Model *model) {
    Comm *comm = ranks->comm;
    int count = comm_size(comm);
    uint64_t mine = hash_weights(model), *all = malloc((size_t)count * sizeof *all);
    CHECK(all != NULL, "no memory for %d ranks", count);
    comm_gather(comm, &mine, sizeof mine, all);
    for (int r = 1; r < count; r++) {
        int first = grid_first(ranks->grid, r);
        if (all[r] != all[first]) {
            refuse(comm, r, first, "begins with", "do both read the same files?");
        }
    }
    free(all);
}

static void begin_ddp(Trainer *trainer, Ranks *ranks) {
    Model *model = trainer->model;
    ranks->ddp = ddp_open(model, ranks->grid->of_replicas, ranks->bucket_bytes);
    ddp_broadcast(ranks->ddp);
    model->leave = ddp_leave;
    model->parts_context = ranks->ddp;
    ranks->backward = trainer->backward;
    trainer->backward = backward;
}

void ranks_join(Trainer *trainer, Ranks *ranks) {
    trainer->context = ranks;
    trainer->model->rng.offset += (uint64_t)ranks->grid->replica << MASKS_OF_REPLICA;
    expect_same_weights(ranks, trainer->model);
    if (ranks->grid->replicas > 1 && ranks->bucket_bytes > 0) {
        begin_ddp(trainer, ranks);
    }
}

void ranks_leave(Trainer *trainer, Ranks *ranks) {
    if (ranks->ddp != NULL) {
        trainer->model->leave = NULL;
        trainer->backward = ranks->backward;
        ddp_close(ranks->ddp);
        ranks->ddp = NULL;
    }
}

/* ---- the report of a window ------------------------------------------------------------------ */

/* A rank's word to the others about its window. */
typedef struct Word {
    double loss;
    uint64_t weights; /* hash_one() */
    uint64_t masks;   /* where the next one is drawn */
} Word;

/* Ranks that had different micro-batches have drawn different numbers of masks. They go on from
   one place, that of the one ahead: so a checkpoint of rank 0 knows it for all. */
static void settle_masks(Rng *rng, const Word *words, const Grid *grid) {
    int each = grid->stages * grid->slices;
    uint64_t most = 0;
    for (int r = 0; r < grid->replicas * each; r++) {
        uint64_t drawn = words[r].masks - ((uint64_t)(r / each) << MASKS_OF_REPLICA);
        most = drawn > most ? drawn : most;
    }
    rng->offset = ((uint64_t)grid->replica << MASKS_OF_REPLICA) + most;
}

StepReport ranks_report(Trainer *trainer, const StepReport *report) {
    const Ranks *ranks = trainer->context;
    int count = comm_size(ranks->comm);
    const Model *model = trainer->model;
    Word mine = {report->loss, hash_one(model), model->rng.offset};
    Word *words = malloc((size_t)count * sizeof *words);
    CHECK(words != NULL, "no memory for %d ranks", count);
    comm_gather(ranks->comm, &mine, sizeof mine, words);
    for (int r = 1; r < count; r++) {
        int first = grid_first(ranks->grid, r);
        if (words[r].weights != words[first].weights) {
            refuse(ranks->comm, r, first, "has updated to", "their machines do not compute alike");
        }
    }
    settle_masks(&trainer->model->rng, words, ranks->grid);
    StepReport all = *report;
    all.loss = 0;
    for (int r = 0; r < count; r++) {
        all.loss += grid_counts(ranks->grid, r) ? words[r].loss : 0;
    }
    free(words);
    return all;
}
