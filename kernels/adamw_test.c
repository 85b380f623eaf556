#include "kernels/adamw.h"

#include <criterion/criterion.h>
#include <math.h>

#include "grader/fixture.h"
#include "grader/reference.h"

static const AdamW settings[] = {
    {1e-3f, 0.9f, 0.95f, 1e-8f, 0.1f}, {1e-2f, 0.9f, 0.999f, 1e-3f, 0}, {1e-4f, 0, 0, 1e-8f, 1}};

Test(adamw, three_steps) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int s = 0; s < 3 * AWKWARD_SIZES; s++) {
            AdamW a = settings[s / AWKWARD_SIZES];
            size_t n = (size_t)awkward_size[s % AWKWARD_SIZES];
            double *weight = fixture_random_float(&f, n, 1), *m = fixture_zeros(&f, n);
            double *v = fixture_zeros(&f, n);
            float *w_got = fixture_float(&f, weight, n), *m_got = fixture_float(&f, m, n);
            float *v_got = fixture_float(&f, v, n);
            for (int t = 1; t <= 3; t++) {
                double *grad = fixture_random_float(&f, n, t == 2 ? 1e-3 : 1);
                f.ops->adamw(w_got, m_got, v_got, fixture_float(&f, grad, n), n, a, t);
                reference_adamw(weight, m, v, grad, n, (double)a.learning_rate, (double)a.beta1,
                                (double)a.beta2, (double)a.epsilon, (double)a.weight_decay, t);
            }
            fixture_expect_float(&f, "weight", w_got, weight, n, tolerance_of_op(F32, 1));
            fixture_expect_float(&f, "m", m_got, m, n, tolerance_of_op(F32, 1));
            fixture_expect_float(&f, "v", v_got, v, n, tolerance_of_op(F32, 1));
        }
    }
}

/* At late steps the corrections are 1; at step 1 the update is lr, whatever the gradient's size. */
Test(adamw, bias_correction) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        double weight[] = {0}, zero[] = {0}, grad[] = {1e-4}, want[] = {-1e-3};
        float *w = fixture_float(&f, weight, 1), *m = fixture_float(&f, zero, 1);
        float *v = fixture_float(&f, zero, 1);
        f.ops->adamw(w, m, v, fixture_float(&f, grad, 1), 1, (AdamW){1e-3f, 0.9f, 0.95f, 1e-12f, 0},
                     1);
        fixture_expect_float(&f, "weight", w, want, 1, (Tolerance){1e-5, 0, 1e-5});
    }
}

Test(adamw, nan_is_data) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        double ones[] = {1, 1}, grad[] = {(double)NAN, 1};
        float *w = fixture_float(&f, ones, 2), *m = fixture_float(&f, ones, 2);
        f.ops->adamw(w, m, fixture_float(&f, ones, 2), fixture_float(&f, grad, 2), 2, settings[0],
                     1);
        float *got = fixture_read_float(&f, w, 2);
        cr_assert(isnan((double)got[0]) && isfinite((double)got[1]));
    }
}
