/* Bytes of a rank, by the judge's own sums, and the calls that move them. The contract is in
   run.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grader/judge_peak.h"
#include "grader/labs/12_zero/cut.h"
#include "grader/labs/12_zero/run.h"

/* Room for more than the formulas say: the sums of the norm once more, a few numbers. */
enum { SLACK = 24 << 10 };

static Param *described(const ModelConfig *config) {
    Param *params = calloc((size_t)params_count(config), sizeof *params);
    CHECK(params != NULL, "no memory for %d parameters", params_count(config));
    params_describe(params, config);
    return params;
}

size_t zero_parts(const ModelConfig *config, int ranks) {
    Param *params = described(config);
    size_t parts =
        cut_part(params, 0, ranks) + (size_t)config->L * cut_part(params, MODEL_PARAMS, ranks);
    free(params);
    return parts;
}

/* Of all blocks, without unit 0. */
static size_t block_parts(const ModelConfig *config, int ranks) {
    Param *params = described(config);
    size_t parts = (size_t)config->L * cut_part(params, MODEL_PARAMS, ranks);
    free(params);
    return parts;
}

MemoryUse zero_stays(const ModelConfig *config, int stage, int ranks, int rank) {
    MemoryUse use = {0};
    Param *params = described(config);
    size_t mine = 0, parts = zero_parts(config, ranks), r = (size_t)ranks;
    for (int i = 0; i < params_count(config); i++) {
        for (size_t j = 0; j < params[i].count; j += TENSOR_BLOCK) {
            size_t left = params[i].count - j;
            size_t n = left < TENSOR_BLOCK ? left : TENSOR_BLOCK;
            mine += cut_owner(params, i, j, ranks) == rank ? n : 0;
        }
    }
    free(params);
    use.bytes[MEMORY_WEIGHTS] = parts * precision_bytes(config->precision) * (stage == 3 ? 1 : r);
    use.bytes[MEMORY_GRADIENTS] = parts * 4 * (stage == 1 ? r : 1);
    use.bytes[MEMORY_OPTIMIZER] = mine * (config->precision == F32 ? 8 : 12);
    return use;
}

MemoryUse zero_comes(const ModelConfig *config, int stage, int ranks, bool ahead) {
    MemoryUse use = {0};
    Param *params = described(config);
    size_t outside = (size_t)ranks * cut_part(params, 0, ranks);
    size_t block = (size_t)ranks * cut_part(params, MODEL_PARAMS, ranks);
    free(params);
    use.bytes[MEMORY_GRADIENTS] = stage == 1 ? 0 : 4 * (outside + block);
    size_t larger = outside > block ? outside : block;
    size_t two = config->L > 1 && 2 * block > outside + block ? 2 * block : outside + block;
    use.bytes[MEMORY_WEIGHTS] =
        stage < 3 ? 0 : (ahead ? two : larger) * precision_bytes(config->precision);
    return use;
}

/* ---- budget ---------------------------------------------------------------------------------- */

/* Blocks that are wide, for a vocabulary this small, take more in backward than the head; and a
   block's unit is larger than unit 0. */
void zero_set_budget(ZeroRun *run) {
    ModelConfig config = run->given.config;
    config.C = 2 * check_int(run->check, 56, 60);
    uint64_t seed = run->given.seed;
    run->given = given_new(run->check, config, "step");
    run->given.seed = seed;
    int ranks = run->option[RANKS_COUNT], stage = run->option[ZERO_STAGE];
    MemoryUse plain = peak_plain(&config, 2, config.T, 1);
    MemoryUse comes = zero_comes(&config, stage, ranks, run->option[ZERO_PREFETCH]);
    size_t most = 0;
    for (int r = 0; r < ranks; r++) {
        MemoryUse stays = zero_stays(&config, stage, ranks, r);
        size_t total = memory_total(&stays);
        most = total > most ? total : most;
    }
    size_t norm = (size_t)ranks * zero_parts(&config, ranks) / TENSOR_BLOCK * sizeof(double);
    size_t list = workspace_list_bytes(&config);
    (void)list;
    run->budget = most + memory_total(&comes) + plain.bytes[MEMORY_ACTIVATIONS] +
                  plain.bytes[MEMORY_WORKSPACE] + plain.bytes[MEMORY_DATA] + norm + SLACK;
}

/* ---- bytes that stay ------------------------------------------------------------------------- */

static bool expect_kind(const ZeroRun *run, int rank, const char *what, uint64_t got,
                        uint64_t right, uint64_t whole, const char *why) {
    if (got == right) {
        return true;
    }
    check_fail(run->check, "rank %d: %llu bytes of %s, %llu are right%s%s", rank,
               (unsigned long long)got, what, (unsigned long long)right,
               got >= whole && whole > right ? ": " : "", got >= whole && whole > right ? why : "");
    return false;
}

bool zero_expect_states(ZeroRun *run) {
    const ModelConfig *config = &run->given.config;
    int stage = run->option[ZERO_STAGE], ranks = run->option[RANKS_COUNT];
    const uint64_t *states = check_got(run->check, "states", WIRE_U64);
    bool ahead = run->option[ZERO_PREFETCH];
    MemoryUse comes = zero_comes(config, stage, ranks, ahead);
    MemoryUse whole = zero_stays(config, 1, 1, 0);
    for (int r = 0; r < ranks; r++, states += STATES) {
        MemoryUse stays = zero_stays(config, stage, ranks, r);
        if (!expect_kind(run, r, "optimizer states", states[STAYS_OPTIMIZER],
                         stays.bytes[MEMORY_OPTIMIZER], whole.bytes[MEMORY_OPTIMIZER],
                         "those of all ranks") ||
            !expect_kind(run, r, "gradients stay", states[STAYS_GRADIENTS],
                         stays.bytes[MEMORY_GRADIENTS], whole.bytes[MEMORY_GRADIENTS],
                         "from stage 2 on a rank keeps its part of them alone") ||
            !expect_kind(run, r, "weights stay", states[STAYS_WEIGHTS], stays.bytes[MEMORY_WEIGHTS],
                         whole.bytes[MEMORY_WEIGHTS],
                         "at stage 3 a rank keeps its part of them alone") ||
            !expect_kind(run, r, "weights come and go at most", states[LANE_WEIGHTS],
                         comes.bytes[MEMORY_WEIGHTS], comes.bytes[MEMORY_WEIGHTS] + 1,
                         ahead ? "more than two units are here at a time"
                               : "more than one unit is here at a time") ||
            !expect_kind(run, r, "gradients come and go at most", states[LANE_GRADIENTS],
                         comes.bytes[MEMORY_GRADIENTS], comes.bytes[MEMORY_GRADIENTS] + 1,
                         "a block's unit is here beside that of another block")) {
            return false;
        }
    }
    check_good(run->check);
    return true;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Bytes that rank 0 sends by calls that move more than the sums of the norm. */
static double sent_by(const ZeroRun *run, const char *name, double least) {
    double bytes = 0;
    for (int i = 0; i < run->calls.count; i++) {
        const RankCall *call = &run->calls.call[i];
        bool counts = call->rank == 0 && strcmp(call->name, name) == 0 && call->bytes > least;
        bytes += counts ? call->bytes : 0;
    }
    return bytes;
}

bool zero_expect_calls(ZeroRun *run) {
    const ModelConfig *config = &run->given.config;
    int stage = run->option[ZERO_STAGE], ranks = run->option[RANKS_COUNT];
    int micros = run->option[ZERO_MICROS], steps = run->option[ZERO_STEPS];
    double parts = (double)zero_parts(config, ranks), others = ranks - 1;
    double norm = others * parts / TENSOR_BLOCK * 8;
    double once = steps * others * parts; /* numbers of all parts, in each step */
    double element = (double)precision_bytes(config->precision);
    double reduced = once * 4 * (stage == 1 ? 1 : micros);
    double gathered = once * element * (stage < 3 ? 1 : 2 * micros);
    if (run->option[ZERO_AGAIN]) {
        gathered += steps * micros * others * element * (double)block_parts(config, ranks);
    }
    double all = ranks_sent(&run->calls, 0), right = reduced + gathered;
    double rest = steps * (2 * norm + 64);
    bool good = check_compared(run->check, all >= right * (1 - 1e-9) && all <= right + rest,
                               "rank 0 sends %.0f bytes in %d steps, %.0f are right, and at most "
                               "%.0f for the norm",
                               all, steps, right, rest);
    double sums = sent_by(run, "ncclReduceScatter", 0), whole = sent_by(run, "ncclAllReduce", norm);
    double weights = sent_by(run, "ncclAllGather", 1.5 * norm);
    check_suspect(run->check,
                  "gradients are summed in each micro-batch: at stage 1 once for each window",
                  !good && stage == 1 && micros > 1 && sums > 1.5 * reduced);
    check_suspect(run->check,
                  "all-reduce sends twice as much as reduce-scatter, and a rank needs its part "
                  "of the sum alone",
                  !good && whole > 0.5 * reduced);
    check_suspect(run->check, "weights are gathered more often than they are needed",
                  !good && whole == 0 && weights > 1.01 * gathered);
    check_suspect(run->check,
                  "weights are gathered less than twice: those of the forward are kept up to the "
                  "backward",
                  !good && stage == 3 && weights < 0.8 * gathered);
    return good;
}
