#include "kernels/adam8.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "common/testkit/fixture.h"
#include "labs/07_optimizers/contract.h"

static const AdamW setting = {1e-2f, 0.9f, 0.95f, 1e-8f, 0.1f};

/* Whole blocks, a part of one, one number, none; the last two keep floats. */
static const size_t sizes[] = {257, 1, 512, 0, 5000, 31, 300, 33};
static const bool decays[] = {true, false, true, true, false, true, true, false};
enum { SIZES = sizeof sizes / sizeof *sizes, BYTES = SIZES - 2, MOST = 5000 };

/* One moment of all tensors, on the device. */
typedef struct Moments {
    Moment8 host[SIZES];
    Moment8 *device;
} Moments;

static void *zeros(Fixture *f, size_t bytes) {
    return memory_alloc_zero(f->memory, MEMORY_OPTIMIZER, "moment", -1, bytes);
}

static Moments moments_new(Fixture *f) {
    Moments moments;
    for (int i = 0; i < SIZES; i++) {
        bool bytes = i < BYTES;
        moments.host[i] =
            (Moment8){.code = bytes ? zeros(f, sizes[i]) : NULL,
                      .absmax = bytes ? zeros(f, adam8_blocks(sizes[i]) * sizeof(float)) : NULL,
                      .value = bytes ? NULL : zeros(f, sizes[i] * sizeof(float))};
    }
    moments.device = zeros(f, sizeof moments.host);
    device_upload(f->device, moments.device, moments.host, sizeof moments.host);
    return moments;
}

/* A moment as it is stored: its value, code and scale. */
typedef struct Stored {
    uint8_t code[MOST];
    float absmax[MOST / ADAM8_BLOCK + 1], value[MOST];
} Stored;

static Stored read(Fixture *f, const Moments *moments, int i) {
    static Stored stored;
    const Moment8 *moment = &moments->host[i];
    if (moment->value != NULL) {
        device_download(f->device, stored.value, moment->value, sizes[i] * sizeof(float));
    } else {
        device_download(f->device, stored.code, moment->code, sizes[i]);
        device_download(f->device, stored.absmax, moment->absmax,
                        adam8_blocks(sizes[i]) * sizeof(float));
    }
    return stored;
}

static TensorList list_of(Fixture *f, double *const *values, float **got) {
    for (int i = 0; i < SIZES; i++) {
        got[i] = fixture_float(f, values[i], sizes[i]);
    }
    return fixture_list(f, got, sizes, decays, SIZES);
}

static TensorList random_list(Fixture *f, double scale, float **got) {
    double *values[SIZES];
    for (int i = 0; i < SIZES; i++) {
        values[i] = fixture_random_float(f, sizes[i], scale);
    }
    return list_of(f, values, got);
}

static Codebooks codebooks(void) {
    Codebooks books;
    codebook_signed(books.m);
    codebook_unsigned(books.v);
    return books;
}

static double border(const float *book, int c) {
    return c < 0                  ? -(double)INFINITY
           : c == ADAM8_CODES - 1 ? (double)INFINITY
                                  : ((double)book[c] + (double)book[c + 1]) / 2;
}

/* The codes of one tensor, given the moments that they stand for, each off by `error`. */
static void expect_codes(Fixture *f, const char *name, const Stored *got, const double *want,
                         const double *error, size_t n, const float *book) {
    for (size_t i = 0; i < n; i++) {
        double most = 0, slack = error[i];
        size_t begin = i / ADAM8_BLOCK * ADAM8_BLOCK;
        for (size_t k = begin; k < n && k < begin + ADAM8_BLOCK; k++) {
            most = fmax(most, fabs(want[k]));
        }
        float absmax = got->absmax[i / ADAM8_BLOCK];
        cr_assert(fabs((double)absmax - most) <= 1e-6 * most + slack,
                  "%s: %s: scale %.9g, not %.9g", fixture_name(f), name, (double)absmax, most);
        double x = want[i] / (double)absmax;
        int c = got->code[i];
        slack = slack / (double)absmax + 4e-7 * fabs(x);
        cr_assert(x <= border(book, c) + slack && x >= border(book, c - 1) - slack,
                  "%s: %s[%zu]: code %d of %.9g", fixture_name(f), name, i, c, x);
        cr_assert(!(x < -1e-30) || book[c] < 0, "%s: %s[%zu]: code %d of %.9g, sign lost",
                  fixture_name(f), name, i, c, x);
    }
}

/* One moment in double: beta * m + (1 - beta) * g, and what roundings of float may add. */
static void decay(double *m, double *error, const double *g, size_t n, double beta) {
    for (size_t i = 0; i < n; i++) {
        double old = beta * m[i], add = (1 - beta) * g[i];
        m[i] = old + add;
        error[i] = 4 * 0x1p-23 * (fabs(old) + fabs(add));
    }
}

static double *stored_values(Fixture *f, const Stored *stored, int i, const float *book) {
    double *values = fixture_zeros(f, sizes[i]);
    for (size_t k = 0; k < sizes[i] && i < BYTES; k++) {
        values[k] = (double)book[stored->code[k]] * (double)stored->absmax[k / ADAM8_BLOCK];
    }
    return values;
}

Test(adam8, codes_are_the_nearest) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        Codebooks books = codebooks();
        float *weight[SIZES], *grad[SIZES];
        Moments m = moments_new(&f), v = moments_new(&f);
        TensorList weights = random_list(&f, 1, weight);
        for (int t = 1; t <= 4; t++) {
            TensorList grads = random_list(&f, t == 3 ? 1e-3 : 1, grad);
            double *want_m[BYTES], *want_v[BYTES];
            for (int i = 0; i < BYTES; i++) {
                Stored old = read(&f, &m, i);
                want_m[i] = stored_values(&f, &old, i, books.m);
                old = read(&f, &v, i);
                want_v[i] = stored_values(&f, &old, i, books.v);
            }
            f.ops->adam8(weights, m.device, v.device, grads, &books, setting, t);
            for (int i = 0; i < BYTES; i++) {
                double *g = fixture_zeros(&f, sizes[i]), *square = fixture_zeros(&f, sizes[i]);
                double *error = fixture_zeros(&f, sizes[i]);
                const float *from = fixture_read_float(&f, grad[i], sizes[i]);
                for (size_t k = 0; k < sizes[i]; k++) {
                    g[k] = (double)from[k];
                    square[k] = g[k] * g[k];
                }
                Stored got = read(&f, &m, i);
                decay(want_m[i], error, g, sizes[i], (double)setting.beta1);
                expect_codes(&f, "m", &got, want_m[i], error, sizes[i], books.m);
                got = read(&f, &v, i);
                decay(want_v[i], error, square, sizes[i], (double)setting.beta2);
                expect_codes(&f, "v", &got, want_v[i], error, sizes[i], books.v);
            }
        }
    }
}

/* The definition: the smallest code with x at most halfway to the next, and no sign lost. */
static int nearest(const float *book, float x) {
    int c = 0;
    while (c < ADAM8_CODES - 1 && x > (book[c] + book[c + 1]) / 2) {
        c++;
    }
    return x < 0 && book[c] == 0 ? c - 1 : c;
}

/* Books with their values at equal distances, in threes, and with some of them tiny. */
enum { BOOKS = 5, FLOATS_A_BORDER = 3 };

static void book_new(int kind, float *book) {
    if (kind == 1) {
        codebook_unsigned(book);
    } else {
        codebook_signed(book);
    }
    for (int c = 0; kind == 2 && c < ADAM8_CODES; c++) {
        book[c] = (float)(c - 127) / 128;
    }
    for (int c = 1; kind == 3 && c < 126; c++) {
        book[c] = c % 3 > 0 ? nextafterf(nextafterf(book[c - 1], 1), 1) : book[c];
    }
    for (int c = 0; kind == 4 && c < 2; c++) {
        book[126 - c] *= 1e-9f;
        book[128 + c] *= 1e-9f;
    }
}

/* The borders of a book, the floats beside them, and a few; 1 is the largest of each block. */
static size_t numbers_at_borders(const float *book, double *numbers) {
    size_t n = 0;
    for (double few[] = {1, 0, -0.0, 1e-45, 1e-38}; n < sizeof few / sizeof *few; n++) {
        numbers[n] = few[n];
    }
    for (int k = 0; k < FLOATS_A_BORDER * (ADAM8_CODES - 1); k++) {
        int c = k / FLOATS_A_BORDER;
        float x = (book[c] + book[c + 1]) / 2, to[FLOATS_A_BORDER] = {x, -2, 2};
        if (n % ADAM8_BLOCK == 0) {
            numbers[n++] = 1;
        }
        numbers[n++] = (double)nextafterf(x, to[k % FLOATS_A_BORDER]);
    }
    return n;
}

/* Without a past the moment is the gradient, to the bit. */
Test(adam8, codes_at_the_borders_are_exact) {
    static double numbers[MOST];
    static uint8_t code[MOST];
    const AdamW no_past = {1e-2f, 0, 0.95f, 1e-8f, 0.1f};
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int kind = 0; kind < BOOKS; kind++) {
            Codebooks books = codebooks();
            book_new(kind, books.m);
            size_t n = numbers_at_borders(books.m, numbers);
            Moment8 *device = zeros(&f, 2 * sizeof *device), moment[2];
            for (int k = 0; k < 2; k++) {
                moment[k] = (Moment8){zeros(&f, n), zeros(&f, adam8_blocks(n) * sizeof(float)), 0};
            }
            device_upload(f.device, device, moment, sizeof moment);
            float *w = fixture_float(&f, fixture_zeros(&f, n), n);
            float *g = fixture_float(&f, numbers, n);
            f.ops->adam8(fixture_list(&f, &w, &n, NULL, 1), device, device + 1,
                         fixture_list(&f, &g, &n, NULL, 1), &books, no_past, 1);
            device_download(f.device, code, moment[0].code, n);
            for (size_t i = 0; i < n; i++) {
                int want = nearest(books.m, (float)numbers[i]);
                cr_assert_eq(code[i], want, "%s: book %d: code %d of %.9g, not %d",
                             fixture_name(&f), kind, code[i], numbers[i], want);
            }
        }
    }
}

/* From equal starts, an update by adamw() and one by adam8(). */
typedef struct Both {
    float *weight[2][SIZES];
    TensorList weights[2], m, v;
    Moments m8, v8;
} Both;

static Both both_new(Fixture *f) {
    Both both;
    float *other[SIZES];
    double *values[SIZES];
    for (int i = 0; i < SIZES; i++) {
        values[i] = fixture_random_float(f, sizes[i], 1);
    }
    both.weights[0] = list_of(f, values, both.weight[0]);
    both.weights[1] = list_of(f, values, both.weight[1]);
    both.m = random_list(f, 0, other);
    both.v = random_list(f, 0, other);
    both.m8 = moments_new(f);
    both.v8 = moments_new(f);
    return both;
}

static void both_step(Fixture *f, Both *both, int t) {
    float *grad[SIZES];
    Codebooks books = codebooks();
    TensorList grads = random_list(f, 1, grad);
    f->ops->adamw(both->weights[0], both->m, both->v, grads, setting, t);
    f->ops->adam8(both->weights[1], both->m8.device, both->v8.device, grads, &books, setting, t);
}

static bool same_weights(Fixture *f, const Both *both, int i) {
    const float *a = fixture_read_float(f, both->weight[0][i], sizes[i]);
    const float *b = fixture_read_float(f, both->weight[1][i], sizes[i]);
    return sizes[i] == 0 || memcmp(a, b, sizes[i] * sizeof *a) == 0;
}

Test(adam8, the_first_step_is_that_of_adamw) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        Both both = both_new(&f);
        both_step(&f, &both, 1);
        for (int i = 0; i < SIZES; i++) {
            cr_assert(same_weights(&f, &both, i), "%s: tensor %d", fixture_name(&f), i);
        }
    }
}

Test(adam8, moments_in_floats_are_those_of_adamw) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        Both both = both_new(&f);
        for (int t = 1; t <= 3; t++) {
            both_step(&f, &both, t);
        }
        for (int i = 0; i < SIZES; i++) {
            bool is_same = i >= BYTES || sizes[i] == 0;
            cr_assert(same_weights(&f, &both, i) == is_same, "%s: tensor %d", fixture_name(&f), i);
        }
    }
}

/* The gradients of one block: zeros, or one number and zeros. */
static Stored after(Fixture *f, float number, bool first) {
    size_t n = 300;
    double *grad = fixture_zeros(f, n);
    grad[7] = (double)number;
    float *w = fixture_float(f, fixture_zeros(f, n), n), *g = fixture_float(f, grad, n);
    Moment8 moment[2];
    for (int k = 0; k < 2; k++) {
        moment[k] = (Moment8){zeros(f, n), zeros(f, 2 * sizeof(float)), NULL};
    }
    Moment8 *device = zeros(f, sizeof moment);
    device_upload(f->device, device, moment, sizeof moment);
    Codebooks books = codebooks();
    f->ops->adam8(fixture_list(f, &w, &n, NULL, 1), device, device + 1,
                  fixture_list(f, &g, &n, NULL, 1), &books, setting, 1);
    static Stored stored;
    const Moment8 *of = &moment[first ? 0 : 1];
    device_download(f->device, stored.code, of->code, n);
    device_download(f->device, stored.absmax, of->absmax, 2 * sizeof(float));
    device_download(f->device, stored.value, w, n * sizeof(float));
    return stored;
}

Test(adam8, a_block_of_zeros) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        Stored m = after(&f, 0, true);
        cr_assert(m.absmax[0] == 0 && m.code[7] == 127 && m.code[299] == 127, "%d", m.code[7]);
        Stored v = after(&f, 0, false);
        cr_assert(v.absmax[0] == 0 && v.code[7] == 0, "%d", v.code[7]);
        m = after(&f, -3, true);
        cr_assert(m.code[7] == 0 && m.code[8] == 127, "%d %d", m.code[7], m.code[8]);
    }
}

Test(adam8, nothing_bad_is_hidden) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int k = 0; k < 4; k++) {
            Stored stored = after(&f, k % 2 == 0 ? NAN : INFINITY, k < 2);
            cr_assert(!isfinite((double)stored.absmax[0]) && stored.absmax[1] == 0);
            cr_assert(!isfinite((double)stored.value[7]) && stored.value[8] == 0);
        }
    }
}

Test(adam8, an_empty_list_is_fine) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        TensorList none = fixture_list(&f, NULL, NULL, NULL, 0);
        Codebooks books = codebooks();
        f.ops->adam8(none, NULL, NULL, none, &books, setting, 1);
    }
}
