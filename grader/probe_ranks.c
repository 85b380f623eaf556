/* The ranks of a probe, as fibers of the simulator. The contract is in probe_ranks.h. */
#include "grader/probe_ranks.h"

#include <cuda_runtime.h>
#include <cudasim_nccl.h>
#include <cudasim_ranks.h>
#include <cudasim_record.h>
#include <omp.h>
#include <string.h>

#include "common/own_data.h"
#include "grader/probe.h"

enum { RANK_ARENA = 256 << 20 /* bytes of a rank on the CPU, where it has no budget */ };

/* The beginning of every rank. */
typedef struct RankStart {
    RankRun run;
    rank_body *body;
    ncclUniqueId id;
} RankStart;

/* ---- from the first to the last -------------------------------------------------------------- */

static size_t ranks_budget(const Wire *in) {
    return (size_t) * (const uint64_t *)wire_get(in, "budget", WIRE_U64, NULL);
}

static RankStart start(const Wire *in, Wire *out, rank_body *body) {
    size_t count;
    RankStart start = {.run = {.in = in, .out = out}, .body = body};
    start.run.option = wire_get(in, "ranks", WIRE_I32, &count);
    CHECK(count == RANK_OPTIONS, "%zu options of ranks", count);
    start.run.ranks = start.run.option[RANKS_COUNT];
    omp_set_num_threads(1); /* the models are too small to share */
    if (start.run.option[RANKS_RECORD]) {
        cudasim_record_begin();
    }
    return start;
}

static void ranks_run_body(RankRun *run, size_t budget, rank_body *body) {
    bool gpu = run->option[RANKS_GPU];
    size_t bytes;
    /* tensors of lanes come and go in their own order, and leave holes: no budget counts them */
    run->device = probe_device(gpu, budget > 0 ? 2 * budget : RANK_ARENA);
    void *own = gpu ? NULL : device_cpu_range(run->device, &bytes);
    if (own != NULL) {
        cudasim_rank_memory(own, bytes);
    }
    run->memory = memory_new(run->device, (MemoryOptions){.budget = budget, .checked = !gpu});
    body(run);
    memory_free(run->memory);
    if (own != NULL) {
        cudasim_rank_memory_ends(own);
    }
    device_free(run->device);
}

void ranks_forget(const RankRun *run) {
    if (run->device->host_memory) {
        device_cpu_forget(run->device);
    }
    cudasim_rank_stack_ends();
}

static void run_rank(int rank, void *context) {
    const RankStart *start = context;
    RankRun run = start->run;
    run.rank = rank;
    ncclResult_t joined = ncclCommInitRank(&run.comm, run.ranks, start->id, rank);
    CHECK(joined == ncclSuccess, "NCCL: %s", ncclGetErrorString(joined));
    if (!run.option[RANKS_GPU]) {
        cudasim_comm_on_host(run.comm);
    }
    ranks_run_body(&run, ranks_budget(run.in), start->body);
    cudaDeviceSynchronize();
    ncclCommDestroy(run.comm);
}

static void run_all(RankStart *all) {
    CHECK(own_data_for_ranks(), "the submission has more than %d bytes of static data",
          OWN_DATA_MOST);
    CHECK(ncclGetUniqueId(&all->id) == ncclSuccess, "no id");
    cudasim_ranks_run(all->run.ranks, run_rank, all);
}

void ranks_run(const Wire *in, Wire *out, rank_body *body) {
    RankStart all = start(in, out, body);
    run_all(&all);
}

void ranks_run_on_gpu(const Wire *in, Wire *out, rank_body *body) {
    RankStart all = start(in, out, body);
    int32_t option[RANK_OPTIONS];
    memcpy(option, all.run.option, sizeof option);
    option[RANKS_GPU] = true;
    all.run.option = option;
    run_all(&all);
}

void ranks_run_alone(const Wire *in, Wire *out, rank_body *body) {
    RankStart all = start(in, out, body);
    for (int r = 0; r < all.run.ranks; r++) {
        RankRun run = all.run;
        run.rank = r;
        ranks_run_body(&run, 0, body);
    }
}

/* ---- what is handed back --------------------------------------------------------------------- */

void rank_give(const RankRun *run, const char *what, int i, const float *values, size_t count) {
    char name[WIRE_NAME];
    hand_back(run->out, run->device, rank_name(name, what, run->rank, "window", i), values, count);
}

/* The place of all parameters, end to end. */
static float *place_of_all(const RankRun *run, const char *what, const Model *model, int i) {
    char name[WIRE_NAME];
    size_t wanted, count = 0;
    float *to =
        wire_get(run->out, rank_name(name, what, run->rank, "window", i), WIRE_F32, &wanted);
    for (int k = 0; k < model->param_count; k++) {
        count += model->params[k].count;
    }
    CHECK(count == wanted, "%s: %zu numbers, not %zu", name, wanted, count);
    return to;
}

void rank_give_gradients(const RankRun *run, const char *what, const Model *model, int i) {
    float *to = place_of_all(run, what, model, i);
    for (int k = 0; k < model->param_count; k++) {
        const Param *param = &model->params[k];
        if (param->grad != NULL) {
            device_download(run->device, to, param->grad, param->count * sizeof *to);
        }
        to += param->count;
    }
}

void rank_give_weights(const RankRun *run, const char *what, const Model *model, int i) {
    float *to = place_of_all(run, what, model, i);
    for (int k = 0; k < model->param_count; k++) {
        if (optimizer_has(&model->params[k])) {
            model_download_weight(model, &model->params[k], to);
        }
        to += model->params[k].count;
    }
}

void rank_give_number(const RankRun *run, const char *table, size_t columns, size_t i,
                      uint64_t value) {
    size_t wanted;
    uint64_t *to = wire_get(run->out, table, WIRE_U64, &wanted);
    /* a check may run fewer ranks than it has room for */
    CHECK(wanted % columns == 0 && wanted >= (size_t)run->ranks * columns && i < columns,
          "%s: %zu numbers", table, wanted);
    to[(size_t)run->rank * columns + i] = value;
}

void rank_give_double(const RankRun *run, const char *table, size_t columns, size_t i,
                      double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    rank_give_number(run, table, columns, i, bits);
}

void rank_give_bytes(const RankRun *run) {
    MemoryUse peak = memory_peak(run->memory);
    for (int kind = 0; kind < MEMORY_KINDS; kind++) {
        rank_give_number(run, "bytes", MEMORY_KINDS + 1, (size_t)kind, peak.bytes[kind]);
    }
    rank_give_number(run, "bytes", MEMORY_KINDS + 1, MEMORY_KINDS, memory_total(&peak));
}
