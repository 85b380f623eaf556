/* Lab 02: what is graded. Each check makes many calls of one op in one run of the probe: awkward
   sizes, three precisions, buffers that hold something before. Inputs and known mistakes are in
   grader/labs/02_kernels: update.c, loss.c and norm.c. */
#include <math.h>
#include <string.h>

#include "grader/labs/02_kernels/loss.h"
#include "grader/labs/02_kernels/norm.h"
#include "grader/labs/02_kernels/update.h"

/* Where no kernel runs, a size costs nothing. One block for each takes more than the 65535 that a
   grid has in y and in z: of 1024 threads with a pack each, or of 32 warps with a row each. */
enum { MANY_NUMBERS = 300000000, MANY_ROWS = 2100000 };

/* Where two blocks of each launch run: more than 65535 blocks of 1024 numbers, of a row, of 1024
   logits, of 32 rows. Of few, numbers are judged. */
enum {
    FEW_NUMBERS = 1 << 20,
    MANY_TO_SHARE = 256 << 20,
    FEW_ROWS = 1 << 14,
    ROWS_TO_SHARE = 1 << 21
};
enum { NORM_ROWS_TO_SHARE = 1 << 22 };

/* ---- sumsq ----------------------------------------------------------------------------------- */

/* The checks that name what is wrong with a number. */
static const char sumsq_numbers[] = "sumsq_partials sumsq";

static Calls *sumsq_calls(Check *check, bool partials) {
    static const int sizes[] = {257, 1, 31, 33, 70001, 1100003};
    Calls *calls = calls_new(check, partials ? "sumsq_partials" : "sumsq_out");
    for (int s = 0; s < 6; s++) {
        sumsq_add(calls, sizes[s], s % 2 == 0 ? 1 : 1e-3, partials);
    }
    sumsq_add(calls, check_int(check, 1000, 9000), 1, partials);
    sumsq_add_infinite(calls, 70001, INFINITY, partials);
    sumsq_add_infinite(calls, 1030, NAN, partials);
    return calls;
}

GRADED(02_kernels, sumsq_partials, "task 1: a partial sum of each block") {
    calls_grade_numbers(sumsq_calls(check, true));
}

GRADED(02_kernels, sumsq, "task 2: the sum of squares, added") {
    Calls *calls = sumsq_calls(check, false);
    sumsq_add(calls, 0, 1, false);
    calls_grade_numbers(calls);
}

/* A size with several rounds of the grid would take too long three times. */
static Calls *sumsq_few_calls(Check *check) {
    Calls *calls = calls_new(check, "sumsq");
    sumsq_add(calls, 33, 1, false);
    sumsq_add(calls, check_int(check, 5000, 9000), 1, false);
    sumsq_add(calls, 300001, 1, false);
    return calls;
}

GRADED(02_kernels, sumsq_clean, "sumsq: bounds, initialisation, races, divergence") {
    Calls *calls = sumsq_few_calls(check);
    calls_grow(calls, (CallsGrowth){"sumsq_many", FEW_NUMBERS, MANY_TO_SHARE, "numbers"});
    calls_grade_clean(calls, MANY_NUMBERS, 1);
}

GRADED(02_kernels, sumsq_schedules, "sumsq: the same bits in three orders") {
    calls_grade_schedules(sumsq_few_calls(check));
}

GRADED(02_kernels, sumsq_traffic, "sumsq: sectors per request") {
    Calls *calls = calls_new(check, "sumsq");
    sumsq_add(calls, 1 << 16, 1, false);
    calls_grade_traffic(calls, sumsq_numbers);
}

/* ---- adamw ----------------------------------------------------------------------------------- */

static const char adamw_numbers[] = "adamw";
static const AdamwGradients usual = {.scale = 0.1};

static Calls *adamw_calls(Check *check) {
    static const AdamW settings[] = {{1e-2f, 0.9f, 0.95f, 1e-2f, 0.1f},
                                     {1e-1f, 0.8f, 0.999f, 1e-8f, 0},
                                     {2e-2f, 0.9f, 0.99f, 1e-3f, 1}};
    static const int sizes[] = {257, 1, 31, 33, 1030};
    Calls *calls = calls_new(check, "adamw");
    for (int s = 0; s < 10; s++) {
        /* Two after each other have the same t and other betas: no correction is remembered by t */
        int t = s < 2 ? 2 : s < 4 ? 3 : check_int(check, 1, 6);
        adamw_add(calls, sizes[s % 5], settings[s % 3], t, usual);
    }
    adamw_add(calls, 0, settings[0], 1, usual);
    return calls;
}

GRADED(02_kernels, adamw, "task 3: one update of weights and moments") {
    Calls *calls = adamw_calls(check);
    const AdamW slow = {1e-1f, 0.9f, 0.999f, 1e-8f, 0.1f}, warming_up = {0, 0.9f, 0.95f, 1e-8f, 1};
    adamw_add(calls, 1030, slow, check_int(check, 1100, 1900), usual);
    adamw_add(calls, 257, slow, 3, (AdamwGradients){.scale = 1e-7});
    adamw_add(calls, 257, warming_up, 1, usual);
    adamw_add(calls, 257, slow, 2, (AdamwGradients){.scale = 0.1, .middle = NAN});
    adamw_add(calls, 1030, slow, 2, (AdamwGradients){.scale = 0.1, .middle = -INFINITY});
    /* The list's indices are more than its numbers, by a block of any size. */
    adamw_add(calls, 4096, slow, 2, usual);
    /* More blocks than a GPU runs at once, however small they are. */
    adamw_add(calls, 1100003, (AdamW){1e-2f, 0.9f, 0.95f, 1e-2f, 0.1f}, 1, usual);
    calls_grade_numbers(calls);
}

GRADED(02_kernels, adamw_clean, "adamw: bounds, initialisation, races, divergence") {
    Calls *calls = adamw_calls(check);
    calls_grow(calls, (CallsGrowth){"adamw_many", FEW_NUMBERS, MANY_TO_SHARE, "numbers"});
    calls_grade_clean(calls, MANY_NUMBERS, 1);
}

GRADED(02_kernels, adamw_schedules, "adamw: the same bits in three orders") {
    calls_grade_schedules(adamw_calls(check));
}

GRADED(02_kernels, adamw_traffic, "adamw: sectors per request") {
    Calls *calls = calls_new(check, "adamw");
    adamw_add(calls, 1 << 15, (AdamW){1e-2f, 0.9f, 0.95f, 1e-3f, 0.1f}, 1, usual);
    calls_grade_traffic(calls, adamw_numbers);
}

/* ---- crossentropy ---------------------------------------------------------------------------- */

static const char crossentropy_numbers[] = "crossentropy_forward crossentropy_backward";

/* No size of these is a multiple of a block's; V is often none of PACK's. */
static const int token_shapes[][2] = {{31, 33}, {1, 257}, {33, 31}, {257, 33}, {3, 1030}, {5, 8}};
enum { TOKEN_SHAPES = 6, PRECISIONS = 3 };

static const Logits plain_logits = {.spread = 2}, large_logits = {.spread = 300},
                    low_logits = {.spread = 2, .middle = -500},
                    lowest_logits = {.spread = 300, .middle = -100000};

static Calls *crossentropy_forward_calls(Check *check) {
    Calls *calls = calls_new(check, "crossentropy_forward");
    for (int s = 0; s < TOKEN_SHAPES * PRECISIONS; s++) {
        const int *shape = token_shapes[s % TOKEN_SHAPES];
        crossentropy_add_forward(calls, (Precision)(s / TOKEN_SHAPES), shape[0], shape[1],
                                 plain_logits, false);
    }
    crossentropy_add_forward(calls, F32, check_int(check, 2, 40), check_int(check, 258, 1500),
                             plain_logits, false);
    crossentropy_add_forward(calls, F32, 7, 33, plain_logits, true);
    crossentropy_add_forward(calls, F16, 2, 50257, plain_logits, false);
    calls_promise(calls, "the vocabulary of GPT-2", 50257);
    return calls;
}

GRADED(02_kernels, crossentropy_forward, "task 4: losses and lse") {
    Calls *calls = crossentropy_forward_calls(check);
    crossentropy_add_forward(calls, F32, 0, 33, plain_logits, false);
    calls_grade_numbers(calls);
}

/* The likely mistake where a loss is not finite, of logits far from 0. An lse comes before its
   losses: a loss that is NaN beside it is so by the target's logit. */
static const char *softmax_not_finite(const Expected *e, double got) {
    if (strncmp(e->name, "losses", 6) == 0 && isnan(got)) {
        return "the lse is right, so the target's logit is not the row's: rows begin `stride` "
               "numbers apart, and between them is padding";
    }
    return isnan(got)
               ? "inf - inf, or 0 * inf: a maximum that begins at -INFINITY, where a thread has "
                 "seen no logit (-FLT_MAX can be subtracted), or exp() of a large logit "
                 "without the maximum"
           : got < 0
               ? "exp() of every logit is 0: the maximum is that of the row, far below 0 here; "
                 "it begins below every float, at -FLT_MAX, and not at 0"
               : "exp() overflows from 89 on: softmax without the maximum";
}

GRADED(02_kernels, crossentropy_large, "task 4: logits of some hundreds") {
    Calls *calls = calls_new(check, "crossentropy_forward");
    for (Precision precision = F32; precision <= BF16; precision++) {
        crossentropy_add_forward(calls, precision, 31, 33, large_logits, false);
        crossentropy_add_forward(calls, precision, 3, check_int(check, 258, 1500), large_logits,
                                 false);
        crossentropy_add_forward(calls, precision, 5, 257, low_logits, false);
    }
    crossentropy_add_forward(calls, F32, 5, 257, lowest_logits, false);
    calls_planned(calls);
    if (!calls_run(calls)) {
        return;
    }
    calls->large = true;
    int problems = profile_problems(check);
    for (int i = 0; i < calls->expecteds && problems == 0; i++) {
        const Expected *e = &calls->expected[i];
        Comparison comparison =
            compare(check_got(check, e->name, WIRE_F32), e->want, e->n, e->tolerance);
        if (comparison.not_finite > 0) {
            char text[COMPARISON_TEXT];
            check_fail(check, "%s; likely: %s", comparison_text(&comparison, e->name, text),
                       softmax_not_finite(e, comparison.got));
            return;
        }
    }
    calls_judge(calls);
}

static Calls *crossentropy_backward_calls(Check *check) {
    Calls *calls = calls_new(check, "crossentropy_backward");
    for (int s = 0; s < TOKEN_SHAPES * PRECISIONS; s++) {
        const int *shape = token_shapes[s % TOKEN_SHAPES];
        crossentropy_add_backward(calls, (Precision)(s / TOKEN_SHAPES), shape[0], shape[1],
                                  plain_logits, s % 2 == 0 ? 1e-3 : 1, s % 4 == 3, false);
    }
    crossentropy_add_backward(calls, F32, check_int(check, 2, 40), check_int(check, 258, 700),
                              plain_logits, 0.125, false, false);
    crossentropy_add_backward(calls, F32, 7, 33, plain_logits, 1, true, true);
    crossentropy_add_backward(calls, F16, 2, 50257, plain_logits, 0.125, true, false);
    calls_promise(calls, "the vocabulary of GPT-2", 50257);
    return calls;
}

GRADED(02_kernels, crossentropy_backward, "task 5: dlogits, added or in place") {
    Calls *calls = crossentropy_backward_calls(check);
    crossentropy_add_backward(calls, F32, 0, 33, plain_logits, 1, false, false);
    crossentropy_add_backward(calls, F32, 31, 33, large_logits, 1, false, false);
    crossentropy_add_backward(calls, F32, 31, 33, plain_logits, -0.25, false, false);
    crossentropy_add_backward(calls, F32, 7, 33, (Logits){.spread = 2, .one = NAN}, 1, false,
                              false);
    /* A model that is sure: what is left of p - 1 has no digits in half. */
    crossentropy_add_backward(calls, F16, 31, 33, (Logits){.spread = 2, .sure = 12}, 1, true,
                              false);
    crossentropy_add_backward(calls, BF16, 31, 33, (Logits){.spread = 2, .sure = 9}, 1, true,
                              false);
    /* A loss scale that is too large: the targets' gradients are too, and no others. */
    crossentropy_add_backward(calls, F16, 31, 33, (Logits){.spread = 0.1}, 0x1p20, true, false);
    calls_grade_numbers(calls);
}

static Calls *crossentropy_both_calls(Check *check) {
    Calls *calls = calls_new(check, "crossentropy");
    for (Precision precision = F32; precision <= BF16; precision++) {
        crossentropy_add_both(calls, precision, 9, check_int(check, 258, 600), false);
        crossentropy_add_both(calls, precision, 33, 31, true);
        crossentropy_add_both(calls, precision, 5, 3, false); /* less than a pack */
    }
    return calls;
}

GRADED(02_kernels, crossentropy_clean, "crossentropy: bounds, initialisation, races, divergence") {
    Calls *calls = crossentropy_both_calls(check);
    calls_grow(calls, (CallsGrowth){"crossentropy_forward_many", FEW_ROWS, ROWS_TO_SHARE, "rows"});
    calls_grow(calls, (CallsGrowth){"crossentropy_backward_many", FEW_ROWS, ROWS_TO_SHARE, "rows"});
    calls_grade_clean(calls, MANY_ROWS, 8);
}

GRADED(02_kernels, crossentropy_schedules, "crossentropy: the same bits in three orders") {
    calls_grade_schedules(crossentropy_both_calls(check));
}

GRADED(02_kernels, crossentropy_traffic, "crossentropy: sectors per request") {
    Calls *calls = calls_new(check, "crossentropy");
    crossentropy_add_both(calls, F32, 64, 1024, false);
    crossentropy_add_both(calls, F16, 64, 1024, false);
    calls_grade_traffic(calls, crossentropy_numbers);
}

/* ---- layernorm ------------------------------------------------------------------------------- */

static const char layernorm_numbers[] = "layernorm_din layernorm_partials layernorm_parameters";

static const NormGradients usual_norm = {.scale = 1}, quiet = {.scale = 1e-3};

static Calls *layernorm_calls(Check *check, const char *op, int back) {
    static const int shapes[][2] = {{33, 31}, {31, 257}, {257, 33}, {1, 40},
                                    {70, 64}, {3, 1},    {5, 6},    {9, 12}};
    Calls *calls = calls_new(check, op);
    for (Precision precision = F32; precision <= BF16; precision++) {
        for (int s = 0; s < 8; s++) {
            layernorm_add(calls, precision, shapes[s][0], shapes[s][1],
                          s % 2 == 0 ? quiet : usual_norm, back);
        }
        /* Of 32 row blocks of 9 the last has rows as well. */
        layernorm_add(calls, precision, check_int(check, 280, 287), 512,
                      (NormGradients){.scale = 1, .lift = precision == F16}, back);
    }
    /* Each row block has more rows than a block of threads can have in a column. */
    layernorm_add(calls, F32, 2100, 24, usual_norm, back);
    layernorm_add(calls, F32, 3, 1600, usual_norm, back);
    layernorm_add(calls, F32, 37, 24, (NormGradients){.scale = 1, .middle = -INFINITY}, back);
    calls_promise(calls, "the channels of GPT-2 XL", 1600);
    return calls;
}

GRADED(02_kernels, layernorm_din, "task 6: the gradient of the input") {
    Calls *calls = layernorm_calls(check, "layernorm_din", DIN);
    layernorm_add(calls, F32, 0, 33, usual_norm, DIN);
    calls_grade_numbers(calls);
}

GRADED(02_kernels, layernorm_partials, "task 7: partial sums of dweight and dbias") {
    calls_grade_numbers(layernorm_calls(check, "layernorm_partials", PARTIALS));
}

GRADED(02_kernels, layernorm_parameters, "task 8: dweight and dbias, added") {
    Calls *calls = layernorm_calls(check, "layernorm_parameters", PARAMETERS);
    layernorm_add(calls, F32, 0, 33, usual_norm, PARAMETERS);
    calls_grade_numbers(calls);
}

static Calls *layernorm_few_calls(Check *check) {
    Calls *calls = calls_new(check, "layernorm");
    for (Precision precision = F32; precision <= BF16; precision++) {
        layernorm_add(calls, precision, 37, 67, usual_norm, DIN | PARAMETERS);
        layernorm_add(calls, precision, check_int(check, 65, 130), 72, usual_norm,
                      DIN | PARAMETERS);
    }
    return calls;
}

GRADED(02_kernels, layernorm_clean, "layernorm: bounds, initialisation, races, divergence") {
    Calls *calls = layernorm_few_calls(check);
    calls_grow(calls, (CallsGrowth){"layernorm_many", FEW_ROWS, NORM_ROWS_TO_SHARE, "rows"});
    calls_grade_clean(calls, MANY_ROWS, 8);
}

GRADED(02_kernels, layernorm_schedules, "layernorm: the same bits in three orders") {
    calls_grade_schedules(layernorm_few_calls(check));
}

GRADED(02_kernels, layernorm_traffic, "layernorm: sectors per request") {
    Calls *calls = calls_new(check, "layernorm");
    layernorm_add(calls, F32, 300, 512, usual_norm, DIN | PARAMETERS);
    layernorm_add(calls, F16, 300, 512, usual_norm, DIN | PARAMETERS);
    calls_grade_traffic(calls, layernorm_numbers);
}

/* ---- a real GPU, where there is one ---------------------------------------------------------- */

GRADED(02_kernels, sumsq_gpu, "sumsq on a GPU") {
    calls_grade_on_gpu(sumsq_calls(check, false));
}

GRADED(02_kernels, adamw_gpu, "adamw on a GPU") {
    calls_grade_on_gpu(adamw_calls(check));
}

GRADED(02_kernels, crossentropy_gpu, "crossentropy on a GPU") {
    calls_grade_on_gpu(crossentropy_both_calls(check));
}

GRADED(02_kernels, layernorm_gpu, "layernorm on a GPU") {
    calls_grade_on_gpu(layernorm_calls(check, "layernorm", DIN | PARAMETERS));
}
