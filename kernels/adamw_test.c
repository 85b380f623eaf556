#include "kernels/adamw.h"

#include <criterion/criterion.h>
#include <math.h>

#include "common/testkit/fixture.h"
#include "common/testkit/reference.h"

static const AdamW settings[] = {
    {1e-3f, 0.9f, 0.95f, 1e-8f, 0.1f}, {1e-2f, 0.9f, 0.999f, 1e-3f, 0}, {1e-4f, 0, 0, 1e-8f, 1}};

/* One number, none, whole blocks, more than one; some of them do not decay. */
static const size_t sizes[] = {257, 1, 31, 0, 33, 256, 1030, 1};
static const bool decays[] = {true, false, true, true, false, false, true, true};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* The tensors of a list, wanted and got. */
typedef struct Tensors {
    double *want[SIZES];
    float *got[SIZES];
    TensorList list;
} Tensors;

static Tensors random_tensors(Fixture *f, double scale) {
    Tensors t;
    for (int i = 0; i < SIZES; i++) {
        t.want[i] = fixture_random_float(f, sizes[i], scale);
        t.got[i] = fixture_float(f, t.want[i], sizes[i]);
    }
    t.list = fixture_list(f, t.got, sizes, decays, SIZES);
    return t;
}

static void expect(Fixture *f, const char *name, const Tensors *t) {
    for (int i = 0; i < SIZES; i++) {
        fixture_expect_float(f, name, t->got[i], t->want[i], sizes[i], tolerance_of_op(F32, 1));
    }
}

Test(adamw, three_steps) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int s = 0; s < 3; s++) {
            AdamW a = settings[s];
            Tensors weight = random_tensors(&f, 1), m = random_tensors(&f, 0);
            Tensors v = random_tensors(&f, 0);
            for (int t = 1; t <= 3; t++) {
                Tensors grad = random_tensors(&f, t == 2 ? 1e-3 : 1);
                f.ops->adamw(weight.list, m.list, v.list, grad.list, a, t);
                for (int i = 0; i < SIZES; i++) {
                    reference_adamw(weight.want[i], m.want[i], v.want[i], grad.want[i], sizes[i],
                                    (double)a.learning_rate, (double)a.beta1, (double)a.beta2,
                                    (double)a.epsilon, decays[i] ? (double)a.weight_decay : 0, t);
                }
                expect(&f, "grad", &grad);
            }
            expect(&f, "weight", &weight);
            expect(&f, "m", &m);
            expect(&f, "v", &v);
        }
    }
}

Test(adamw, an_empty_list_is_fine) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        TensorList none = fixture_list(&f, NULL, NULL, NULL, 0);
        f.ops->adamw(none, none, none, none, settings[0], 1);
    }
}

/* A list of one tensor. */
static TensorList list_of(Fixture *f, const double *values, size_t n, float **tensor) {
    *tensor = fixture_float(f, values, n);
    return fixture_list(f, tensor, &n, NULL, 1);
}

/* At late steps the corrections are 1; at step 1 the update is lr, whatever the gradient's size. */
Test(adamw, bias_correction) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        double zero = 0, grad = 1e-4, want = -1e-3;
        float *w, *other;
        TensorList weight = list_of(&f, &zero, 1, &w), m = list_of(&f, &zero, 1, &other);
        TensorList v = list_of(&f, &zero, 1, &other), g = list_of(&f, &grad, 1, &other);
        f.ops->adamw(weight, m, v, g, (AdamW){1e-3f, 0.9f, 0.95f, 1e-12f, 0}, 1);
        fixture_expect_float(&f, "weight", w, &want, 1, tolerance_of_op(F32, 1));
    }
}

Test(adamw, nan_is_data) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        double ones[] = {1, 1}, grad[] = {(double)NAN, 1};
        float *w, *other;
        TensorList weight = list_of(&f, ones, 2, &w), m = list_of(&f, ones, 2, &other);
        TensorList v = list_of(&f, ones, 2, &other), g = list_of(&f, grad, 2, &other);
        f.ops->adamw(weight, m, v, g, settings[0], 1);
        float *got = fixture_read_float(&f, w, 2);
        cr_assert(isnan((double)got[0]) && isfinite((double)got[1]));
    }
}
