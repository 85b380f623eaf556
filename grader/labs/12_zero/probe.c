/* Lab 12 in the probe: updates of ranks that share a model, and texts of such ranks. */
#include <cudasim_left.h>
#include <cudasim_record.h>
#include <stdlib.h>
#include <string.h>

#include "grader/labs/12_zero/shared.h"
#include "grader/probe.h"
#include "grader/rank_heap.h"
#include "labs/12_zero/contract.h"

/* A rank that is open. */
typedef struct ZeroRank {
    RankRun *run;
    Zero *zero;
    Model *model;
    Mixed mixed;
    Trainer trainer;
    cudaStream_t stream;   /* of the calls */
    int step;              /* of these micro-batches */
    bool spoils;           /* this one has a gradient that is not finite, or large */
    size_t weights, grads; /* bytes of units that came and went, at most */
    int parts;             /* of passes that have ended */
} ZeroRank;

/* ---- where things are ------------------------------------------------------------------------ */

/* The tensor that has this byte; NULL where none has. */
static const Tensor *tensor_of(Memory *memory, const void *data) {
    size_t count;
    const Tensor *tensor = memory_peak_tensors(memory, &count);
    for (size_t i = 0; i < count; i++) {
        const char *begin = tensor[i].data, *at = data;
        if (begin <= at && at < begin + tensor[i].bytes) {
            return &tensor[i];
        }
    }
    return NULL;
}

static void expect_counted_one(const RankRun *run, MemoryKind kind, const Param *p,
                               const void *data, size_t element) {
    const char *what = kind == MEMORY_WEIGHTS ? "weight" : "gradient", *from = data;
    const Tensor *tensor = tensor_of(run->memory, from);
    if (tensor == NULL) {
        probe_lost("rank %d, %s, layer %d: the %s in the model is in no tensor of memory_alloc() "
                   "that is still held: released, or never allocated there",
                   run->rank, p->name, p->layer, what);
    } else if (tensor->kind != kind) {
        probe_lost("rank %d, %s, layer %d: the %s in the model is in a tensor of kind %s: it is "
                   "counted as %s, and held as long as the model has it",
                   run->rank, p->name, p->layer, what, memory_kind_name(tensor->kind),
                   memory_kind_name(kind));
    } else if (from + p->count * element > (const char *)tensor->data + tensor->bytes) {
        probe_lost("rank %d, %s, layer %d: the %s in the model has %zu numbers of %zu bytes, and "
                   "reaches beyond the end of its tensor, which has %zu bytes",
                   run->rank, p->name, p->layer, what, p->count, element, tensor->bytes);
    }
}

/* The weights and gradients of a model are in memory that is counted. */
static void expect_counted(const RankRun *run, const Model *model) {
    size_t element = precision_bytes(model->config.precision);
    memory_peak_reset(run->memory); /* those alive are those of the peak */
    for (int i = 0; i < model->param_count; i++) {
        const Param *p = &model->params[i];
        if (p->count > 0 && p->weight != NULL) {
            expect_counted_one(run, MEMORY_WEIGHTS, p, p->weight, element);
        }
        if (p->count > 0 && p->grad != NULL) {
            expect_counted_one(run, MEMORY_GRADIENTS, p, p->grad, sizeof(float));
        }
    }
}

/* A part is at this place: where is the record? */
static void tell_part(const ZeroRank *rank, size_t place) {
    const RankRun *run = rank->run;
    if (run->option[RANKS_RECORD] && rank->parts < ZERO_MOST_PARTS) {
        size_t i = (size_t)rank->parts * PLACES + place;
        rank_give_number(run, "parts", (size_t)ZERO_MOST_PARTS * PLACES, i, cudasim_record().count);
    }
}

static bool is_layer(const ZeroRank *rank, int layer) {
    return layer >= 0 && layer < rank->model->config.L;
}

static void enter(void *context, int layer, bool backward) {
    ZeroRank *rank = context;
    ranks_forget(rank->run);
    tell_part(rank, PLACE_ENTERED);
    if (rank->run->option[ZERO_AGAIN] && backward && is_layer(rank, layer)) {
        zero_enter(rank->zero, layer, false);
        zero_leave(rank->zero, layer, false);
    }
    zero_enter(rank->zero, layer, backward);
    size_t weights = memory_lane_now(rank->zero->weights) +
                     memory_lane_now(memory_lane(rank->run->memory, "weights ahead"));
    size_t grads = memory_lane_now(rank->zero->grads);
    rank->weights = weights > rank->weights ? weights : rank->weights;
    rank->grads = grads > rank->grads ? grads : rank->grads;
    expect_counted(rank->run, rank->model);
    tell_part(rank, PLACE_BEGAN);
}

/* The gradient of a parameter is complete, and not yet summed. */
static void leave(void *context, int layer, bool backward) {
    ZeroRank *rank = context;
    tell_part(rank, PLACE_ENDED);
    rank->parts++;
    int of = rank->model->params[rank->run->option[ZERO_SPOILED_PARAM]].layer;
    if (rank->spoils && backward && layer == of) {
        shared_spoil(rank->run, rank->step, rank->model);
    }
    zero_leave(rank->zero, layer, backward);
}

/* ---- open and close -------------------------------------------------------------------------- */

/* Bytes that each of them left would not all fit into a rank's heap. What exists is counted for all
   ranks together: others may have opened theirs meanwhile, with fewer streams and events than half
   of what a loop leaves. */
static void reopen_ahead(Zero *zero) {
    int before = cudasim_left().handles;
    for (int i = 0; i < ZERO_REPEATED; i++) {
        zero_ahead_open(zero);
        zero_ahead_close(zero);
        if (zero->ahead != NULL) {
            probe_lost("zero_ahead_close() has left zero->ahead as it was: it is NULL then");
        }
    }
    int left = cudasim_left().handles - before;
    if (left >= ZERO_REPEATED / 2) {
        probe_lost("opened and closed %d times, %d streams or events are left: "
                   "zero_ahead_close() destroys what zero_ahead_open() has created",
                   ZERO_REPEATED, left);
    }
}

/* Where ops are in no stream, the calls may be in any: then the host waits for that one. */
static void open_stream(ZeroRank *rank) {
    if (rank->run->device->host_memory) {
        cudaError_t opened = cudaStreamCreate(&rank->stream);
        CHECK(opened == cudaSuccess, "%s", cudaGetErrorString(opened));
    }
}

/* A smaller model of the same ranks, and its norm: nothing of it may be left in the next one. */
static void open_before(const ZeroRank *rank, ModelConfig config) {
    const RankRun *run = rank->run;
    MemoryMark mark = memory_mark(run->memory);
    config.L = 1;
    config.C = 2 * config.NH;
    ModelPart part = model_whole(&config);
    part.weights = part.grads = false;
    Model *model = model_new_part(&config, &part, run->memory, 1);
    Zero *zero = zero_open(model, run->option[ZERO_STAGE], run->comm, rank->stream);
    zero_norm(zero->shard);
    zero_close(zero);
    model_free(model);
    memory_release(run->memory, mark);
}

static void open_rank(ZeroRank *rank, RankRun *run) {
    ModelConfig config = probe_config(run->in);
    uint64_t seed = *(const uint64_t *)wire_get(run->in, "seed", WIRE_U64, NULL);
    AdamW adamw;
    ModelPart part = model_whole(&config);
    part.weights = part.grads = false;
    *rank = (ZeroRank){.run = run, .mixed = shared_mixed(run, config.precision)};
    rank->trainer = shared_settings(run, &adamw);
    open_stream(rank);
    if (run->option[ZERO_TINY]) {
        open_before(rank, config);
    }
    rank->model = model_new_part(&config, &part, run->memory, seed);
    rank->zero = zero_open(rank->model, run->option[ZERO_STAGE], run->comm, rank->stream);
    CHECK(rank->model->pieces != NULL && rank->model->pieces == rank->zero->shard,
          "zero_open() has made no pieces");
    CHECK(rank->model->enter == zero_enter && rank->model->leave == zero_leave &&
              rank->model->parts_context == rank->zero,
          "zero_open() has not set zero_enter() and zero_leave()");
    if (run->option[ZERO_PREFETCH] == 2) {
        reopen_ahead(rank->zero);
    }
    if (run->option[ZERO_PREFETCH]) {
        zero_ahead_open(rank->zero);
    }
    rank->model->enter = enter;
    rank->model->leave = leave;
    rank->model->parts_context = rank;
    given_weights(run->in, rank->model);
    rank->trainer.model = rank->model;
    rank->trainer.zero = rank->zero;
    rank->trainer.mixed = run->option[ZERO_SCALED] ? &rank->mixed : NULL;
    rank->trainer.optimizer = optimizer_new(rank->model->pieces, adamw);
}

/* Here the host has waited for all that was sent for: where is the record? */
static void tell_closed(const RankRun *run) {
    if (run->option[RANKS_RECORD]) {
        rank_give_number(run, "closed", 1, 0, cudasim_record().count);
    }
}

static void close_rank(ZeroRank *rank) {
    optimizer_free(rank->trainer.optimizer);
    zero_close(rank->zero);
    tell_closed(rank->run);
    model_free(rank->model);
    if (rank->stream != NULL) {
        cudaStreamDestroy(rank->stream);
    }
}

/* The bytes that stay: what is not here now comes and goes. */
static void give_states(const ZeroRank *rank) {
    static const MemoryKind kinds[] = {MEMORY_WEIGHTS, MEMORY_GRADIENTS, MEMORY_OPTIMIZER};
    MemoryUse now = memory_now(rank->run->memory);
    for (size_t i = 0; i < 3; i++) {
        rank_give_number(rank->run, "states", STATES, STAYS_WEIGHTS + i, now.bytes[kinds[i]]);
    }
    rank_give_number(rank->run, "states", STATES, LANE_WEIGHTS, rank->weights);
    rank_give_number(rank->run, "states", STATES, LANE_GRADIENTS, rank->grads);
}

/* Numbers that were not handed back have the same bits. */
static void mark_unwritten(float *values, size_t count) {
    static const uint32_t mark = ZERO_UNWRITTEN;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        memcpy(&values[i], bits == 0xffffffff ? &mark : &bits, sizeof bits);
    }
}

/* This rank's pieces, each in its place among all numbers; the rest stays blank. */
static void give_pieces(const ZeroRank *rank, int s) {
    char name[WIRE_NAME];
    const Model *pieces = rank->model->pieces;
    float *to = wire_get(rank->run->out, rank_name(name, "own", rank->run->rank, "window", s),
                         WIRE_F32, NULL);
    for (int i = 0; i < pieces->param_count; i++) {
        const Param *piece = &pieces->params[i];
        if (piece->count > 0) {
            model_download_weight(pieces, piece, to + piece->first);
            mark_unwritten(to + piece->first, piece->count);
        }
        to += piece->whole;
    }
}

static void give_report(const ZeroRank *rank, int s, const StepReport *report) {
    const RankRun *run = rank->run;
    size_t columns = (size_t)run->option[ZERO_STEPS] * REPORTED, at = (size_t)s * REPORTED;
    rank_give_double(run, "reports", columns, at + REPORTED_NORM, (double)report->grad_norm);
    rank_give_double(run, "reports", columns, at + REPORTED_RATE, (double)report->learning_rate);
    rank_give_number(run, "reports", columns, at + REPORTED_SKIPPED, report->skipped);
    rank_give_double(run, "reports", columns, at + REPORTED_SCALE,
                     (double)rank->mixed.scaler.scale);
    rank_give_number(run, "reports", columns, at + REPORTED_UPDATES,
                     (uint64_t)rank->trainer.optimizer->t);
}

static void learn_shards(ZeroRank *rank, int s) {
    const RankRun *run = rank->run;
    for (int k = 0; k < run->option[ZERO_MICROS]; k++) {
        Batch batch = shared_batch(run, s, k, run->rank);
        float share = shared_share(run, s, rank->trainer.mixed);
        rank->step = s;
        rank->spoils = shared_spoils(run, s, k, run->rank);
        model_forward(rank->model, &batch);
        model_backward(rank->model, share);
    }
}

/* The norm of gradients that are given, each rank's pieces of them. */
static void give_planted(const ZeroRank *rank) {
    const Model *pieces = rank->model->pieces;
    const float *planted = wire_get(rank->run->in, "planted", WIRE_F32, NULL);
    for (int i = 0; i < pieces->param_count; i++) {
        const Param *piece = &pieces->params[i];
        if (piece->count > 0) {
            device_upload(pieces->device, piece->grad, planted + piece->first,
                          piece->count * sizeof *planted);
        }
        planted += piece->whole;
    }
    rank_give_double(rank->run, "planted norm", 1, 0, (double)zero_norm(rank->model->pieces));
}

/* Units that nobody needs are sent for: one is dropped when the next pass begins, one is still on
   its way when the rank is closed. */
static void send_for_nothing(const ZeroRank *rank) {
    Batch batch = shared_batch(rank->run, 0, 0, rank->run->rank);
    zero_ahead_next(rank->zero, 0, false);
    model_evaluate(rank->model, &batch);
    zero_ahead_next(rank->zero, 0, false);
}

/* All ranks are open, and what was opened stays: nothing may come to it in each step. */
static void expect_no_handles(const RankRun *run, int before) {
    int more = cudasim_left().handles - before;
    if (run->option[ZERO_PREFETCH] && more >= 3 * run->ranks) {
        probe_lost("after %d steps there are %d streams and events more than after the first one: "
                   "what is created for a gather is destroyed again, or is created once, by "
                   "zero_ahead_open()",
                   run->option[ZERO_STEPS], more);
    }
}

/* A step that learns has been before: what one keeps is there. */
static void expect_same_heap(const RankRun *run, int s, size_t before) {
    if (s > 1 && rank_heap_used() > before) {
        probe_lost("rank %d: step %d leaves %zu KiB of malloc(), in pages: what a step takes it "
                   "gives back by free()",
                   run->rank, s, (rank_heap_used() - before) >> 10);
    }
}

/* Of the report zero_update() writes a part; the rest is what the trainer has counted. */
static StepReport update_shards(ZeroRank *rank) {
    enum { COUNTED = 7 };
    StepReport report = {.loss = COUNTED,
                         .tokens = COUNTED,
                         .grad_norm = ZERO_NOT_REPORTED,
                         .learning_rate = ZERO_NOT_REPORTED,
                         .skipped = true};
    zero_update(&rank->trainer, &report);
    if (report.loss != COUNTED || report.tokens != COUNTED) {
        probe_lost("zero_update() has changed report->loss or report->tokens: it writes the norm, "
                   "the rate, and whether the update was skipped");
    }
    return report;
}

static void zero_body(RankRun *run) {
    int handles = 0;
    ZeroRank rank;
    open_rank(&rank, run);
    if (run->option[ZERO_PREFETCH] == 2) {
        zero_ahead_next(rank.zero, 0, false);
    }
    for (int s = 0; s < run->option[ZERO_STEPS]; s++) {
        size_t heap = rank_heap_used();
        learn_shards(&rank, s);
        StepReport report = update_shards(&rank);
        expect_same_heap(run, s, heap);
        if (!report.skipped) {
            schedule_tick(&rank.trainer.schedule);
        }
        give_report(&rank, s, &report);
        give_pieces(&rank, s);
        rank_give_weights(run, "weights", rank.model, s);
        handles = s == 0 ? cudasim_left().handles : handles;
    }
    expect_no_handles(run, handles);
    if (run->option[ZERO_TINY]) {
        give_planted(&rank);
    }
    for (int i = 0; run->option[ZERO_TINY] && i < ZERO_REPEATED; i++) {
        zero_norm(rank.model->pieces);
    }
    expect_counted(run, rank.model->pieces);
    give_states(&rank);
    if (run->option[ZERO_PREFETCH] == 2 || (run->option[ZERO_PREFETCH] && run->option[RANKS_GPU])) {
        send_for_nothing(&rank);
    }
    close_rank(&rank);
}

static void run_case(const Wire *in, Wire *out) {
    ranks_run(in, out, zero_body);
}

/* ---- texts ----------------------------------------------------------------------------------- */

static void texts_body(RankRun *run) {
    ZeroRank rank;
    RankText before, text;
    open_rank(&rank, run);
    shared_text(&before, run, rank.model); /* the same text: of it nothing may be left */
    zero_generate(rank.zero, shared_text_done, shared_text_step, &before);
    free(before.logits);
    shared_text(&text, run, rank.model);
    int steps = zero_generate(rank.zero, shared_text_done, shared_text_step, &text);
    int runs = text.runs;
    int more = zero_generate(rank.zero, shared_text_done, shared_text_step, &text);
    text.runs = runs; /* those of the text itself */
    shared_text_give(&text, steps);
    rank_give_number(run, "texts", TEXT_NUMBERS, TEXT_MORE, (uint64_t)more);
    close_rank(&rank);
}

static void texts(const Wire *in, Wire *out) {
    ranks_run(in, out, texts_body);
}

const ProbeCase probe_cases[] = {{"run", run_case}, {"texts", texts}, {NULL, NULL}};
