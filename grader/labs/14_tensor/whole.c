#include "grader/labs/14_tensor/whole.h"

#include <math.h>
#include <string.h>

#include "grader/draws.h"
#include "grader/judge_kit.h"
#include "grader/labs/14_tensor/sizes.h"

/* A model with heads for R ranks, and a vocabulary that they do not divide. It may do with a row
   less on each rank: slice_run_before() takes that. */
static Ranked whole_draw(Check *check, int R, int L, Attention attention, int batches) {
    ModelConfig config = {
        .V = 256 + R + check_int(check, 1, 20), .T = 12, .L = L, .NH = R, .attention = attention};
    config.V += config.V % R == 0;
    config.NH *= check_int(check, 1, 2);
    config.C = config.NH * check_int(check, 3, 5);
    Ranked ranked = ranked_new(check, config, R);
    ranked.given.batches = batches;
    for (int i = 0; i < batches; i++) {
        ranked.given.batch[i] = ranked_batch(&ranked, 1 + i % 3, i == 0 ? config.T : 7 + i);
    }
    return ranked;
}

static int any_ranks(Check *check) {
    static const int most[] = {2, 3, 5};
    return most[check_int(check, 0, 2)];
}

static void give_model(Ranked *ranked, float share, size_t budget) {
    ranked_give(ranked, budget);
    check_give(ranked->check, "share", WIRE_F32, &share, 1);
}

static void want_passes(const Ranked *ranked) {
    Check *check = ranked->check;
    check_want(check, "loss", WIRE_U64, (size_t)(ranked->R * ranked->given.batches));
    ranks_want_bytes(check, ranked->R);
    for (int rank = 0; rank < ranked->R; rank++) {
        char name[WIRE_NAME];
        size_t n = sizes_numbers(&ranked->given.config, ranked->R, rank);
        check_want(check, rank_name(name, "gradients", rank, "window", 0), WIRE_F32, n);
    }
}

/* The loss of each rank, each micro-batch; then all gradients. */
static bool expect_passes(Ranked *ranked, float share) {
    Check *check = ranked->check;
    int batches = ranked->given.batches;
    double loss[MOST_RANKS * MOST_BATCHES];
    memcpy(loss, check_got(check, "loss", WIRE_U64), (size_t)(ranked->R * batches) * sizeof *loss);
    for (int i = 0; i < batches; i++) {
        double want = given_pass(&ranked->given, &ranked->given.batch[i], (double)share);
        for (int rank = 0; rank < ranked->R; rank++) {
            double got = loss[rank * batches + i];
            if (!check_compared(check, fabs(got - want) <= 1e-5 * fabs(want),
                                "rank %d: the losses add up to %.7g, not to %.7g", rank, got,
                                want)) {
                return false;
            }
            check_near(check, fabs(got - want) / (1e-5 * fabs(want)));
        }
    }
    double *want = given_end_to_end(&ranked->given, ranked->given.reference->grad);
    return ranked_expect_gradients(ranked, want) && ranked_expect_same(ranked, "gradients");
}

/* The first batch once more, by a model that does not train: it has the loss that it had. */
static void expect_evaluation(const Ranked *ranked) {
    double eval[MOST_RANKS], loss;
    memcpy(eval, check_got(ranked->check, "eval", WIRE_U64), (size_t)ranked->R * sizeof *eval);
    memcpy(&loss, check_got(ranked->check, "loss", WIRE_U64), sizeof loss);
    for (int rank = 0; rank < ranked->R; rank++) {
        if (!check_compared(ranked->check, fabs(eval[rank] - loss) <= 1e-5 * fabs(loss),
                            "rank %d: an evaluation gives the first batch a loss of %.9g, and "
                            "training without dropout %.9g",
                            rank, eval[rank], loss)) {
            return;
        }
    }
}

void whole_judge_gradients(Check *check) {
    float share = 1.0f / 16;
    Ranked ranked = whole_draw(check, any_ranks(check), 2, (Attention)check_int(check, 0, 1), 2);
    ranked.option[TP_EVALUATE] = 1;
    give_model(&ranked, share, 0);
    want_passes(&ranked);
    check_want(check, "eval", WIRE_U64, (size_t)ranked.R);
    if (ranks_start(check, "passes", TP_SECONDS) && expect_passes(&ranked, share)) {
        expect_evaluation(&ranked);
    }
}

enum { STEPS = 3 };

/* Norms of the gradients before each of some updates, in double. */
static void whole_norms(Ranked *ranked, double want[STEPS]) {
    Given *given = &ranked->given;
    const Reference *reference = given->reference;
    double *m = check_doubles(ranked->check, given->P), *v = check_doubles(ranked->check, given->P);
    memset(m, 0, given->P * sizeof *m);
    memset(v, 0, given->P * sizeof *v);
    given->adamw = (AdamW)TP_ADAMW;
    for (int i = 0; i < STEPS; i++) {
        reference_zero_grad(given->reference);
        given_pass(given, &given->batch[i], 1.0 / 8);
        double *gradient = given_end_to_end(given, reference->grad);
        double *weights = given_end_to_end(given, reference->weight);
        want[i] = norm_of(gradient, given->P);
        given_clip(given, gradient, (double)TP_CLIP);
        given_adamw(given, weights, m, v, gradient, (double)TP_RATE, i + 1);
        for (int k = 0; k < reference->param_count; k++) {
            memcpy(reference->weight[k], weights + ranked->at[k],
                   ranked->param[k].count * sizeof *weights);
        }
    }
}

/* Clipped: the norm decides how far each rank goes. */
void whole_judge_replicated(Check *check) {
    Ranked ranked = whole_draw(check, any_ranks(check), 2, ATTENTION_PLAIN, STEPS);
    ranked.option[TP_STEPS] = STEPS;
    give_model(&ranked, 1.0f / 8, 0);
    check_want(check, "norms", WIRE_U64, (size_t)(ranked.R * STEPS));
    for (int rank = 0; rank < ranked.R; rank++) {
        char name[WIRE_NAME];
        size_t n = sizes_numbers(&ranked.given.config, ranked.R, rank);
        check_want(check, rank_name(name, "new", rank, "window", 0), WIRE_F32, n);
    }
    if (!ranks_start(check, "steps", TP_SECONDS)) {
        return;
    }
    double norm[MOST_RANKS * STEPS];
    memcpy(norm, check_got(check, "norms", WIRE_U64), (size_t)(ranked.R * STEPS) * sizeof *norm);
    double want[STEPS];
    whole_norms(&ranked, want);
    for (int i = 0; i < ranked.R * STEPS; i++) {
        double right = want[i % STEPS];
        check_size(check, "gradients that are clipped", right > (double)TP_CLIP);
        if (!check_compared(check, memcmp(&norm[i], &norm[i % STEPS], sizeof *norm) == 0,
                            "step %d: rank %d clips by a norm of %.9g, rank 0 by %.9g: all ranks "
                            "need the same bits",
                            i % STEPS + 1, i / STEPS, norm[i], norm[i % STEPS]) ||
            !check_compared(check, fabs(norm[i] - right) <= 1e-4 * right,
                            "step %d: rank %d clips by a norm of %.7g; the whole model's is %.7g",
                            i % STEPS + 1, i / STEPS, norm[i], right)) {
            check_tell(check, "\nin these passes all blocks but the last run again (lab 04)");
            return;
        }
        check_near(check, fabs(norm[i] - right) / (1e-4 * right));
    }
    ranked_expect_same(&ranked, "new");
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* How many all-reduces of a rank have sent that much each; n bytes go 2 n (R - 1) / R. */
static int calls_of(const RankCalls *calls, int rank, int R, size_t n) {
    double bytes = 2.0 * (double)n * (R - 1) / R;
    int count = 0;
    for (int i = 0; i < calls->count; i++) {
        const RankCall *call = &calls->call[i];
        count += call->rank == rank && fabs(call->bytes - bytes) < 0.5;
    }
    return count;
}

void whole_judge_calls(Check *check) {
    RankCalls calls;
    int R = any_ranks(check), L = check_int(check, 2, 3);
    Ranked ranked = whole_draw(check, R, L, ATTENTION_PLAIN, 1);
    const Batch *batch = &ranked.given.batch[0];
    Shape shape = {.config = ranked.given.config, .B = batch->B, .T = batch->T};
    size_t N = (size_t)(batch->B * batch->T), stream = N * (size_t)shape.config.C * sizeof(float);
    give_model(&ranked, 0.125f, 0);
    want_passes(&ranked);
    if (!ranks_start(check, "passes", TP_SECONDS) || !ranks_take_calls(check, &calls)) {
        return;
    }
    /* calls for show give no gradients */
    if (!expect_passes(&ranked, 0.125f)) {
        return;
    }
    for (int rank = 0; rank < R; rank++) {
        int all = ranks_called(&calls, rank, NULL), sums = calls_of(&calls, rank, R, stream);
        if (!check_compared(check, sums == 4 * L + 2,
                            "rank %d makes %d all-reduces of (N, C) numbers, and %d are right: "
                            "four in each of %d blocks, two for embedding and head",
                            rank, sums, 4 * L + 2, L) ||
            !check_compared(check, all == 4 * L + 4,
                            "rank %d makes %d calls, and %d are right: beside those of (N, C) "
                            "numbers, one for the largest logits, one for sums and targets",
                            rank, all, 4 * L + 4)) {
            return;
        }
    }
    double sent = ranks_sent(&calls, -1), want = (double)sizes_wire(&shape, R);
    /* to a byte, however the calls are rounded */
    check_compared(check, fabs(sent - want) <= 0.5 * calls.count,
                   "the ranks send %.0f bytes together, and %.0f are right", sent, want);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Room between tensors, which begin at multiples of 256 bytes, with guards. */
enum { PADDING = 192 << 10 };

void whole_judge_memory(Check *check) {
    int R = any_ranks(check), L = check_int(check, 2, 3);
    Ranked ranked = whole_draw(check, R, L, ATTENTION_PLAIN, 0);
    ModelConfig config = ranked.given.config;
    config.V = check_int(check, 3000, 3500);
    config.V += config.V % R == 0;
    ranked = ranked_new(check, config, R);
    ranked.given.batches = 1;
    ranked.given.batch[0] = batch_full(check, config.V, 6, 12);
    Shape shape = {.config = config, .B = 6, .T = 12};
    MemoryUse states = sizes_states(&config, R, 0);
    size_t N = 72, activations = sizes_activations(&shape, R, 0);
    size_t workspace =
        check_on_gpu() ? judge_gpu_workspace(&config) : workspace_bytes(&config, judge_device(1));
    size_t budget = states.bytes[MEMORY_WEIGHTS] + states.bytes[MEMORY_GRADIENTS] + activations +
                    workspace + 2 * N * sizeof(int32_t) + PADDING;
    check_size(check, "logits of (N, V) do not fit",
               (N - 1) * (size_t)(config.V - config.V / R) * sizeof(float) > PADDING);
    give_model(&ranked, 0.125f, budget);
    want_passes(&ranked);
    if (!ranks_start(check, "passes", TP_SECONDS) || !expect_passes(&ranked, 0.125f)) {
        return;
    }
    for (int rank = 0; rank < R; rank++) {
        MemoryUse use = ranks_bytes(check, rank);
        size_t want = sizes_activations(&shape, R, rank);
        if (!check_compared(check, use.bytes[MEMORY_ACTIVATIONS] == want,
                            "rank %d has %zu bytes of activations at its peak, and %zu are right",
                            rank, use.bytes[MEMORY_ACTIVATIONS], want)) {
            return;
        }
    }
    ranked.option[TP_NAMES] = 1;
    check_give_again(check, "ranks", WIRE_I32, ranked.option, RANK_OPTIONS);
    ranks_start(check, "passes", TP_SECONDS);
}
