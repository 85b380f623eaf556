/* Lab 02: what is graded. Each check makes many calls of one op in one run of the probe: awkward
   sizes, three precisions, buffers that hold something before. */
#include <math.h>
#include <string.h>

#include "grader/check.h"
#include "grader/probes/02_kernels.h"
#include "grader/reference.h"

enum { CALLS = 40, EXPECTED = 120, SUSPECTS = 8, SECONDS = 20 };

/* A tensor that should come back. */
typedef struct Expected {
    char name[WIRE_NAME];
    Precision precision; /* of the call */
    const double *want;  /* (n) */
    size_t n;
    size_t parts; /* what comes back are so many partial sums of it; 0: the tensor itself */
    Tolerance tolerance;
    Suspect suspect[SUSPECTS];
    int suspects;
} Expected;

/* All calls of a check. */
typedef struct Calls {
    Check *check;
    const char *op; /* case of the probe */
    KernelCase c[CALLS];
    int count;
    Expected expected[EXPECTED];
    int expecteds;
} Calls;

static Calls *calls_new(Check *check, const char *op) {
    static Calls calls;
    memset(&calls, 0, sizeof calls);
    calls.check = check;
    calls.op = op;
    return &calls;
}

static int call_add(Calls *calls, Precision precision, int N, int C) {
    CHECK(calls->count < CALLS, "more than %d calls", CALLS);
    calls->c[calls->count] = (KernelCase){.precision = (int32_t)precision, .N = N, .C = C};
    return calls->count++;
}

/* ---- inputs and what should come back ---------------------------------------------------------- */

static double *doubles(Calls *calls, const float *from, size_t n) {
    double *values = check_doubles(calls->check, n);
    for (size_t i = 0; i < n; i++) {
        values[i] = (double)from[i];
    }
    return values;
}

static void give(Calls *calls, int i, const char *tensor, const float *values, size_t n) {
    char name[WIRE_NAME];
    check_give(calls->check, kernel_tensor(name, tensor, i, &calls->c[i]), WIRE_F32, values, n);
}

/* Gives random numbers, and returns them as doubles. */
static double *give_normal(Calls *calls, int i, const char *tensor, size_t n, double scale,
                           Precision precision) {
    float *values = check_normal(calls->check, n, scale, precision);
    give(calls, i, tensor, values, n);
    return doubles(calls, values, n);
}

static void give_doubles(Calls *calls, int i, const char *tensor, const double *from, size_t n) {
    float *values = check_normal(calls->check, n, 1, F32);
    for (size_t k = 0; k < n; k++) {
        values[k] = (float)from[k];
    }
    give(calls, i, tensor, values, n);
}

static Expected *expect(Calls *calls, int i, const char *tensor, const double *want, size_t n,
                        size_t parts, Tolerance tolerance) {
    CHECK(calls->expecteds < EXPECTED, "more than %d tensors", EXPECTED);
    Expected *expected = &calls->expected[calls->expecteds++];
    *expected = (Expected){.precision = (Precision)calls->c[i].precision,
                           .want = want,
                           .n = n,
                           .parts = parts,
                           .tolerance = tolerance};
    kernel_tensor(expected->name, tensor, i, &calls->c[i]);
    check_want(calls->check, expected->name, WIRE_F32, parts > 0 ? parts * n : n);
    return expected;
}

/* A copy of `from` that a mistake will be made of. */
static double *suspect(Calls *calls, Expected *expected, const char *sentence, const double *from) {
    CHECK(expected->suspects < SUSPECTS, "more than %d suspects", SUSPECTS);
    double *values = check_doubles(calls->check, expected->n);
    if (from != NULL) {
        memcpy(values, from, expected->n * sizeof *values);
    }
    expected->suspect[expected->suspects++] = (Suspect){sentence, values};
    return values;
}

/* ---- the judge --------------------------------------------------------------------------------- */

static bool run(Calls *calls) {
    if (calls->op == NULL) {
        return false;
    }
    return check_run(calls->check, calls->op, SECONDS);
}

static void plan_done(Calls *calls) {
    check_give(calls->check, "cases", WIRE_BYTES, calls->c,
               (size_t)calls->count * sizeof calls->c[0]);
    check_want(calls->check, "problems", WIRE_I32, 1);
    check_want(calls->check, "profile", WIRE_BYTES, KERNEL_LINES * sizeof(KernelLine));
}

/* Adds up the parts that somebody has written: fresh memory is 0xFF. */
static void add_parts(float *sum, const float *part, size_t n, size_t parts) {
    for (size_t i = 0; i < n; i++) {
        double total = 0;
        for (size_t p = 0; p < parts; p++) {
            uint32_t bits;
            memcpy(&bits, &part[p * n + i], sizeof bits);
            total += bits != 0xFFFFFFFFu ? (double)part[p * n + i] : 0;
        }
        sum[i] = (float)total;
    }
}

static bool close_parts(Calls *calls, const Expected *expected) {
    float *sum = check_normal(calls->check, expected->n, 0, F32);
    add_parts(sum, check_got(calls->check, expected->name, WIRE_F32), expected->n, expected->parts);
    Comparison comparison = compare(sum, expected->want, expected->n, expected->tolerance);
    if (comparison.pass) {
        check_good(calls->check);
        return true;
    }
    const char *likely = "look at which elements each thread and block takes";
    for (int s = expected->suspects - 1; s >= 0; s--) {
        if (compare(sum, expected->suspect[s].values, expected->n, expected->tolerance).pass) {
            likely = expected->suspect[s].sentence;
        }
    }
    char text[COMPARISON_TEXT];
    check_fail(calls->check, "the partial sums added up: %s; likely: %s",
               comparison_text(&comparison, expected->name, text), likely);
    return false;
}

/* In half, nearly right where f32 is right: the numbers were rounded once too often. */
static bool rounded_sum(Calls *calls, const Expected *expected) {
    if (expected->precision == F32 || expected->parts > 0) {
        return false;
    }
    Comparison comparison = compare(check_got(calls->check, expected->name, WIRE_F32),
                                    expected->want, expected->n, expected->tolerance);
    bool nearly = !comparison.pass && comparison.not_finite == 0 && comparison.norm_error < 0.05;
    if (nearly) {
        char text[COMPARISON_TEXT];
        check_fail(calls->check,
                   "%s; likely: a sum is kept in half. f32 is right, and this nearly: sums are "
                   "float whatever the precision",
                   comparison_text(&comparison, expected->name, text));
    }
    return nearly;
}

static bool judge(Calls *calls) {
    for (int i = 0; i < calls->expecteds; i++) {
        const Expected *e = &calls->expected[i];
        if (rounded_sum(calls, e)) {
            return false;
        }
        bool right = e->parts > 0 ? close_parts(calls, e)
                                  : check_close(calls->check, e->name, e->want, e->n, e->tolerance,
                                                e->suspect, e->suspects);
        if (!right) {
            return false;
        }
    }
    return true;
}

static void grade_numbers(Calls *calls) {
    plan_done(calls);
    if (run(calls)) {
        judge(calls);
    }
}

/* The first line of a report: "[cudasim] race: shared memory is read here ...". */
static void first_report(const Check *check, char line[300]) {
    const char *found = strstr(check_text(check), "[cudasim] ");
    snprintf(line, 300, "%.*s", found != NULL ? (int)strcspn(found, "\n") : 0,
             found != NULL ? found : "");
}

static void grade_clean(Calls *calls) {
    plan_done(calls);
    if (!run(calls) || !judge(calls)) {
        return;
    }
    int32_t problems = *(const int32_t *)check_got(calls->check, "problems", WIRE_I32);
    if (problems != 0) {
        char line[300];
        first_report(calls->check, line);
        check_fail(calls->check, "the numbers are right, but the simulator has seen %d problem%s: %s",
                   problems, problems == 1 ? "" : "s", line);
    }
}

/* All that came back, one after the other. */
static size_t keep(const Calls *calls, float *to) {
    size_t n = 0;
    for (int i = 0; i < calls->expecteds; i++) {
        const Expected *e = &calls->expected[i];
        if (to != NULL) {
            memcpy(to + n, check_got(calls->check, e->name, WIRE_F32), e->n * sizeof *to);
        }
        n += e->n;
    }
    return n;
}

static void grade_schedules(Calls *calls) {
    plan_done(calls);
    char random[100];
    snprintf(random, sizeof random, "CUDASIM_SCHED=random:%d", check_int(calls->check, 1, 1 << 20));
    const char *schedule[] = {"CUDASIM_SCHED=forward", "CUDASIM_SCHED=reverse", random};
    size_t n = keep(calls, NULL);
    float *first = check_normal(calls->check, n, 0, F32);
    float *next = check_normal(calls->check, n, 0, F32);
    for (int s = 0; s < 3; s++) {
        check_environment(calls->check, schedule[s]);
        if (!run(calls) || !judge(calls)) {
            return;
        }
        keep(calls, s == 0 ? first : next);
        if (s > 0 && memcmp(first, next, n * sizeof *first) != 0) {
            check_fail(calls->check,
                       "with %s the bits are not those of a run forward: threads, warps and blocks "
                       "may come in any order. Look for a sum whose order nothing fixes (atomics), "
                       "or a missing barrier",
                       schedule[s]);
            return;
        }
    }
}

static void judge_line(Calls *calls, const KernelLine *line) {
    if (line->ideal > 0 && line->sectors <= 1.15 * line->ideal) {
        return;
    }
    check_fail(calls->check,
               "in %.31s, a %s touches %.2f times the fewest sectors that would do (1.15 is "
               "allowed): do the lanes of a warp take neighbours?",
               line->kernel, line->write ? "write" : "read", line->sectors / line->ideal);
}

static void grade_traffic(Calls *calls) {
    plan_done(calls);
    check_environment(calls->check, "CUDASIM_PROFILE=1");
    if (!run(calls) || !judge(calls)) {
        return;
    }
    KernelLine line[KERNEL_LINES];
    memcpy(line, check_got(calls->check, "profile", WIRE_BYTES), sizeof line);
    bool reads = false, writes = false;
    for (int i = 0; i < KERNEL_LINES && line[i].used == 1; i++) {
        line[i].kernel[KERNEL_LINE_NAME - 1] = '\0';
        judge_line(calls, &line[i]);
        reads = reads || line[i].write == 0;
        writes = writes || line[i].write == 1;
    }
    if (!reads || !writes) {
        check_fail(calls->check, "no kernel was seen to read and to write device memory");
    }
}

/* ---- sumsq ------------------------------------------------------------------------------------- */

static void add_sumsq(Calls *calls, int n, double scale, bool partials) {
    int i = call_add(calls, F32, n, 1);
    double *x = give_normal(calls, i, "x", (size_t)n, scale, F32);
    double squares = 0, sum = 0, without_tail = 0;
    for (int k = 0; k < n; k++) {
        squares += x[k] * x[k];
        sum += x[k];
        without_tail += k < n / 4 * 4 ? x[k] * x[k] : 0;
    }
    double *out = check_doubles(calls->check, 1), *want = check_doubles(calls->check, 1);
    out[0] = (double)(float)(partials ? 0 : (n > 0 ? squares : 1) * (0.5 + 0.1 * i));
    give_doubles(calls, i, "out", out, 1);
    want[0] = out[0] + squares;
    Tolerance tolerance = tolerance_of_op(F32, n > 0 ? n : 1);
    Expected *e = expect(calls, i, partials ? "partial" : "out", want, 1,
                         partials ? KERNEL_PARTIALS : 0, tolerance);
    *suspect(calls, e, "the numbers are added, not their squares", NULL) = out[0] + sum;
    *suspect(calls, e, "the last n % PACK numbers are left out", NULL) = out[0] + without_tail;
    if (!partials) {
        *suspect(calls, e, "= where += is meant: out is a chain over many tensors", NULL) = squares;
        *suspect(calls, e, "the root is taken here; it belongs to the caller", NULL) =
            out[0] + sqrt(squares);
    }
}

static Calls *plan_sumsq(Check *check, bool partials) {
    static const int sizes[] = {1, 31, 33, 257, 70001, 1100003};
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

/* ---- adamw ------------------------------------------------------------------------------------- */

/* An update with a mistake; reference_adamw() is the right one. */
typedef enum Slip {
    EPSILON_INSIDE,
    NO_CORRECTION,
    CORRECTS_M_ONLY,
    LATE_T,
    COUPLED,
    DECAY_WITHOUT_RATE,
    NO_DECAY,
    SLIPS,
} Slip;

static const char *const slip_sentence[SLIPS] = {
    [EPSILON_INSIDE] = "epsilon is inside of the root; it is added to the root",
    [NO_CORRECTION] = "the bias correction is missing: m and v are too small by 1 - beta^t",
    [CORRECTS_M_ONLY] = "m is corrected and v is not",
    [LATE_T] = "t is one too large: steps count from 1, and t is this one",
    [COUPLED] = "the weight decay goes into the gradient: that is Adam with L2, not AdamW",
    [DECAY_WITHOUT_RATE] = "the weight decay is not multiplied by the learning rate",
    [NO_DECAY] = "the weight decay is missing",
};

static double slipped(Slip slip, double w, double m, double v, double g, AdamW a, int t) {
    double lr = (double)a.learning_rate, b1 = (double)a.beta1, b2 = (double)a.beta2;
    double epsilon = (double)a.epsilon, decay = (double)a.weight_decay;
    g += slip == COUPLED ? decay * w : 0;
    m = b1 * m + (1 - b1) * g;
    v = b2 * v + (1 - b2) * g * g;
    t += slip == LATE_T;
    m /= slip == NO_CORRECTION ? 1 : 1 - pow(b1, t);
    v /= slip == NO_CORRECTION || slip == CORRECTS_M_ONLY ? 1 : 1 - pow(b2, t);
    double step = m / (slip == EPSILON_INSIDE ? sqrt(v + epsilon) : sqrt(v) + epsilon);
    double shrink = slip == COUPLED || slip == NO_DECAY ? 0 : decay * w;
    return w - (slip == DECAY_WITHOUT_RATE ? lr * step + shrink : lr * (step + shrink));
}

static void add_adamw(Calls *calls, int n, AdamW a, int t) {
    int i = call_add(calls, F32, n, 1);
    size_t count = (size_t)n;
    calls->c[i].t = t;
    calls->c[i].adamw = a;
    double *weight = give_normal(calls, i, "weight", count, 1, F32);
    double *grad = give_normal(calls, i, "grad", count, 0.1, F32);
    double *m = give_normal(calls, i, "m", count, 0.05, F32);
    float *squares = check_normal(calls->check, count, 0.1, F32);
    for (size_t k = 0; k < count; k++) {
        squares[k] *= squares[k];
    }
    give(calls, i, "v", squares, count);
    double *v = doubles(calls, squares, count);
    Expected *of_m = expect(calls, i, "m", m, count, 0, tolerance_of_op(F32, 1));
    Expected *of_v = expect(calls, i, "v", v, count, 0, tolerance_of_op(F32, 1));
    Expected *of_weight = expect(calls, i, "weight", weight, count, 0, tolerance_of_op(F32, 1));
    double *whole = suspect(calls, of_m, "g is added whole, not (1 - beta1) of it", m);
    double *plain = suspect(calls, of_v, "v takes g where it should take its square", v);
    for (size_t k = 0; k < count; k++) {
        whole[k] = (double)a.beta1 * m[k] + grad[k];
        plain[k] = (double)a.beta2 * v[k] + (1 - (double)a.beta2) * grad[k];
    }
    for (Slip slip = 0; slip < SLIPS; slip++) {
        double *wrong = suspect(calls, of_weight, slip_sentence[slip], weight);
        for (size_t k = 0; k < count; k++) {
            wrong[k] = slipped(slip, weight[k], m[k], v[k], grad[k], a, t);
        }
    }
    reference_adamw(weight, m, v, grad, count, (double)a.learning_rate, (double)a.beta1,
                    (double)a.beta2, (double)a.epsilon, (double)a.weight_decay, t);
}

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
