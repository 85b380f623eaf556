/* Passes: what is given, and what comes back. The contract is in passes.h; the record is read in
   journeys.c. */
#include "grader/labs/08_prefetch/passes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "grader/labs/08_prefetch/journeys.h"
#include "grader/labs/08_prefetch/stages.h"

/** The weight of each valid target. */
#define PASS_SHARE (1.0f / 64)

OffloadRun *passes_new(Check *check, int L, int segment, float dropout) {
    OffloadRun *run = (OffloadRun *)check_doubles(check, sizeof *run / sizeof(double) + 1);
    *run = (OffloadRun){.check = check,
                        .config = {.V = 256, .T = 32, .L = L, .NH = 2, .C = 32, .dropout = dropout},
                        .segment = segment,
                        .segments = (L + segment - 1) / segment,
                        .passes = 4,
                        .window = 2,
                        .seed = (uint64_t)check_int(check, 1, 1 << 30)};
    run->param_count = params_count(&run->config);
    run->params = (Param *)check_doubles(
        check, (size_t)run->param_count * sizeof(Param) / sizeof(double) + 1);
    params_describe(run->params, &run->config);
    for (int i = 0; i < run->passes; i++) {
        int B = i == 0 ? 3 : check_int(check, 1, 2), T = i == 0 ? 24 : check_int(check, 9, 23);
        run->batch[i] = batch_full(check, run->config.V, B, T);
        batch_cut_row(check, &run->batch[i], 0, T / 2);
    }
    run->batch[2] = batch_all_masked(run->batch[2]);
    return run;
}

void passes_in_half(OffloadRun *run) {
    run->config.precision = check_int(run->check, 0, 1) ? F16 : BF16;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

size_t passes_input(const ModelConfig *config, int B, int T) {
    return (size_t)B * (size_t)T * (size_t)config->C * precision_bytes(config->precision);
}

/* dx and two inputs; beside them the head, or a segment with the backward of its last block. */
static size_t peak_of(size_t input, size_t head, size_t kept, int segment) {
    size_t blocks = (size_t)segment * kept + 5 * input;
    return 3 * input + (head > blocks ? head : blocks);
}

static size_t passes_head(const ModelConfig *config, int B, int T) {
    size_t N = (size_t)B * (size_t)T, row = (size_t)logits_stride(config->V);
    return 2 * passes_input(config, B, T) + N * (row * precision_bytes(config->precision) + 16);
}

size_t passes_peak(const ModelConfig *config, int B, int T, int segment) {
    ModelConfig one = *config, two = *config;
    one.L = 1;
    two.L = 2;
    size_t kept = peak_activations(&two, B, T, (Checkpoint){0}) -
                  peak_activations(&one, B, T, (Checkpoint){0});
    return peak_of(passes_input(config, B, T), passes_head(config, B, T), kept, segment);
}

size_t passes_peak_worked_out(const ModelConfig *config, int B, int T, int segment) {
    return peak_of(passes_input(config, B, T), passes_head(config, B, T),
                   peak_of_block(config, B, T), segment);
}

void passes_set_budget(OffloadRun *run) {
    const Batch *largest = &run->batch[0];
    MemoryUse use = peak_plain(&run->config, largest->B, largest->T, 1);
    use.bytes[MEMORY_WORKSPACE] = judge_gpu_workspace(&run->config);
    size_t rest = memory_total(&use) - use.bytes[MEMORY_ACTIVATIONS];
    run->budget = rest + passes_peak(&run->config, largest->B, largest->T, run->segment);
    for (int S = 1; S <= run->config.L && run->segment == 1; S++) {
        size_t checkpointed = rest + peak_activations(&run->config, largest->B, largest->T,
                                                      (Checkpoint){.segment = S});
        CHECK(run->budget < checkpointed, "segments of %d fit as well", S);
    }
}

void passes_set_wide_budget(OffloadRun *run) {
    const Batch *largest = &run->batch[0];
    passes_set_budget(run);
    run->budget += passes_input(&run->config, largest->B, largest->T);
}

/* ---- both runs ------------------------------------------------------------------------------- */

static const float *passes_gradient(const OffloadRun *run, int step, int i) {
    char name[WIRE_NAME];
    return check_got(run->check, param_name(name, NAME_GRADIENT, &run->params[i], "step", step),
                     WIRE_F32);
}

static void passes_give(const OffloadRun *run) {
    Check *check = run->check;
    int32_t options[PASS_OPTIONS] = {[PASS_SEGMENT] = run->segment,
                                     [PASS_WINDOW] = run->window,
                                     [PASS_AGAIN] = run->again,
                                     [PASS_PASSES] = run->passes};
    check_give_config(check, &run->config);
    batches_give(check, run->batch, run->passes);
    check_give(check, "options", WIRE_I32, options, PASS_OPTIONS);
    check_give(check, "budget", WIRE_U64, &run->budget, 1);
    check_give(check, "seed", WIRE_U64, &run->seed, 1);
    check_give(check, "share", WIRE_F32, (float[]){PASS_SHARE}, 1);
}

static void passes_want(const OffloadRun *run) {
    char name[WIRE_NAME];
    check_want(run->check, "loss", WIRE_U64, (size_t)run->passes);
    check_want(run->check, "stream", WIRE_U64, (size_t)run->passes);
    check_want(run->check, "peak", WIRE_U64, (size_t)run->passes);
    check_want(run->check, "kept", WIRE_U64, PASS_LEFT_NUMBERS);
    check_want_picture(run->check);
    for (int at = 0; at < run->passes / run->window * run->param_count; at++) {
        const Param *param = &run->params[at % run->param_count];
        check_want(run->check,
                   param_name(name, NAME_GRADIENT, param, "step", at / run->param_count), WIRE_F32,
                   param->count);
    }
}

static void passes_keep_plain(OffloadRun *run) {
    int count = run->passes / run->window * run->param_count;
    run->plain = (float **)check_doubles(run->check, (size_t)count);
    for (int at = 0; at < count; at++) {
        size_t n = run->params[at % run->param_count].count;
        run->plain[at] = (float *)check_doubles(run->check, n / 2 + 1);
        memcpy(run->plain[at], passes_gradient(run, at / run->param_count, at % run->param_count),
               n * sizeof(float));
    }
    size_t bytes = (size_t)run->passes * sizeof *run->loss;
    memcpy(run->loss, check_got(run->check, "loss", WIRE_U64), bytes);
    memcpy(run->stream, check_got(run->check, "stream", WIRE_U64), bytes);
}

/* Where the clocks know a reason, a report of the simulator is a consequence. */
static bool passes_expect_no_problem(const OffloadRun *run) {
    bool known = false;
    for (int i = 0; i < PASS_MISTAKES; i++) {
        known = known || run->present[i];
    }
    return known && profile_problems(run->check) > 0
               ? journeys_compared(run, false, "the simulator has reported a problem")
               : profile_expect_no_problem(run->check);
}

bool passes_both(OffloadRun *run) {
    Check *check = run->check;
    check_memory(check, 0);
    profile_want(check);
    passes_give(run);
    passes_want(run);
    if (!check_run_kit(check, "plain", SECONDS)) {
        return false;
    }
    passes_keep_plain(run);
    bool good = check_run(check, "offloaded", SECONDS);
    check_picture(check, "memory of one micro-batch", run->budget);
    return good && journeys_find(run) && passes_expect_no_problem(run);
}

/* ---- what came back -------------------------------------------------------------------------- */

static bool passes_expect_losses(const OffloadRun *run) {
    const uint64_t *got = check_got(run->check, "loss", WIRE_U64);
    for (int i = 0; i < run->passes; i++) {
        if (got[i] != run->loss[i]) {
            double loss, right;
            char text[200];
            memcpy(&loss, &got[i], sizeof loss);
            memcpy(&right, &run->loss[i], sizeof right);
            snprintf(text, sizeof text, "pass %d: the loss is %.9g, a plain step's is %.9g", i + 1,
                     loss, right);
            return journeys_compared(run, false, text);
        }
    }
    return journeys_compared(run, true, "");
}

static bool passes_expect_gradients(const OffloadRun *run) {
    for (int at = 0; at < run->passes / run->window * run->param_count; at++) {
        int step = at / run->param_count, i = at % run->param_count;
        const float *got = passes_gradient(run, step, i);
        size_t n = run->params[i].count, j = 0;
        while (j < n && memcmp(&got[j], &run->plain[at][j], sizeof *got) == 0) {
            j++;
        }
        if (j < n) {
            char text[200], name[WIRE_NAME];
            snprintf(text, sizeof text, "%s[%zu]: got %.9g, a plain step's is %.9g, to the bit",
                     param_name(name, NAME_GRADIENT, &run->params[i], "step", step), j,
                     (double)got[j], (double)run->plain[at][j]);
            return journeys_compared(run, false, text);
        }
    }
    return journeys_compared(run, true, "");
}

static bool passes_expect_stream(const OffloadRun *run) {
    const uint64_t *got = check_got(run->check, "stream", WIRE_U64);
    bool right = memcmp(got, run->stream, (size_t)run->passes * sizeof *got) == 0;
    return journeys_compared(run, right,
                             "the dropout stream is not left where a plain step leaves it");
}

bool passes_same_as_plain(const OffloadRun *run) {
    bool same =
        passes_expect_losses(run) && passes_expect_gradients(run) && passes_expect_stream(run);
    if (!same && run->again) {
        check_tell(run->check, "\nin pass 2, another model's forward is run between forward and "
                               "backward, and its backward after both");
    }
    return same;
}

/* No byte less than all inputs in each way, and perhaps none more. */
static bool passes_compare_moved(const OffloadRun *run, bool no_more) {
    static const char *const way[] = {"to the host", "to the device"};
    double wanted = 0;
    for (int i = 0; i < run->passes; i++) {
        wanted += (double)run->segments *
                  (double)passes_input(&run->config, run->batch[i].B, run->batch[i].T);
    }
    for (int w = 0; w < 2; w++) {
        if (run->moved[w] < wanted || (no_more && run->moved[w] > wanted)) {
            char text[200];
            snprintf(text, sizeof text,
                     "%.0f bytes go %s: the inputs, %d in a pass, passes: %d, have %.0f",
                     run->moved[w], way[w], run->segments, run->passes, wanted);
            return journeys_compared(run, false, text);
        }
    }
    return journeys_compared(run, true, "");
}

bool passes_expect_all_moved(const OffloadRun *run) {
    return passes_compare_moved(run, false);
}

bool passes_expect_moved(const OffloadRun *run) {
    return passes_compare_moved(run, true);
}

bool passes_expect_peak(const OffloadRun *run) {
    const uint64_t *got = check_got(run->check, "peak", WIRE_U64);
    for (int i = 0; i < run->passes; i++) {
        size_t most = passes_peak(&run->config, run->batch[i].B, run->batch[i].T, run->segment);
        if (got[i] > most) {
            char text[200];
            snprintf(text, sizeof text, "pass %d: %llu bytes of activations at the peak, %zu do",
                     i + 1, (unsigned long long)got[i], most);
            return journeys_compared(run, false, text);
        }
    }
    return journeys_compared(run, true, "");
}

bool passes_expect_given_back(const OffloadRun *run) {
    const uint64_t *kept = check_got(run->check, "kept", WIRE_U64);
    if (kept[PASS_PINNED] > 0 || kept[PASS_KEPT] > 0) {
        check_fail(run->check,
                   "offload_close() leaves %llu bytes of pinned memory, and of streams and events "
                   "%llu: it gives all of it back",
                   (unsigned long long)kept[PASS_PINNED], (unsigned long long)kept[PASS_KEPT]);
        return false;
    }
    return stages_expect_closed(run->check, &run->record, "offload",
                                stages_marked(&run->record, "part_offload.c"), kept[PASS_EACH]);
}

bool passes_expect_host(const OffloadRun *run) {
    uint64_t got = ((const uint64_t *)check_got(run->check, "kept", WIRE_U64))[PASS_HOST];
    size_t input = passes_input(&run->config, run->batch[0].B, run->batch[0].T);
    size_t want = (size_t)run->segments * input;
    return check_compared(run->check, got <= want + SPARE_BYTES * (size_t)run->segments,
                          "%llu bytes of pinned memory for the inputs of %d of %d blocks: %zu do",
                          (unsigned long long)got, run->segments, run->config.L, want);
}

/* The same model in other segments; the losses are known where the passes are as many. */
static OffloadRun *passes_in_segments(const OffloadRun *run, int segment) {
    OffloadRun *other = (OffloadRun *)check_doubles(run->check, sizeof *other / sizeof(double) + 1);
    *other = (OffloadRun){.check = run->check,
                          .config = run->config,
                          .segment = segment,
                          .segments = (run->config.L + segment - 1) / segment,
                          .passes = 1,
                          .window = run->window};
    memcpy(other->batch, run->batch, sizeof other->batch);
    memcpy(other->loss, run->loss, sizeof other->loss);
    passes_set_wide_budget(other);
    return other;
}

static bool passes_once_more(OffloadRun *other) {
    Check *check = other->check;
    int32_t options[PASS_OPTIONS] = {[PASS_SEGMENT] = other->segment,
                                     [PASS_WINDOW] = other->window,
                                     [PASS_PASSES] = other->passes};
    check_give_again(check, "options", WIRE_I32, options, PASS_OPTIONS);
    check_give_again(check, "budget", WIRE_U64, &other->budget, 1);
    return check_run(check, "offloaded", SECONDS) && journeys_find(other) &&
           passes_expect_no_problem(other);
}

bool passes_expect_one_segment(const OffloadRun *run) {
    OffloadRun *one = passes_in_segments(run, run->config.L);
    if (!passes_expect_host(run)) {
        return false;
    }
    bool good = passes_once_more(one) && passes_expect_losses(one) &&
                passes_compare_moved(one, true) && passes_expect_host(one);
    if (!good) {
        check_tell(run->check, "\nthe last run had all %d blocks in one segment", one->segment);
    }
    return good;
}

bool passes_expect_in_segments(const OffloadRun *run, int segment,
                               bool (*expect)(const OffloadRun *)) {
    OffloadRun *other = passes_in_segments(run, segment);
    bool good = passes_once_more(other) && expect(other);
    if (!good) {
        check_tell(run->check, "\nthe last run had segments of %d blocks", segment);
    }
    return good;
}
