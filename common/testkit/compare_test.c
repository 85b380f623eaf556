#include "common/testkit/compare.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const Tolerance tolerance = {1e-4, 1e-5, 1e-5};
enum { N = 100 };

/* 100 numbers between 1e-3 and 1e-1. */
static void fill(float *got, double *want) {
    for (int i = 0; i < N; i++) {
        got[i] = (float)(1e-3 * (i + 1));
        want[i] = (double)got[i];
    }
}

Test(compare, equal_passes) {
    float got[N];
    double want[N];
    fill(got, want);
    Comparison c = compare(got, want, N, tolerance);
    cr_assert(c.pass && c.share == 0 && c.norm_error == 0);
    cr_assert(compare(got, want, 0, tolerance).pass);
}

Test(compare, one_wrong_element_is_named) {
    float got[N];
    double want[N];
    fill(got, want);
    got[42] *= 1.01f;
    Comparison c = compare(got, want, N, tolerance);
    cr_assert(!c.pass && c.worst == 42 && c.share > 1);
}

Test(compare, a_zero_gradient_fails_whatever_its_size) {
    float got[N] = {0};
    double want[N];
    for (int i = 0; i < N; i++) {
        want[i] = 1e-9 * (i + 1);
    }
    cr_assert(!compare(got, want, N, tolerance).pass);
}

Test(compare, nan_and_infinity_fail) {
    float bad[] = {NAN, INFINITY, -INFINITY};
    for (int b = 0; b < 3; b++) {
        float got[N];
        double want[N];
        fill(got, want);
        got[7] = bad[b];
        got[9] *= 2;
        Comparison c = compare(got, want, N, tolerance);
        cr_assert(!c.pass && c.not_finite == 1 && c.worst == 7, "%d: worst %zu", b, c.worst);
    }
    float nan = NAN;
    double zero = 0;
    cr_assert(!compare(&nan, &zero, 1, tolerance).pass);
}

Test(compare, infinity_and_nan_may_be_right) {
    float got[N];
    double want[N];
    char text[COMPARISON_TEXT];
    fill(got, want);
    want[3] = -(double)INFINITY;
    want[9] = (double)NAN;
    got[3] = NAN; /* either will do */
    got[9] = INFINITY;
    cr_assert(compare_data(got, want, N, tolerance).pass);
    cr_assert(!compare(got, want, N, tolerance).pass);
    got[5] *= 1.01f;
    Comparison c = compare_data(got, want, N, tolerance);
    cr_assert(!c.pass && c.worst == 5 && c.lost == 0 && c.not_finite == 0);
    got[3] = -65504;
    c = compare_data(got, want, N, tolerance);
    cr_assert(!c.pass && c.worst == 3 && c.lost == 1, "worst %zu, lost %zu", c.worst, c.lost);
    comparison_text(&c, "dlogits", text);
    cr_assert_str_eq(text, "dlogits[3]: got -65504, want -inf");
    shape_text(comparison_kind(got, want, N, tolerance), text);
    cr_assert(strstr(text, "left out, or cut"), "%s", text);
    got[4] = NAN;
    cr_assert_eq(compare_data(got, want, N, tolerance).not_finite, 1);
}

/* Each element within its limit, all wrong in the same direction: the norm rule sees it. */
Test(compare, a_small_common_error_fails_by_norm) {
    float got[N];
    double want[N];
    fill(got, want);
    for (int i = 0; i < N; i++) {
        got[i] = (float)(want[i] * (1 + 5e-5));
    }
    Comparison c = compare(got, want, N, tolerance);
    cr_assert(!c.pass && c.norm_error > 1e-5 && c.cosine > 0.999999);
}

/* One small element ten times too large: nothing to the norm. The element rule sees it. */
Test(compare, a_wrong_small_element_fails_by_element) {
    float got[N];
    double want[N];
    for (int i = 0; i < N; i++) {
        want[i] = i == 50 ? 1e-8 : 1e-3;
        got[i] = i == 50 ? 1e-7f : 1e-3f;
    }
    Comparison c = compare(got, want, N, tolerance);
    cr_assert(!c.pass && c.worst == 50 && c.norm_error < 1e-5, "%g", c.norm_error);
}

Test(compare, a_wrong_scale_is_told) {
    float got[N];
    double want[N];
    char text[COMPARISON_TEXT];
    fill(got, want);
    for (int i = 0; i < N; i++) {
        got[i] *= 0.25f;
    }
    Comparison c = compare(got, want, N, tolerance);
    comparison_text(&c, "wte.grad", text);
    cr_assert(strstr(text, "wte.grad[") && strstr(text, "size 0.25 times"), "%s", text);
}

Test(compare, zero_reference) {
    float got[3] = {0, 0, 0};
    double want[3] = {0, 0, 0};
    cr_assert(compare(got, want, 3, tolerance).pass);
    got[1] = 1e-30f;
    cr_assert(!compare(got, want, 3, tolerance).pass);
}

/* ---- shapes ---------------------------------------------------------------------------------- */

/* Numbers of both signs that are changed in one way, and words of what is said of it. */
typedef struct ShapeCase {
    const char *words;
    float factor;   /* of the changed elements; NaN is put in as it is */
    int from, to;   /* these are changed */
    float addition; /* to the changed elements */
} ShapeCase;

Test(compare, shapes_are_told) {
    static const ShapeCase shapes[] = {
        {"all elements are 0", 0, 0, N, 0},
        {"except for the sign", -1, 0, N, 0},
        {"0.25 times", 0.25f, 0, N, 0},
        {"-3 times", -3, 0, N, 0},
        {"division by 0", NAN, 7, 8, 0},
        {"never set", 1, 7, 8, -1.694739e38f},
        {"the first 64 of 100 elements are right", 0, 64, N, 0},
        {"the first 99 of 100 elements are right", 2, 99, N, 0},
        {"the first 1 of 100 elements are wrong", 2, 0, 1, 0},
        {"the first 30 of 100 elements are wrong", 1, 0, 30, 1},
        {"", 2, 0, N - 1, 1}, /* one element right at the end: no border that says anything */
        {"", 1, 0, N, 0.01f}, /* an addition is not a factor */
        {"", 2, 30, 60, 0},   /* right at both ends */
    };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        const ShapeCase *shape = &shapes[s];
        float got[N];
        double want[N];
        char text[COMPARISON_TEXT];
        fill(got, want);
        for (int i = 0; i < N; i++) {
            got[i] *= i % 3 == 0 ? -1.0f : 1.0f;
            want[i] = (double)got[i];
        }
        for (int i = shape->from; i < shape->to; i++) {
            got[i] = shape->factor * got[i] + shape->addition;
        }
        shape_text(comparison_kind(got, want, N, tolerance), text);
        if (text[0] == '\0') {
            comparison_border(got, want, N, tolerance, text);
        }
        bool told = shape->words[0] == '\0' ? text[0] == '\0' : strstr(text, shape->words) != NULL;
        cr_expect(told, "case %zu: '%s'", s, text);
    }
}

/* Of a single number, any other is some factor away. */
Test(compare, one_number_has_any_factor) {
    double want = 2;
    DifferenceShape shape = comparison_kind(&(float){3}, &want, 1, tolerance);
    cr_expect(shape.kind == SHAPE_FACTOR && shape.factor == 1.5);
    cr_expect(comparison_kind(&(float){-2}, &want, 1, tolerance).kind == SHAPE_SIGN);
    cr_expect(comparison_kind(&(float){2.0001f}, &want, 1, tolerance).kind == SHAPE_NONE);
    want = 0;
    cr_expect(comparison_kind(&(float){3}, &want, 1, tolerance).kind == SHAPE_NONE);
}

Test(compare, a_number_that_is_none_is_called_so) {
    char text[COMPARISON_TEXT];
    double want = 2;
    Comparison c = compare(&(float){-NAN}, &want, 1, tolerance);
    cr_expect(strstr(comparison_text(&c, "loss", text), "loss: got NaN, want 2") != NULL, "%s",
              text);
}
