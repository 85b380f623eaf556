/* The plain data-parallel step: all gradients are summed when a window's last backward is done. The
   contract is in ranks.h. */
#include "train/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/lab.h"

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

void ranks_join(Trainer *trainer, Ranks *ranks) {
    ranks->backward = trainer->backward;
    trainer->backward = backward;
    trainer->context = ranks;
    trainer->model->rng.offset += (uint64_t)comm_rank(ranks->comm) << MASKS_OF_RANK;
}

/* A rank's word to the others about its window. */
typedef struct Word {
    double loss;
    float grad_norm;
    uint64_t masks; /* where the next one is drawn */
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

/* All have clipped the same sum, so the norm has the same bits. */
static void expect_same_norm(Comm *comm, const Word *words) {
    for (int r = 1; r < comm_size(comm); r++) {
        if (memcmp(&words[r].grad_norm, &words[0].grad_norm, sizeof words[0].grad_norm) == 0) {
            continue;
        }
        if (comm_rank(comm) == 0) {
            fprintf(stderr,
                    "train: the gradients of all ranks have norm %.9g on rank %d and %.9g on "
                    "rank 0: their machines do not compute alike\n",
                    (double)words[r].grad_norm, r, (double)words[0].grad_norm);
        }
        comm_barrier(comm);
        comm_abandon(comm, EXIT_RUN);
    }
}

StepReport ranks_report(Trainer *trainer, const StepReport *report) {
    const Ranks *ranks = trainer->context;
    int count = comm_size(ranks->comm);
    Word mine = {report->loss, report->grad_norm, trainer->model->rng.offset};
    Word *words = malloc((size_t)count * sizeof *words);
    CHECK(words != NULL, "no memory for %d ranks", count);
    comm_gather(ranks->comm, &mine, sizeof mine, words);
    expect_same_norm(ranks->comm, words);
    settle_masks(&trainer->model->rng, words, count, comm_rank(ranks->comm));
    StepReport all = *report;
    all.loss = 0;
    for (int r = 0; r < count; r++) {
        all.loss += words[r].loss;
    }
    free(words);
    return all;
}
