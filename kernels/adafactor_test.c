#include "kernels/adafactor.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "common/testkit/fixture.h"

/* Matrices, one of them with a single row and one with a single column; a vector; nothing. */
typedef struct FactorShape {
    size_t I, J;
    bool is_matrix;
} FactorShape;
static const FactorShape shapes[] = {
    {33, 31, true}, {1, 257, false}, {257, 3, true}, {1, 40, true},    {0, 0, true},
    {40, 1, true},  {65, 300, true}, {1, 1, false},  {300, 520, true}, {1, 700, false}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static const Adafactor setting = {1e-2f, 0.1f, 1e-30f, 1, 0.8f};

static size_t count_of(int k) {
    return shapes[k].I * shapes[k].J;
}

static size_t rows_of(int k) {
    return shapes[k].is_matrix ? shapes[k].I : 0;
}

/* One kind of tensors, wanted and got. */
typedef struct FactorTensors {
    double *want[SHAPES];
    float *got[SHAPES];
    size_t n[SHAPES];
    TensorList list;
} FactorTensors;

static FactorTensors tensors_new(Fixture *f, double scale, size_t (*count)(int k)) {
    FactorTensors t;
    bool decays[SHAPES];
    for (int k = 0; k < SHAPES; k++) {
        t.n[k] = count(k);
        t.want[k] = fixture_random_float(f, t.n[k], scale);
        t.got[k] = fixture_float(f, t.want[k], t.n[k]);
        decays[k] = shapes[k].is_matrix;
    }
    t.list = fixture_list(f, t.got, t.n, decays, SHAPES);
    return t;
}

static size_t cols_of(int k) {
    return shapes[k].J;
}

static double mean_of(const double *x, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += x[i];
    }
    return sum / (double)n;
}

/* The contract's formula, word for word, in double. */
static void reference(const FactorShape *s, double *w, double *R, double *C, const double *g,
                      Adafactor a, int t) {
    size_t I = s->I, J = s->J;
    double beta = 1 - pow(t, -(double)a.power), squares = 0;
    for (size_t i = 0; i < I && s->is_matrix; i++) {
        double sum = 0;
        for (size_t j = 0; j < J; j++) {
            sum += g[i * J + j] * g[i * J + j] + (double)a.epsilon;
        }
        R[i] = beta * R[i] + (1 - beta) * sum / (double)J;
    }
    for (size_t j = 0; j < J; j++) {
        double sum = 0;
        for (size_t i = 0; i < I; i++) {
            sum += g[i * J + j] * g[i * J + j] + (double)a.epsilon;
        }
        C[j] = beta * C[j] + (1 - beta) * sum / (double)I;
    }
    double mean = s->is_matrix ? mean_of(R, I) : 1;
    for (int pass = 0; pass < 2; pass++) {
        double over = fmax(1, sqrt(squares / (double)(I * J)) / (double)a.clip);
        for (size_t k = 0; k < I * J; k++) {
            double row = s->is_matrix ? sqrt(R[k / J] / mean) : 1;
            double U = g[k] / (row * sqrt(C[k % J]));
            if (pass == 0) {
                squares += U * U;
            } else {
                double decay = s->is_matrix ? (double)a.weight_decay : 0;
                w[k] -= (double)a.learning_rate * (U / over + decay * w[k]);
            }
        }
    }
}

static void expect(Fixture *f, const char *name, const FactorTensors *t, int terms) {
    for (int k = 0; k < SHAPES; k++) {
        fixture_expect_float(f, name, t->got[k], t->want[k], t->n[k], tolerance_of_op(F32, terms));
    }
}

Test(adafactor, steps) {
    static const double scales[] = {1, 1e-3, 30, 1e-12};
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        FactorTensors w = tensors_new(&f, 1, count_of), R = tensors_new(&f, 0, rows_of);
        FactorTensors C = tensors_new(&f, 0, cols_of);
        for (int t = 1; t <= 4; t++) {
            FactorTensors g = tensors_new(&f, scales[t - 1], count_of);
            f.ops->adafactor(w.list, R.list, C.list, g.list, setting, t, &f.workspace);
            for (int k = 0; k < SHAPES; k++) {
                reference(&shapes[k], w.want[k], R.want[k], C.want[k], g.want[k], setting, t);
            }
            expect(&f, "grad", &g, 1);
        }
        expect(&f, "row", &R, 520);
        expect(&f, "col", &C, 520);
        expect(&f, "weight", &w, 520);
    }
}

/* Squares near epsilon and below: R C is 0 in a float. */
Test(adafactor, tiny_gradients) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int pass = 0; pass < 2; pass++) {
            FactorTensors w = tensors_new(&f, 1e-2, count_of), R = tensors_new(&f, 0, rows_of);
            FactorTensors C = tensors_new(&f, 0, cols_of);
            FactorTensors g = tensors_new(&f, pass == 0 ? 1e-14 : 0, count_of);
            f.ops->adafactor(w.list, R.list, C.list, g.list, setting, 1, &f.workspace);
            for (int k = 0; k < SHAPES; k++) {
                reference(&shapes[k], w.want[k], R.want[k], C.want[k], g.want[k], setting, 1);
            }
            expect(&f, "weight", &w, 520);
        }
    }
}

/* A gradient of rank one has the second moment that a tensor of all squares would have: the update
   is the sign. */
Test(adafactor, rank_one_is_exact) {
    enum { I = 37, J = 51 };
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        double *a = fixture_random_float(&f, I, 1), *b = fixture_random_float(&f, J, 1);
        double *g = fixture_zeros(&f, (size_t)I * J), *want = fixture_zeros(&f, (size_t)I * J);
        for (int k = 0; k < I * J; k++) {
            g[k] = (double)(float)(a[k / J] * b[k % J]);
            want[k] = g[k] > 0 ? -(double)setting.learning_rate : (double)setting.learning_rate;
        }
        size_t n[3] = {(size_t)I * J, I, J};
        float *x[4] = {fixture_float(&f, fixture_zeros(&f, n[0]), n[0]),
                       fixture_float(&f, fixture_zeros(&f, I), I),
                       fixture_float(&f, fixture_zeros(&f, J), J), fixture_float(&f, g, n[0])};
        f.ops->adafactor(fixture_list(&f, &x[0], &n[0], NULL, 1),
                         fixture_list(&f, &x[1], &n[1], NULL, 1),
                         fixture_list(&f, &x[2], &n[2], NULL, 1),
                         fixture_list(&f, &x[3], &n[0], NULL, 1), setting, 1, &f.workspace);
        fixture_expect_float(&f, "weight", x[0], want, n[0], tolerance_of_op(F32, J));
    }
}

Test(adafactor, a_tensor_does_not_see_the_others) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        FactorTensors w = tensors_new(&f, 1, count_of), R = tensors_new(&f, 0, rows_of);
        FactorTensors C = tensors_new(&f, 0, cols_of), g = tensors_new(&f, 1, count_of);
        f.ops->adafactor(w.list, R.list, C.list, g.list, setting, 1, &f.workspace);
        for (int k = 0; k < SHAPES; k++) {
            if (w.n[k] > 0) {
                float *alone = fixture_float(&f, w.want[k], w.n[k]);
                float *row = fixture_float(&f, R.want[k], R.n[k]);
                float *col = fixture_float(&f, C.want[k], C.n[k]);
                bool decays = shapes[k].is_matrix;
                f.ops->adafactor(fixture_list(&f, &alone, &w.n[k], &decays, 1),
                                 fixture_list(&f, &row, &R.n[k], NULL, 1),
                                 fixture_list(&f, &col, &C.n[k], NULL, 1),
                                 fixture_list(&f, &g.got[k], &w.n[k], NULL, 1), setting, 1,
                                 &f.workspace);
                cr_assert(memcmp(fixture_read_float(&f, alone, w.n[k]),
                                 fixture_read_float(&f, w.got[k], w.n[k]),
                                 w.n[k] * sizeof(float)) == 0,
                          "%s: tensor %d", fixture_name(&f), k);
            }
        }
    }
}

Test(adafactor, nan_is_data) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        FactorTensors w = tensors_new(&f, 1, count_of), R = tensors_new(&f, 0, rows_of);
        FactorTensors C = tensors_new(&f, 0, cols_of), g = tensors_new(&f, 1, count_of);
        float bad = NAN;
        device_upload(f.device, g.got[0] + 100, &bad, sizeof bad);
        f.ops->adafactor(w.list, R.list, C.list, g.list, setting, 1, &f.workspace);
        const float *first = fixture_read_float(&f, w.got[0], w.n[0]);
        cr_assert(isnan((double)first[100]) && isnan((double)first[0]));
        cr_assert(isfinite((double)fixture_read_float(&f, w.got[2], w.n[2])[5]));
    }
}

Test(adafactor, an_empty_list_is_fine) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        TensorList none = fixture_list(&f, NULL, NULL, NULL, 0);
        f.ops->adafactor(none, none, none, none, setting, 1, &f.workspace);
    }
}
