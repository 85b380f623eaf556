#include <math.h>
#include <string.h>

#include "grader/draws.h"
#include "grader/judge_kit.h"
#include "grader/labs/09_fusion/compare.h"
#include "grader/labs/09_fusion/term.h"
#include "kernels/crossentropy.h"

/* Passes with the hand-in's head. */
typedef struct HeadRun {
    Given given;
    float share;
    uint64_t budget; /* bytes; 0 for none */
} HeadRun;

static HeadRun head_new(Check *check, ModelConfig config) {
    HeadRun run = {.given = given_new(check, config, "step"), .share = 1.0f / 16};
    return run;
}

/* Numbers in the inputs of the head, of all passes. */
static size_t head_numbers(const HeadRun *run) {
    size_t n = 0, C = (size_t)run->given.config.C;
    for (int i = 0; i < run->given.batches; i++) {
        n += (size_t)run->given.batch[i].B * (size_t)run->given.batch[i].T * C;
    }
    return n;
}

static void head_planned(HeadRun *run) {
    Check *check = run->given.check;
    given_give(&run->given);
    check_give(check, "share", WIRE_F32, &run->share, 1);
    check_give(check, "budget", WIRE_U64, &run->budget, 1);
    check_want(check, "loss", WIRE_U64, (size_t)run->given.batches);
    check_want(check, "logits left", WIRE_U64, (size_t)run->given.batches);
    check_want(check, "head bytes", WIRE_U64, (size_t)run->given.batches * HEAD_NUMBERS);
    given_want(&run->given, NAME_GRADIENT, 1);
    if (run->given.config.precision == F32) {
        check_want(check, "dx", WIRE_F32, head_numbers(run));
    }
    profile_want(check);
    profile_want_once(check);
    check_memory(check, 0);
}

/* The chunk of contract.h, in the judge's own words. */
static size_t chunk_of(size_t N, size_t C, size_t V) {
    const ChunkRule rule = TERM_CHUNK_IS;
    size_t rows = chunk_up(rule, (size_t)ceil((double)N / ceil((double)V / (double)C)));
    return rows < N ? rows : N;
}

/* ---- known mistakes -------------------------------------------------------------------------- */

typedef enum HeadMistake {
    HEAD_RIGHT,
    HEAD_TARGETS, /* shows in losses too */
    HEAD_TAIL,
    HEAD_SHARED_OUT,
    HEAD_MISTAKES
} HeadMistake;

static const char *const sentence[HEAD_MISTAKES] = {
    [HEAD_TARGETS] = "each chunk has the targets of the first: they go on with the rows",
    [HEAD_TAIL] = "the last chunk is left out where it is not full",
    [HEAD_SHARED_OUT] = "dloss is shared out among the chunks: it is that of each row, however "
                        "many rows run at once",
};

static size_t rows_of_chunk(const HeadRun *run, const Batch *batch) {
    const ModelConfig *config = &run->given.config;
    return chunk_of((size_t)batch->B * (size_t)batch->T, (size_t)config->C, (size_t)config->V);
}

/* The batch that a right head would have to see, to do what the mistake does. */
static Batch batch_as(const HeadRun *run, Batch batch, HeadMistake mistake) {
    size_t N = (size_t)batch.B * (size_t)batch.T, rows = rows_of_chunk(run, &batch);
    int32_t *targets = (int32_t *)check_doubles(run->given.check, N);
    for (size_t i = 0; i < N; i++) {
        bool lost = mistake == HEAD_TAIL && i >= N / rows * rows;
        targets[i] = lost ? IGNORE_INDEX : batch.targets[mistake == HEAD_TARGETS ? i % rows : i];
    }
    batch.targets = targets;
    return batch;
}

/* The losses of each pass, and the gradients of all. */
static void head_as(HeadRun *run, HeadMistake mistake, double *losses) {
    reference_zero_grad(run->given.reference);
    for (int i = 0; i < run->given.batches; i++) {
        Batch batch = batch_as(run, run->given.batch[i], mistake);
        double N = batch.B * batch.T, share = (double)run->share;
        share *= mistake == HEAD_SHARED_OUT ? (double)rows_of_chunk(run, &batch) / N : 1;
        losses[i] = given_pass(&run->given, &batch, share);
    }
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* Sums of losses, of each pass. */
static bool head_judge_losses(HeadRun *run, const double *right) {
    Check *check = run->given.check;
    double limit = run->given.config.precision == F32 ? 1e-5 : 2e-2;
    double got[MOST_BATCHES], wrong[MOST_BATCHES];
    bool all = true;
    memcpy(got, check_got(check, "loss", WIRE_U64), (size_t)run->given.batches * sizeof *got);
    head_as(run, HEAD_TARGETS, wrong);
    for (int i = 0; i < run->given.batches; i++) {
        const Batch *batch = &run->given.batch[i];
        double off = fabs(got[i] - right[i]), most = limit * fabs(right[i]) + limit;
        bool good = off <= most;
        all = check_compared(check, good, "the losses of (%d, %d) add up to %.7g, not to %.7g",
                             batch->B, batch->T, got[i], right[i]) &&
              all;
        check_near(check, off / most);
        check_suspect(check, sentence[HEAD_TARGETS],
                      fabs(got[i] - wrong[i]) <= limit * fabs(wrong[i]) + limit);
    }
    return all;
}

/* All gradients, to the limit of the precision. */
static bool head_judge_gradients(HeadRun *run) {
    const Given *given = &run->given;
    static const Tolerance floats = {.relative = 2e-4, .scaled = 2e-4, .norm = 1e-5};
    Precision precision = given->config.precision;
    Tolerance tolerance = precision == F32 ? floats : tolerance_of_model(precision);
    double losses[MOST_BATCHES];
    double *gradients[HEAD_MISTAKES];
    Suspect suspects[HEAD_MISTAKES];
    for (HeadMistake mistake = HEAD_RIGHT; mistake < HEAD_MISTAKES; mistake++) {
        head_as(run, mistake, losses);
        gradients[mistake] = given_end_to_end(given, given->reference->grad);
        suspects[mistake] = (Suspect){sentence[mistake], gradients[mistake]};
    }
    return given_expect(given, NAME_GRADIENT, 0, gradients[HEAD_RIGHT], tolerance,
                        suspects + HEAD_RIGHT + 1, HEAD_MISTAKES - 1);
}

/* That nothing is left of the logits of any pass. */
static bool head_judge_left(HeadRun *run) {
    Check *check = run->given.check;
    const uint64_t *left = check_got(check, "logits left", WIRE_U64);
    for (int i = 0; i < run->given.batches; i++) {
        if (left[i] != 0) {
            check_fail(check, "after forward head.logits is not NULL: no logits are left then");
            return false;
        }
    }
    return true;
}

/* That the head has no more memory than it needs at any time, and the right kind. */
static void head_judge_bytes(HeadRun *run) {
    Check *check = run->given.check;
    const ModelConfig *config = &run->given.config;
    size_t number = precision_bytes(config->precision), row = (size_t)logits_stride(config->V);
    const uint64_t *got = check_got(check, "head bytes", WIRE_U64);
    static const char narrow[] =
        "logits are stored in the model's precision: in half they have 2 bytes each";
    for (int i = 0; i < run->given.batches; i++, got += HEAD_NUMBERS) {
        const Batch *batch = &run->given.batch[i];
        size_t N = (size_t)batch->B * (size_t)batch->T, stream = N * (size_t)config->C * number;
        size_t kept = stream + 4 * N * sizeof(float);
        size_t logits = rows_of_chunk(run, batch) * row * number;
        size_t wide = rows_of_chunk(run, batch) * row * sizeof(float);
        check_compared(check, got[HEAD_KEPT] == kept,
                       "after forward of (%d, %d) the head has %llu bytes in use; lnf, mean, rstd, "
                       "losses and lse are %zu",
                       batch->B, batch->T, (unsigned long long)got[HEAD_KEPT], kept);
        check_suspect(check, "the logits are still there after forward: release them",
                      got[HEAD_KEPT] == kept + logits);
        check_compared(check, got[HEAD_FORWARD] <= kept + logits,
                       "forward of (%d, %d) takes %llu bytes; with one chunk of logits it is %zu",
                       batch->B, batch->T, (unsigned long long)got[HEAD_FORWARD], kept + logits);
        check_suspect(check, narrow, got[HEAD_FORWARD] == kept + wide);
        check_compared(check, got[HEAD_BACKWARD] <= kept + stream + logits,
                       "backward of (%d, %d) takes %llu bytes; with one chunk of logits it is %zu",
                       batch->B, batch->T, (unsigned long long)got[HEAD_BACKWARD],
                       kept + stream + logits);
        check_suspect(check, narrow, got[HEAD_BACKWARD] == kept + stream + wide);
        uint64_t rows = rows_of_chunk(run, batch), chunks = (N + rows - 1) / rows;
        check_compared(check, got[HEAD_CHUNKS] == chunks && got[HEAD_CHUNKS_BACK] == chunks,
                       "of (%d, %d), which is %llu chunks of %llu rows or fewer, forward computes "
                       "logits %llu times, and backward %llu times: once for each chunk",
                       batch->B, batch->T, (unsigned long long)chunks, (unsigned long long)rows,
                       (unsigned long long)got[HEAD_CHUNKS],
                       (unsigned long long)got[HEAD_CHUNKS_BACK]);
        check_compared(check, got[HEAD_ROWS] == 2 * N && got[HEAD_ROWS_BACK] == 2 * N,
                       "(%d, %d) has %zu rows; logits and losses of forward are of %llu, together, "
                       "logits and their gradients in backward of %llu, and not of %zu: the last "
                       "chunk may have fewer rows than the others",
                       batch->B, batch->T, N, (unsigned long long)got[HEAD_ROWS],
                       (unsigned long long)got[HEAD_ROWS_BACK], 2 * N);
        check_compared(check, got[HEAD_LEFT] == 0,
                       "after backward of (%d, %d) the head still has %llu bytes in use", batch->B,
                       batch->T, (unsigned long long)got[HEAD_LEFT]);
        check_compared(
            check, got[HEAD_OTHERS] == 0,
            "%llu bytes of the head are of another kind than activations; logits are one",
            (unsigned long long)got[HEAD_OTHERS]);
    }
}

/* Runs a case. @return whether all that it gives is right */
static bool head_judge(HeadRun *run, const char *probe_case, bool gradients) {
    double losses[MOST_BATCHES];
    if (!check_run(run->given.check, probe_case, RUN_SECONDS)) {
        return false;
    }
    head_as(run, HEAD_RIGHT, losses);
    return head_judge_losses(run, losses) && (!gradients || head_judge_gradients(run));
}

/* Chunks that do not divide N, a vocabulary that 64 does not divide, rows that are ignored. */
static HeadRun head_usual(Check *check, Precision precision) {
    ModelConfig config = {
        .V = check_int(check, 257, 420), .T = 13, .L = 1, .NH = 2, .C = 16, .precision = precision};
    HeadRun run = head_new(check, config);
    run.given.batches = 4;
    run.given.batch[0] = batch_ragged(check, config.V, 3, 13, 2);
    run.given.batch[1] = batch_full(check, config.V, 1, 1);
    run.given.batch[2] = batch_uneven(check, config.V, 4, check_int(check, 7, 12));
    run.given.batch[3] = batch_full(check, config.V, 3, 13); /* 39 rows: the last chunk is short */
    return run;
}

/* The same passes of a model that adapters have frozen: they give x the same gradient. */
static void head_judge_frozen(HeadRun *run) {
    Check *check = run->given.check;
    size_t n = head_numbers(run);
    float *right = (float *)check_doubles(check, n);
    memcpy(right, check_got(check, "dx", WIRE_F32), n * sizeof *right);
    if (!head_judge(run, "head frozen", false)) {
        check_tell(check, ": in a model with adapters; the head's parameters are those of "
                          "model->base, and model->params has the adapters alone");
        return;
    }
    const float *got = check_got(check, "dx", WIRE_F32);
    size_t i = 0;
    while (i < n && memcmp(&got[i], &right[i], sizeof *got) == 0) {
        i++;
    }
    check_compared(check, i == n,
                   "of a model with adapters, which is frozen beside them, the gradient of x is "
                   "%.7g at %zu, and without adapters %.7g",
                   (double)got[i % n], i, (double)right[i % n]);
}

void head_grade(Check *check, bool gradients) {
    HeadRun run = head_usual(check, F32);
    head_planned(&run);
    if (head_judge(&run, "head", gradients) && gradients) {
        head_judge_frozen(&run);
    }
}

/* Numbers of bf16, which are numbers of f16 as well, but for the smallest. */
void head_grade_half(Check *check) {
    HeadRun run = head_usual(check, BF16);
    head_planned(&run);
    if (head_judge(&run, "head", true)) {
        head_judge(&run, "head f16", true);
    }
}

/* The same passes in half, whose numbers another check has judged. */
static void head_judge_half_bytes(HeadRun *run) {
    if (check_run(run->given.check, "head f16", RUN_SECONDS)) {
        run->given.config.precision = F16;
        head_judge_bytes(run);
    }
}

/* As much as a step with the chunked head takes, and not a byte more. */
void head_grade_memory(Check *check) {
    ModelConfig config = {.V = check_int(check, 1000, 1500), .T = 24, .L = 1, .NH = 2, .C = 16};
    HeadRun run = head_new(check, config);
    size_t B = (size_t)check_int(check, 5, 7), T = 24, N = B * T, C = 16;
    run.given.batches = 4;
    run.given.batch[0] = batch_full(check, config.V, (int)B, (int)T);
    run.given.batch[1] = batch_full(check, config.V, 1, 1); /* all rows are one chunk */
    run.given.batch[2] = batch_full(check, config.V, 2, check_int(check, 5, 20)); /* few rows */
    run.given.batch[3] = batch_full(check, config.V, 5, 23); /* the last chunk is not full */
    size_t numbers = 15 * C + (size_t)config.NH * T, stream = N * C * sizeof(float);
    size_t block = N * (numbers + 4) * sizeof(float);
    size_t logits = chunk_of(N, C, (size_t)config.V) * (size_t)logits_stride(config.V);
    /* dx, x[0], the block and its output; ln_f and its gradient, four floats a token, a chunk */
    size_t head = 2 * stream + 4 * N * sizeof(float) + logits * sizeof(float);
    size_t states = 2 * run.given.P * sizeof(float);
    run.budget = states + 2 * stream + block + stream + (head > 5 * stream ? head : 5 * stream) +
                 2 * N * sizeof(int32_t) + judge_gpu_workspace(&config);
    check_size(check, "logits of (N, V) do not fit",
               N * (size_t)logits_stride(config.V) > logits + 3 * stream / sizeof(float));
    check_size(check, "a chunk that is not full",
               5 * 23 % rows_of_chunk(&run, &run.given.batch[3]) > 0);
    head_planned(&run);
    if (head_judge(&run, "head", true) && head_judge_left(&run)) {
        head_judge_bytes(&run);
        head_judge_half_bytes(&run);
    }
}
