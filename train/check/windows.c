/* Windows of several ranks. What one rank should have seen, another model computes on each rank by
   itself: the gradients of all ranks one after the other, summed in their order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "labs/03_accumulate/contract.h"
#include "labs/05_fp16/contract.h"
#include "train/check/ranks.h"
#include "train/ranks.h"
#include "train/techniques.h"

enum { ROWS = 3, LONGEST = 13, MOST_RANKS = 64, BATCHES = 2 * MOST_RANKS + 1, SEED = 5 };

/* Sizes that nothing divides. */
static const ModelConfig shape = {.V = 259, .T = LONGEST, .L = 2, .NH = 3, .C = 15};
static const AdamW adamw = {.beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-3f, .weight_decay = 0.1f};

/* A trainer with all that it needs. */
typedef struct Whole {
    Memory *memory;
    Mixed mixed;
    Trainer trainer;
} Whole;

/* A run of several windows. */
typedef struct RankTrial {
    Comm *comm;
    int rank, ranks, micros; /* micro-batches of a window on each rank */
    ModelConfig config;
    Batch batches[BATCHES];
    int count; /* of them */
    Whole shared, alone;
    Grid grid;
    Ranks others;
    int window;                 /* that runs */
    double loss;                /* expected of it */
    float *want, *got, *single; /* (elements) gradients */
    size_t elements;
    bool drifted;  /* the last rank updates to other weights */
    bool differs;  /* the last rank begins with other weights */
    bool poisoned; /* the last rank's first gradient is infinite */
    int skipped;
} RankTrial;

/* ---- micro-batches --------------------------------------------------------------------------- */

/* Ragged, one of them without a valid target, and one more than the ranks can share. */
static void make_batches(RankTrial *trial) {
    static int32_t tokens[BATCHES][ROWS * LONGEST], targets[BATCHES][ROWS * LONGEST];
    trial->count = 2 * trial->ranks + 1;
    for (int m = 0; m < trial->count; m++) {
        Batch batch = {
            .B = 1 + m % ROWS, .T = LONGEST - m % 5, .tokens = tokens[m], .targets = targets[m]};
        for (int i = 0; i < batch.B * batch.T; i++) {
            bool valid = m != 1 && (i + m) % 4 != 2;
            tokens[m][i] = (m * 89 + i * 37) % shape.V;
            targets[m][i] = valid ? (m * 53 + i * 101 + 7) % shape.V : IGNORE_INDEX;
            batch.valid += valid;
        }
        trial->batches[m] = batch;
    }
}

/* ---- trainers -------------------------------------------------------------------------------- */

static void make(Whole *whole, const ModelConfig *config, Device *device) {
    whole->memory = memory_new(device, (MemoryOptions){.checked = !device->simulated});
    Model *model = model_new(config, whole->memory, SEED);
    whole->trainer = (Trainer){.model = model,
                               .optimizer = optimizer_new(model, adamw),
                               .schedule = {.learning_rate = 1e-2f, .max_steps = 50},
                               .mixed = config->precision == F32 ? NULL : &whole->mixed};
    if (config->precision != F32) {
        mixed_init(&whole->mixed, config->precision);
    }
    techniques_set(&whole->trainer);
}

static void unmake(Whole *whole) {
    optimizer_free(whole->trainer.optimizer);
    model_free(whole->trainer.model);
    memory_free(whole->memory);
}

static void read_gradients(const Model *model, float *to) {
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        device_download(model->device, to, param->grad, param->count * sizeof *to);
        to += param->count;
    }
}

static void read_weights(const Model *model, float *to) {
    for (int i = 0; i < model->param_count; i++) {
        model_download_weight(model, &model->params[i], to);
        to += model->params[i].count;
    }
}

static void copy_weights(const RankTrial *trial) {
    Model *to = trial->alone.trainer.model;
    const float *from = trial->single;
    read_weights(trial->shared.trainer.model, trial->single);
    for (int i = 0; i < to->param_count; i++) {
        model_upload_weight(to, &to->params[i], from);
        from += to->params[i].count;
    }
}

/* ---- what each rank learns by itself --------------------------------------------------------- */

/* The sum of the losses of rank r's part of the window; its gradients are in trial->single. */
static double learn(RankTrial *trial, int r, int first, int end, float share) {
    Trainer *trainer = &trial->alone.trainer;
    double loss = 0;
    model_zero_grad(trainer->model);
    for (int m = first + r; m < end; m += trial->ranks) {
        loss += trainer_forward(trainer, &trial->batches[m]);
        trainer_backward(trainer, share);
    }
    read_gradients(trainer->model, trial->single);
    return loss;
}

static void expect_window(RankTrial *trial) {
    int together = trial->micros * trial->ranks, first = trial->window * together;
    int end = first + together < trial->count ? first + together : trial->count;
    int tokens = 0;
    for (int m = first; m < end; m++) {
        tokens += trial->batches[m].valid;
    }
    float share = tokens > 0 ? 1.0f / (float)tokens : 0;
    copy_weights(trial);
    trial->alone.mixed = trial->shared.mixed;
    trial->loss = 0;
    for (int r = 0; r < trial->ranks; r++) {
        trial->loss += learn(trial, r, first, end, share) * (double)share;
        for (size_t i = 0; i < trial->elements; i++) {
            trial->want[i] = r == 0 ? trial->single[i] : trial->want[i] + trial->single[i];
        }
    }
    if (trial->config.precision != F32) {
        for (size_t i = 0; i < trial->elements; i++) {
            trial->want[i] *= 1 / trial->shared.mixed.scaler.scale;
        }
    }
}

/* Called by optimizer_step(): the gradients are those of all ranks, and not clipped. */
static void look(void *context, const Model *model) {
    RankTrial *trial = context;
    expect_window(trial);
    read_gradients(model, trial->got);
    for (size_t i = 0; i < trial->elements; i++) {
        CHECK(
            trial->got[i] == trial->want[i],
            "window %d of %d ranks, %d micro-batches, %s: gradient %zu is %.9g on rank %d, and not "
            "%.9g",
            trial->window, trial->ranks, trial->micros, precision_name(trial->config.precision), i,
            (double)trial->got[i], trial->rank, (double)trial->want[i]);
    }
}

/* ---- a run ----------------------------------------------------------------------------------- */

/* Of the first window, one gradient of one rank overflows. */
static void poison(RankTrial *trial) {
    static const float infinite = INFINITY;
    Model *model = trial->shared.trainer.model;
    trial->poisoned = false;
    if (trial->rank == trial->ranks - 1) {
        device_upload(model->device, model->params[WPE].grad, &infinite, sizeof infinite);
    }
}

static void drift(const Model *model, int id) {
    static const float some = 0.5f;
    device_upload(model->device, model->params[id].weight, &some, sizeof some);
}

static bool after_window(void *context, const StepReport *own) {
    RankTrial *trial = context;
    StepReport report = ranks_report(&trial->shared.trainer, own);
    trial->skipped += report.skipped;
    bool known = !report.skipped && trial->config.dropout == 0 && !trial->drifted;
    CHECK(!known || report.loss == trial->loss, "window %d: loss %.17g, and not %.17g",
          trial->window, report.loss, trial->loss);
    trial->window++;
    return true;
}

/* All ranks have the same weights, scale, and number of masks drawn. */
static void expect_same_end(RankTrial *trial) {
    const Model *model = trial->shared.trainer.model;
    uint64_t all[3 * MOST_RANKS], mine[3] = {HASH_BEGIN, model->rng.offset & UINT32_MAX, 0};
    CHECK(model->rng.offset >> 48 == (uint64_t)trial->rank, "rank %d draws the masks of another",
          trial->rank);
    read_weights(model, trial->got);
    for (size_t i = 0; i < trial->elements * sizeof(float); i++) {
        mine[0] = hash_add(mine[0], ((unsigned char *)trial->got)[i]);
    }
    mine[2] = (uint64_t)trial->shared.mixed.scaler.scale;
    comm_gather(trial->comm, mine, sizeof mine, all);
    for (int r = 0; r < trial->ranks; r++) {
        CHECK(memcmp(&all[3 * r], mine, sizeof mine) == 0,
              "rank %d ends with other weights, masks or scale than rank %d", r, trial->rank);
    }
}

static void run(RankTrial *trial, Device *device) {
    make(&trial->alone, &trial->config, device);
    make(&trial->shared, &trial->config, device);
    Trainer *trainer = &trial->shared.trainer;
    trial->elements = model_param_elements(trainer->model);
    float *room = malloc(3 * trial->elements * sizeof *room);
    CHECK(room != NULL, "no memory for %zu gradients", trial->elements);
    trial->want = room;
    trial->got = room + trial->elements;
    trial->single = room + 2 * trial->elements;
    if (trial->config.dropout == 0 && !trial->drifted) { /* else each model draws its own masks */
        trainer->optimizer->before_step = look;
        trainer->optimizer->context = trial;
    }
    Data *data = data_from_batches(trial->batches, trial->count);
    trial->grid = (Grid){.replicas = trial->ranks,
                         .stages = 1,
                         .slices = 1,
                         .replica = trial->rank,
                         .of_replicas = comm_nccl(trial->comm)};
    ranks_share(data, &trial->grid);
    trial->others = (Ranks){.comm = trial->comm,
                            .grid = &trial->grid,
                            .data = data,
                            .micros = trial->micros,
                            .bucket_bytes = 1000};
    if (trial->differs && trial->rank == trial->ranks - 1) {
        drift(trainer->model, WTE);
    }
    ranks_join(trainer, &trial->others);
    bool skips = trial->poisoned;
    float scale = trial->shared.mixed.scaler.scale;
    if (trial->poisoned) {
        poison(trial);
    }
    if (trial->drifted && trial->rank == trial->ranks - 1) {
        drift(trainer->model, LNF_WEIGHT);
    }
    train_epoch(trainer, data, trial->micros, after_window, trial);
    int together = trial->micros * trial->ranks;
    CHECK(trial->window == (trial->count + together - 1) / together, "%d windows", trial->window);
    CHECK(trial->skipped == skips, "%d windows were skipped on rank %d", trial->skipped,
          trial->rank);
    CHECK(!skips || trial->shared.mixed.scaler.scale == scale / 2, "scale %g after %g",
          (double)trial->shared.mixed.scaler.scale, (double)scale);
    expect_same_end(trial);
    ranks_leave(trainer, &trial->others);
    data_free(data);
    free(room);
    unmake(&trial->shared);
    unmake(&trial->alone);
}

static void try_one(Comm *comm, Device *device, RankTrial settings) {
    RankTrial *trial = malloc(sizeof *trial);
    CHECK(trial != NULL, "no memory for a few bytes");
    *trial = settings;
    trial->comm = comm;
    trial->rank = comm_rank(comm);
    trial->ranks = comm_size(comm);
    make_batches(trial);
    run(trial, device);
    free(trial);
}

void check_windows(Comm *comm, Device *device) {
    static const struct {
        Precision precision;
        int micros;
        float dropout;
        bool poisoned;
    } cases[] = {{F32, 1, 0, false},  {F32, 2, 0, false}, {F32, 1, 0.3f, false},
                 {BF16, 1, 0, false}, {F16, 2, 0, false}, {F16, 1, 0, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        RankTrial settings = {
            .config = shape, .micros = cases[i].micros, .poisoned = cases[i].poisoned};
        settings.config.precision = cases[i].precision;
        settings.config.dropout = cases[i].dropout;
        try_one(comm, device, settings);
    }
}

void check_drift(Comm *comm, Device *device, bool late) {
    try_one(comm, device,
            (RankTrial){.config = shape, .micros = 1, .drifted = late, .differs = !late});
}
