/* Lab 02: what is graded. Each check makes many calls of one op in one run of the probe: awkward
   sizes, three precisions, buffers that hold something before. Inputs and known mistakes are in
   grader/judges/02_update.h and 02_rows.h. */
#include "grader/judges/02_rows.h"
#include "grader/judges/02_update.h"

/* ---- sumsq ----------------------------------------------------------------------------------- */

static Calls *plan_sumsq(Check *check, bool partials) {
    static const int sizes[] = {257, 1, 31, 33, 70001, 1100003};
    Calls *calls = calls_new(check, partials ? "sumsq_partials" : "sumsq");
    for (int s = 0; s < 6; s++) {
        add_sumsq(calls, sizes[s], s % 2 == 0 ? 1 : 1e-3, partials);
    }
    add_sumsq(calls, check_int(check, 1000, 9000), 1, partials);
    return calls;
}

GRADED(02_kernels, sumsq_partials, 6, "task 1: a partial sum of each block") {
    grade_numbers(plan_sumsq(check, true));
}

GRADED(02_kernels, sumsq, 6, "task 2: the sum of squares, added") {
    Calls *calls = plan_sumsq(check, false);
    add_sumsq(calls, 0, 1, false);
    grade_numbers(calls);
}

/* A size with several rounds of the grid would take too long three times. */
static Calls *few_sumsq(Check *check) {
    Calls *calls = calls_new(check, "sumsq");
    add_sumsq(calls, 33, 1, false);
    add_sumsq(calls, check_int(check, 5000, 9000), 1, false);
    add_sumsq(calls, 300001, 1, false);
    return calls;
}

GRADED(02_kernels, sumsq_clean, 3, "sumsq: bounds, initialisation, races, divergence") {
    grade_clean(few_sumsq(check));
}

GRADED(02_kernels, sumsq_schedules, 2, "sumsq: the same bits in three orders") {
    grade_schedules(few_sumsq(check));
}

GRADED(02_kernels, sumsq_traffic, 2, "sumsq: sectors per request") {
    Calls *calls = calls_new(check, "sumsq");
    add_sumsq(calls, 1 << 16, 1, false);
    grade_traffic(calls);
}

/* ---- adamw ----------------------------------------------------------------------------------- */

static Calls *plan_adamw(Check *check) {
    static const AdamW settings[] = {{1e-2f, 0.9f, 0.95f, 1e-2f, 0.1f},
                                     {1e-1f, 0.8f, 0.999f, 1e-8f, 0},
                                     {2e-2f, 0.9f, 0.99f, 1e-3f, 1}};
    static const int sizes[] = {257, 1, 31, 33, 1030};
    Calls *calls = calls_new(check, "adamw");
    for (int s = 0; s < 10; s++) {
        add_adamw(calls, sizes[s % 5], settings[s % 3], s == 0 ? 2 : check_int(check, 1, 6));
    }
    add_adamw(calls, 0, settings[0], 1);
    return calls;
}

GRADED(02_kernels, adamw, 10, "task 3: one update of weights and moments") {
    grade_numbers(plan_adamw(check));
}

GRADED(02_kernels, adamw_clean, 2, "adamw: bounds, initialisation, races, divergence") {
    grade_clean(plan_adamw(check));
}

GRADED(02_kernels, adamw_schedules, 1, "adamw: the same bits in three orders") {
    grade_schedules(plan_adamw(check));
}

GRADED(02_kernels, adamw_traffic, 2, "adamw: sectors per request") {
    Calls *calls = calls_new(check, "adamw");
    add_adamw(calls, 4096, (AdamW){1e-2f, 0.9f, 0.95f, 1e-3f, 0.1f}, 1);
    grade_traffic(calls);
}

/* ---- crossentropy ---------------------------------------------------------------------------- */

/* No size of these is a multiple of a block's; V is often none of PACK's. */
static const int token_shapes[][2] = {{31, 33}, {1, 257}, {33, 31}, {257, 33}, {3, 1030}, {5, 8}};
enum { TOKEN_SHAPES = 6, PRECISIONS = 3 };

static Calls *plan_forward(Check *check) {
    Calls *calls = calls_new(check, "crossentropy_forward");
    for (int s = 0; s < TOKEN_SHAPES * PRECISIONS; s++) {
        const int *shape = token_shapes[s % TOKEN_SHAPES];
        add_forward(calls, (Precision)(s / TOKEN_SHAPES), shape[0], shape[1], 2, false);
    }
    add_forward(calls, F32, check_int(check, 2, 40), check_int(check, 258, 1500), 2, false);
    add_forward(calls, F32, 7, 33, 2, true);
    return calls;
}

GRADED(02_kernels, crossentropy_forward, 10, "task 4: losses and lse") {
    Calls *calls = plan_forward(check);
    add_forward(calls, F32, 0, 33, 2, false);
    grade_numbers(calls);
}

GRADED(02_kernels, crossentropy_large, 4, "task 4: logits of some hundreds") {
    Calls *calls = calls_new(check, "crossentropy_forward");
    for (Precision precision = F32; precision <= BF16; precision++) {
        add_forward(calls, precision, 31, 33, 300, false);
        add_forward(calls, precision, 3, check_int(check, 258, 1500), 300, false);
    }
    plan_done(calls);
    if (!run(calls)) {
        return;
    }
    calls->large = true;
    int32_t problems = *(const int32_t *)check_got(check, "problems", WIRE_I32);
    for (int i = 0; i < calls->expecteds && problems == 0; i++) {
        const Expected *e = &calls->expected[i];
        Comparison comparison =
            compare(check_got(check, e->name, WIRE_F32), e->want, e->n, e->tolerance);
        if (comparison.not_finite > 0) {
            char text[COMPARISON_TEXT];
            check_fail(check, "%s; likely: exp() overflows from 89 on: softmax without the maximum",
                       comparison_text(&comparison, e->name, text));
            return;
        }
    }
    judge(calls);
}

static Calls *plan_backward(Check *check) {
    Calls *calls = calls_new(check, "crossentropy_backward");
    for (int s = 0; s < TOKEN_SHAPES * PRECISIONS; s++) {
        const int *shape = token_shapes[s % TOKEN_SHAPES];
        add_backward(calls, (Precision)(s / TOKEN_SHAPES), shape[0], shape[1],
                     s % 2 == 0 ? 1e-3 : 1, s % 4 == 3, false);
    }
    add_backward(calls, F32, check_int(check, 2, 40), check_int(check, 258, 700), 0.125, false,
                 false);
    add_backward(calls, F32, 7, 33, 1, true, true);
    return calls;
}

GRADED(02_kernels, crossentropy_backward, 10, "task 5: dlogits, added or in place") {
    Calls *calls = plan_backward(check);
    add_backward(calls, F32, 0, 33, 1, false, false);
    grade_numbers(calls);
}

static Calls *plan_both(Check *check) {
    Calls *calls = calls_new(check, "crossentropy");
    for (Precision precision = F32; precision <= BF16; precision++) {
        add_both(calls, precision, 9, check_int(check, 258, 600), false);
        add_both(calls, precision, 33, 31, true);
    }
    return calls;
}

GRADED(02_kernels, crossentropy_clean, 4,
       "crossentropy: bounds, initialisation, races, divergence") {
    grade_clean(plan_both(check));
}

GRADED(02_kernels, crossentropy_schedules, 2, "crossentropy: the same bits in three orders") {
    grade_schedules(plan_both(check));
}

GRADED(02_kernels, crossentropy_traffic, 3, "crossentropy: sectors per request") {
    Calls *calls = calls_new(check, "crossentropy");
    add_both(calls, F32, 4, 2048, false);
    add_both(calls, F16, 4, 2048, false);
    grade_traffic(calls);
}

/* ---- layernorm ------------------------------------------------------------------------------- */

static Calls *plan_rows(Check *check, const char *op, int back) {
    static const int shapes[][2] = {{33, 31}, {31, 257}, {257, 33}, {1, 40}, {70, 64}, {3, 1}};
    Calls *calls = calls_new(check, op);
    for (Precision precision = F32; precision <= BF16; precision++) {
        for (int s = 0; s < 6; s++) {
            add_rows(calls, precision, shapes[s][0], shapes[s][1], s % 2 == 0 ? 1e-3 : 1, false,
                     back);
        }
        /* Of 32 row blocks of 9 the last has rows as well. */
        add_rows(calls, precision, check_int(check, 280, 287), 512, 1, precision == F16, back);
    }
    return calls;
}

GRADED(02_kernels, layernorm_din, 10, "task 6: the gradient of the input") {
    grade_numbers(plan_rows(check, "layernorm_din", DIN));
}

GRADED(02_kernels, layernorm_partials, 8, "task 7: partial sums of dweight and dbias") {
    grade_numbers(plan_rows(check, "layernorm_partials", PARTIALS));
}

GRADED(02_kernels, layernorm_parameters, 6, "task 8: dweight and dbias, added") {
    Calls *calls = plan_rows(check, "layernorm_parameters", PARAMETERS);
    add_rows(calls, F32, 0, 33, 1, false, PARAMETERS);
    grade_numbers(calls);
}

static Calls *few_rows(Check *check) {
    Calls *calls = calls_new(check, "layernorm");
    for (Precision precision = F32; precision <= BF16; precision++) {
        add_rows(calls, precision, 37, 67, 1, false, DIN | PARAMETERS);
        add_rows(calls, precision, check_int(check, 65, 130), 72, 1, false, DIN | PARAMETERS);
    }
    return calls;
}

GRADED(02_kernels, layernorm_clean, 4, "layernorm: bounds, initialisation, races, divergence") {
    grade_clean(few_rows(check));
}

GRADED(02_kernels, layernorm_schedules, 2, "layernorm: the same bits in three orders") {
    grade_schedules(few_rows(check));
}

GRADED(02_kernels, layernorm_traffic, 3, "layernorm: sectors per request") {
    Calls *calls = calls_new(check, "layernorm");
    add_rows(calls, F32, 300, 512, 1, false, DIN | PARAMETERS);
    add_rows(calls, F16, 300, 512, 1, false, DIN | PARAMETERS);
    grade_traffic(calls);
}

/* ---- a real GPU, where there is one ---------------------------------------------------------- */

GRADED(02_kernels, sumsq_gpu, 0, "sumsq on a GPU") {
    grade_on_gpu(plan_sumsq(check, false));
}

GRADED(02_kernels, adamw_gpu, 0, "adamw on a GPU") {
    grade_on_gpu(plan_adamw(check));
}

GRADED(02_kernels, crossentropy_gpu, 0, "crossentropy on a GPU") {
    grade_on_gpu(plan_both(check));
}

GRADED(02_kernels, layernorm_gpu, 0, "layernorm on a GPU") {
    grade_on_gpu(plan_rows(check, "layernorm", DIN | PARAMETERS));
}
