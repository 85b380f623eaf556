#include "grader/labs/02_kernels/calls.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "grader/draws.h"
#include "grader/labs/02_kernels/term.h"

Calls *calls_new(Check *check, const char *op) {
    static Calls calls;
    memset(&calls, 0, sizeof calls);
    calls.check = check;
    calls.op = op;
    calls.nearly = "nearly right, wherever it is wrong. Is a divisor off by one, a small term left "
                   "out, a sum kept in half? Sums are float whatever the precision";
    return &calls;
}

int calls_add(Calls *calls, Precision precision, int N, int C) {
    CHECK(calls->count < CALLS, "more than %d calls", CALLS);
    calls->c[calls->count] = (KernelCase){.precision = (int32_t)precision, .N = N, .C = C};
    return calls->count++;
}

void calls_promise(const Calls *calls, const char *clause, int C) {
    for (int i = 0; i < calls->count; i++) {
        check_size(calls->check, clause, calls->c[i].C == C);
    }
}

/* ---- inputs and what should come back -------------------------------------------------------- */

double *calls_doubles(Calls *calls, const float *from, size_t n) {
    double *values = check_doubles(calls->check, n);
    for (size_t i = 0; i < n; i++) {
        values[i] = (double)from[i];
    }
    return values;
}

void calls_give(Calls *calls, int i, const char *tensor, const float *values, size_t n) {
    char name[WIRE_NAME];
    check_give(calls->check, kernel_tensor(name, tensor, i, &calls->c[i]), WIRE_F32, values, n);
}

double *calls_give_normal(Calls *calls, int i, const char *tensor, size_t n, double scale,
                          Precision precision) {
    float *values = check_normal(calls->check, n, scale, precision);
    calls_give(calls, i, tensor, values, n);
    return calls_doubles(calls, values, n);
}

void calls_give_doubles(Calls *calls, int i, const char *tensor, const double *from, size_t n) {
    float *values = check_normal(calls->check, n, 1, F32);
    for (size_t k = 0; k < n; k++) {
        values[k] = (float)from[k];
    }
    calls_give(calls, i, tensor, values, n);
}

void calls_move(Calls *calls, int i, int times) {
    const KernelCase *c = &calls->c[i];
    calls->bytes += (double)times * c->N * c->C * precision_bytes((Precision)c->precision);
}

void calls_give_left(Calls *calls, int i, const void *left, size_t bytes) {
    char name[WIRE_NAME];
    check_give(calls->check, kernel_tensor(name, "left", i, &calls->c[i]), WIRE_BYTES, left, bytes);
}

Expected *calls_expect(Calls *calls, int i, const char *tensor, const double *want, size_t n,
                       size_t parts, Tolerance tolerance) {
    CHECK(calls->expecteds < EXPECTED, "more than %d tensors", EXPECTED);
    Expected *expected = &calls->expected[calls->expecteds++];
    *expected = (Expected){.precision = (Precision)calls->c[i].precision,
                           .want = want,
                           .n = n,
                           .parts = parts,
                           .element = sizeof(float),
                           .tolerance = tolerance};
    kernel_tensor(expected->name, tensor, i, &calls->c[i]);
    check_want(calls->check, expected->name, WIRE_F32, parts > 0 ? parts * n : n);
    return expected;
}

double *expected_suspect(Calls *calls, Expected *expected, const char *sentence,
                         const double *from) {
    CHECK(expected->suspects < SUSPECTS, "more than %d suspects", SUSPECTS);
    double *values = check_doubles(calls->check, expected->n);
    if (from != NULL) {
        memcpy(values, from, expected->n * sizeof *values);
    }
    expected->suspect[expected->suspects++] = (Suspect){sentence, values};
    return values;
}

/* ---- the judge ------------------------------------------------------------------------------- */

/* Of all that the probe fetches. */
static size_t calls_fetched(const Calls *calls) {
    size_t bytes = 0;
    for (int i = 0; i < calls->expecteds; i++) {
        const Expected *e = &calls->expected[i];
        bytes += (e->parts > 0 ? e->parts * e->n : e->n) * e->element;
    }
    for (int i = 0; i < calls->count && calls->padded; i++) {
        const KernelCase *c = &calls->c[i];
        bytes += (size_t)c->N * (size_t)c->stride * precision_bytes((Precision)c->precision);
    }
    return bytes;
}

static bool calls_fetch_nothing(const Calls *calls) {
    return profile_expect_no_fetch(calls->check, calls_fetched(calls));
}

bool calls_run(Calls *calls) {
    check_memory(calls->check, 0);
    return check_run(calls->check, calls->op, SECONDS) && calls_fetch_nothing(calls);
}

void calls_planned(Calls *calls) {
    check_give(calls->check, "cases", WIRE_BYTES, calls->c,
               (size_t)calls->count * sizeof calls->c[0]);
    if (calls->padded) {
        check_want(calls->check, "padding", WIRE_U64, (size_t)calls->count);
    }
    profile_want(calls->check);
}

/* Where the partial sums of two tensors lie, dweight and dbias. */
typedef struct PartLayout {
    bool apart;       /* all parts of one tensor, then all of the other */
    bool dbias_first; /* the other way round */
} PartLayout;

static const PartLayout part_layout = TERM_LAYOUT_IS;

/* Where part p of number i lies, of n, the first half of which are dweight's. */
static size_t part_place(PartLayout layout, size_t p, size_t i, size_t n, size_t parts) {
    size_t C = n / 2, tensor = (i < C) == layout.dbias_first;
    return (layout.apart ? tensor * parts + p : 2 * p + tensor) * C + i % C;
}

void calls_give_parts(Calls *calls, int i, const double *part, size_t n, size_t parts) {
    float *left = check_normal(calls->check, parts * n, 0, F32);
    for (size_t p = 0; p < parts; p++) {
        for (size_t k = 0; k < n; k++) {
            left[part_place(part_layout, p, k, n, parts)] = (float)part[p * n + k];
        }
    }
    calls_give_left(calls, i, left, parts * n * sizeof *left);
}

/* Adds up the parts that were written: the probe has filled them all (PARTS_FILL). A NaN is none
   of those. */
static void parts_add_up(float *sum, const float *part, size_t n, size_t parts, PartLayout layout) {
    for (size_t i = 0; i < n; i++) {
        double total = 0;
        for (size_t p = 0; p < parts; p++) {
            float value = part[part_place(layout, p, i, n, parts)];
            uint32_t bits;
            memcpy(&bits, &value, sizeof bits);
            total += bits != PARTS_FILL * 0x01010101u ? (double)value : 0;
        }
        sum[i] = (float)total;
    }
}

/* Off by little everywhere, and by much nowhere: rounded once too often. */
static bool expected_nearly(const Expected *e, const float *got) {
    double most = e->precision == F32 ? 2e-3 : 1e-1;
    Tolerance loose = {.relative = most, .scaled = most, .norm = most};
    return compare_data(got, e->want, e->n, loose).pass;
}

/* Where a loop stops, in a tensor that has no other shape. Sums for two tensors may be right for
   one of them: no loop stops between the two. */
static void expected_tell_border(Check *check, const Expected *e, const float *got) {
    size_t tensors = e->parts > 0 ? 2 : 1, n = e->n / tensors;
    bool plain = comparison_kind(got, e->want, e->n, e->tolerance).kind == SHAPE_NONE;
    for (size_t k = 0; k < tensors && plain; k++) {
        char text[COMPARISON_TEXT];
        if (comparison_border(got + k * n, e->want + k * n, n, e->tolerance, text)[0] != '\0') {
            check_fail(check, "%s%s: %s", e->name,
                       tensors == 1 ? ""
                       : k == 0     ? ", of dweight"
                                    : ", of dbias",
                       text);
            return;
        }
    }
}

/* Partial sums: what they add up to. A part that is NaN is so by its sum; one that nobody has
   written takes no part, and if no part of a number was written, neither was the number. */
static const float *expected_sums(const Calls *calls, const Expected *e, PartLayout layout) {
    const float *got = check_got(calls->check, e->name, WIRE_F32);
    if (e->parts == 0) {
        return got;
    }
    float *sum = check_normal(calls->check, e->n, 0, F32);
    parts_add_up(sum, got, e->n, e->parts, layout);
    return sum;
}

/* Names the term whose layout the parts have. */
static void expected_suspect_term(Calls *calls, const Expected *e) {
    static const PartLayout layouts[] = TERM_LAYOUT_EACH;
    const Term term = TERM_LAYOUT;
    bool fits[TERM_MOST];
    for (int k = 0; k < term.count; k++) {
        fits[k] =
            compare_data(expected_sums(calls, e, layouts[k]), e->want, e->n, e->tolerance).pass;
    }
    check_suspect_term(calls->check, &term, fits);
}

/* Whether nothing was written between two rows of dlogits. */
static bool calls_padding_kept(Calls *calls) {
    const uint64_t *written = check_got(calls->check, "padding", WIRE_U64);
    for (int i = 0; i < calls->count && draw_now() == NULL; i++) {
        if (written[i] > 0) {
            char name[WIRE_NAME];
            check_fail(calls->check,
                       "%s: %llu bytes between two rows are written: rows begin `stride` numbers "
                       "apart, and what lies after V is padding, neither read nor written",
                       kernel_tensor(name, "dlogits", i, &calls->c[i]),
                       (unsigned long long)written[i]);
            return false;
        }
    }
    return true;
}

static bool double_is_right(double got, double want) {
    return isfinite(want) ? fabs(got - want) <= tolerance_of_double() * fabs(want) : !isfinite(got);
}

/* The first of (n) doubles that is off by more than their rounding; n if there is none. */
static size_t doubles_first_wrong(const double *got, const double *want, size_t n) {
    size_t i = 0;
    while (i < n && double_is_right(got[i], want[i])) {
        i++;
    }
    return i;
}

/* Sums that are right as floats may have been rounded to float before. */
static bool expected_judge_doubles(Check *check, const Expected *e) {
    const double *got = check_got(check, e->doubles, WIRE_F64);
    size_t i = doubles_first_wrong(got, e->want, e->n);
    bool right = i == e->n;
    check_compared(check, right, "%s, as double [%zu]: got %.15g, want %.15g", e->name, i,
                   right ? 0 : got[i], right ? 0 : e->want[i]);
    check_suspect(check, "a square or a sum is rounded to float: both are double", !right);
    return right || draw_now() != NULL;
}

/* One tensor, right or not, with all its known mistakes. */
static bool calls_judge_one(Calls *calls, const Expected *e) {
    if (e->parts == 0) {
        return check_close(calls->check, e->name, e->want, e->n, e->tolerance, e->suspect,
                           calls->numbers != NULL ? 0 : e->suspects) &&
               (e->doubles == NULL || expected_judge_doubles(calls->check, e));
    }
    char text[COMPARISON_TEXT];
    const float *sum = expected_sums(calls, e, part_layout);
    Comparison comparison = compare_data(sum, e->want, e->n, e->tolerance);
    check_compared(calls->check, comparison.pass, "the partial sums added up: %s",
                   comparison_text(&comparison, e->name, text));
    check_near(calls->check, comparison.share);
    for (int s = 0; s < e->suspects; s++) {
        check_suspect(calls->check, e->suspect[s].sentence,
                      compare_data(sum, e->suspect[s].values, e->n, e->tolerance).pass);
    }
    expected_suspect_term(calls, e);
    return comparison.pass;
}

bool calls_judge(Calls *calls) {
    if (calls->padded && !calls_padding_kept(calls)) {
        return false;
    }
    const Expected *first = NULL;
    int near = 0, far = calls->large;
    for (int i = 0; i < calls->expecteds; i++) {
        const Expected *e = &calls->expected[i];
        if (!calls_judge_one(calls, e)) {
            const float *got = expected_sums(calls, e, part_layout);
            bool tells = !e->rounded_away, nearly = expected_nearly(e, got);
            near += tells && nearly;
            far += tells && !nearly;
            first = first != NULL ? first : e;
        }
    }
    if (first != NULL && calls->numbers != NULL) {
        check_after(calls->check, calls->numbers);
        return false;
    }
    if (near > 0 && far == 0) {
        check_fail(calls->check, "%s", calls->nearly);
    } else if (first != NULL) {
        expected_tell_border(calls->check, first, expected_sums(calls, first, part_layout));
    }
    return first == NULL;
}

/* Whether every tensor is right; nothing is said of one that is not. */
static bool calls_are_right(const void *context) {
    const Calls *calls = context;
    for (int i = 0; i < calls->expecteds; i++) {
        const Expected *e = &calls->expected[i];
        const float *got = expected_sums(calls, e, part_layout);
        if (!compare_data(got, e->want, e->n, e->tolerance).pass) {
            return false;
        }
    }
    return true;
}

/* As calls_run(); but a kernel that is not needed for these numbers, another task's, may end the
   program. */
static bool calls_run_for_numbers(Calls *calls) {
    check_memory(calls->check, 0);
    return (check_run(calls->check, calls->op, SECONDS) ||
            profile_run_without(calls->check, calls->op, SECONDS, calls_are_right, calls)) &&
           calls_fetch_nothing(calls);
}

/* Right numbers, of kernels: <<<1, 1>>> is none. */
static bool calls_judge_kernels(Calls *calls) {
    return calls_judge(calls) &&
           profile_expect_shared(calls->check, calls->bytes, profile_any_kernel);
}

void calls_grade_numbers(Calls *calls) {
    calls_planned(calls);
    profile_want_once(calls->check);
    if (calls_run_for_numbers(calls)) {
        calls_judge_kernels(calls);
    }
}

void calls_grade_on_gpu(Calls *calls) {
    calls_planned(calls);
    if (check_run_on_gpu(calls->check, calls->op, SECONDS)) {
        calls_judge(calls);
    }
}

/* Whether the op's launches are possible at that size, and are asked about. */
static bool calls_expect_launches(Calls *calls) {
    const KernelCase *c = &calls->launches;
    char probe_case[40], size[80];
    snprintf(probe_case, sizeof probe_case, "%s_launches", calls->op);
    if (c->C > 1) {
        snprintf(size, sizeof size, "%d rows of %d numbers", c->N, c->C);
    } else {
        snprintf(size, sizeof size, "%d numbers", c->N);
    }
    return profile_expect_launches(calls->check, probe_case, SECONDS, size);
}

void calls_grow(Calls *calls, CallsGrowth growth) {
    calls->growth[calls->growth[0].probe_case != NULL] = growth;
}

/* Whether the work of each case grows with its size. A grid of few blocks may be right, and then
   the two that run have much to do. */
static bool calls_expect_growth(Calls *calls) {
    enum { MANY_SECONDS = 60 };
    bool good = true;
    for (int i = 0; i < 2 && good && calls->growth[i].probe_case != NULL; i++) {
        const CallsGrowth *g = &calls->growth[i];
        good = profile_expect_whole(calls->check, g->probe_case, MANY_SECONDS, g->few, g->many,
                                    g->pieces);
    }
    return good;
}

void calls_grade_clean(Calls *calls, int N, int C) {
    calls->launches = (KernelCase){.N = N, .C = C, .stride = (C + 7) / 8 * 8, .t = 1};
    calls_planned(calls);
    check_give(calls->check, "many", WIRE_U64, &calls->growth[0].few, 1);
    check_give(calls->check, "launches", WIRE_BYTES, &calls->launches, sizeof calls->launches);
    if (calls_run(calls) && profile_expect_clean(calls->check) && calls_judge_kernels(calls) &&
        calls_expect_growth(calls)) {
        calls_expect_launches(calls);
    }
}

/* All that came back, one after the other. */
static size_t calls_keep(const Calls *calls, float *to) {
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

void calls_grade_schedules(Calls *calls) {
    calls_planned(calls);
    profile_want_once(calls->check);
    char random[100];
    snprintf(random, sizeof random, "CUDASIM_SCHED=random:%d", check_int(calls->check, 1, 1 << 20));
    const char *schedule[] = {"CUDASIM_SCHED=forward", "CUDASIM_SCHED=reverse", random};
    size_t n = calls_keep(calls, NULL);
    float *first = check_normal(calls->check, n, 0, F32);
    float *next = check_normal(calls->check, n, 0, F32);
    for (int s = 0; s < 3; s++) {
        check_environment(calls->check, schedule[s]);
        /* The first run's numbers are judged, the others' must be the same: by the bits. */
        if (!calls_run(calls) || (s == 0 && !calls_judge_kernels(calls))) {
            return;
        }
        calls_keep(calls, s == 0 ? first : next);
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

void calls_grade_traffic(Calls *calls, const char *numbers) {
    calls->numbers = numbers;
    calls_planned(calls);
    profile_want_traffic(calls->check);
    double sectors[2];
    if (calls_run(calls) && calls_judge(calls) &&
        profile_expect_shared(calls->check, calls->bytes, profile_good_kernel)) {
        profile_expect_neighbours(calls->check, sectors);
    }
}
