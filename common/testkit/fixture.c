/* Guarded tensors on every device in every precision, for tests of ops. The contract is in
   fixture.h. */
#include "common/testkit/fixture.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/half.h"
#ifndef BACKEND_CUDA
#include <cudasim.h>
#endif

const int awkward_size[AWKWARD_SIZES] = {1, 31, 33, 257};
const double upstream_scale[UPSTREAM_SCALES] = {1, 1e-3};

/* Enough for the largest shapes of the op tests. */
enum { WORKSPACE_BYTES = 64 << 20, ARENA_BYTES = 512 << 20 };
enum { PRECISIONS = 3, DEVICES = 2 };

/* Read by LeakSanitizer: the test framework keeps a few objects of its own until the end. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
    return "leak:libcriterion";
}

int fixture_problems(void) {
#ifdef BACKEND_CUDA
    return 0;
#else
    return cudasim_problems();
#endif
}

Fixture fixture_first(void) {
    return (Fixture){.round = 0};
}

bool fixture_open(Fixture *fixture) {
    if (fixture->round == PRECISIONS * DEVICES) {
        return false;
    }
    bool gpu = fixture->round / PRECISIONS > 0;
    fixture->precision = (Precision)(fixture->round % PRECISIONS);
    fixture->device = gpu ? device_gpu_new(ops_gpu) : device_cpu_new(ARENA_BYTES);
    cr_assert_not_null(fixture->device);
    fixture->ops = &fixture->device->ops[fixture->precision];
    /* The simulated GPU has guards of its own, and sees more where we do not fill its memory. */
    MemoryOptions options = {.checked = !fixture->device->simulated};
    fixture->memory = memory_new(fixture->device, options);
    fixture->rng = rng_new(7, RNG_DATA);
    fixture->workspace = (Workspace){
        .data = memory_alloc(fixture->memory, MEMORY_WORKSPACE, "workspace", -1, WORKSPACE_BYTES),
        .bytes = WORKSPACE_BYTES,
        .threads = fixture->device->threads,
        .blas = fixture->device->blas,
    };
    return true;
}

void fixture_next(Fixture *fixture) {
    memory_free(fixture->memory);
    device_free(fixture->device);
    for (size_t i = 0; i < fixture->host_count; i++) {
        free(fixture->host[i]);
    }
    free(fixture->host);
    cr_assert_eq(fixture_problems(), 0, "the simulated GPU has reported a problem");
    *fixture = (Fixture){.round = fixture->round + 1};
}

const char *fixture_name(const Fixture *fixture) {
    static char name[32];
    snprintf(name, sizeof name, "%s %s", fixture->device->name, precision_name(fixture->precision));
    return name;
}

static void *host(Fixture *fixture, size_t bytes) {
    void *memory = calloc(1, bytes > 0 ? bytes : 1);
    fixture->host = realloc(fixture->host, (fixture->host_count + 1) * sizeof *fixture->host);
    CHECK(memory != NULL && fixture->host != NULL, "no host memory for %zu bytes", bytes);
    fixture->host[fixture->host_count++] = memory;
    return memory;
}

double *fixture_zeros(Fixture *fixture, size_t n) {
    return host(fixture, n * sizeof(double));
}

static double *random_numbers(Fixture *fixture, size_t n, double scale, Precision precision) {
    double *values = fixture_zeros(fixture, n);
    float *normal = host(fixture, n * sizeof(float));
    rng_normal(&fixture->rng, normal, n, (float)scale);
    for (size_t i = 0; i < n; i++) {
        values[i] = (double)precision_round(precision, normal[i]);
    }
    return values;
}

double *fixture_random(Fixture *fixture, size_t n, double scale) {
    return random_numbers(fixture, n, scale, fixture->precision);
}

double *fixture_random_float(Fixture *fixture, size_t n, double scale) {
    return random_numbers(fixture, n, scale, F32);
}

static void *upload(Fixture *fixture, const void *values, size_t bytes) {
    void *tensor = memory_alloc(fixture->memory, MEMORY_ACTIVATIONS, "test", -1, bytes);
    if (values != NULL) {
        device_upload(fixture->device, tensor, values, bytes);
    }
    return tensor;
}

float *fixture_float(Fixture *fixture, const double *values, size_t n) {
    float *floats = NULL;
    if (values != NULL) {
        floats = host(fixture, n * sizeof *floats);
        for (size_t i = 0; i < n; i++) {
            floats[i] = (float)values[i];
        }
    }
    return upload(fixture, floats, n * sizeof *floats);
}

Real *fixture_real(Fixture *fixture, const double *values, size_t n) {
    if (fixture->precision == F32) {
        return (Real *)fixture_float(fixture, values, n);
    }
    uint16_t *halves = NULL;
    if (values != NULL) {
        halves = host(fixture, n * sizeof *halves);
        for (size_t i = 0; i < n; i++) {
            halves[i] = fixture->precision == F16 ? half_from_float((float)values[i])
                                                  : bf16_from_float((float)values[i]);
        }
    }
    return upload(fixture, halves, n * sizeof *halves);
}

Real *fixture_rows(Fixture *fixture, const double *values, int rows, int cols, int stride) {
    size_t n = (size_t)rows * (size_t)stride;
    double *padded = fixture_zeros(fixture, n);
    for (size_t i = 0; i < n; i++) {
        size_t row = i / (size_t)stride, col = i % (size_t)stride;
        padded[i] = col >= (size_t)cols ? (double)NAN
                    : values != NULL    ? values[row * (size_t)cols + col]
                                        : 0;
    }
    return fixture_real(fixture, padded, n);
}

TensorList fixture_list(Fixture *fixture, float *const *data, const size_t *n, const bool *decays,
                        int count) {
    size_t bytes = (size_t)count * sizeof(TensorEntry);
    TensorEntry *entries = host(fixture, bytes);
    size_t all = 0;
    for (int i = 0; i < count; i++) {
        all += n[i];
        entries[i] = (TensorEntry){data[i], n[i], 0, decays == NULL || decays[i]};
    }
    size_t length = tensors_index(entries, count);
    return (TensorList){upload(fixture, entries, bytes), count, all, length};
}

int32_t *fixture_ids(Fixture *fixture, const int32_t *values, size_t n) {
    return upload(fixture, values, n * sizeof *values);
}

float *fixture_read_float(Fixture *fixture, const float *tensor, size_t n) {
    float *values = host(fixture, n * sizeof *values);
    device_download(fixture->device, values, tensor, n * sizeof *values);
    return values;
}

float *fixture_read_real(Fixture *fixture, const Real *tensor, size_t n) {
    if (fixture->precision == F32) {
        return fixture_read_float(fixture, (const float *)tensor, n);
    }
    uint16_t *halves = host(fixture, n * sizeof *halves);
    float *values = host(fixture, n * sizeof *values);
    device_download(fixture->device, halves, tensor, n * sizeof *halves);
    for (size_t i = 0; i < n; i++) {
        values[i] = fixture->precision == F16 ? half_to_float(halves[i]) : bf16_to_float(halves[i]);
    }
    return values;
}

static void expect(const Fixture *fixture, const char *name, const float *got, const double *want,
                   size_t n, Tolerance tolerance) {
    char text[COMPARISON_TEXT];
    Comparison comparison = compare(got, want, n, tolerance);
    cr_assert(comparison.pass, "%s, n = %zu: %s", fixture_name(fixture), n,
              comparison_text(&comparison, name, text));
    const char *show = getenv("SHOW_SHARES");
    if (show != NULL) {
        fprintf(stderr, "share %.3f %s %s n=%zu\n", comparison.share, fixture_name(fixture), name,
                n);
    }
}

void fixture_expect_real(Fixture *fixture, const char *name, const Real *tensor, const double *want,
                         size_t n, Tolerance tolerance) {
    expect(fixture, name, fixture_read_real(fixture, tensor, n), want, n, tolerance);
}

void fixture_expect_rows(Fixture *fixture, const char *name, const Real *tensor, const double *want,
                         int rows, int cols, int stride, Tolerance tolerance) {
    const float *all = fixture_read_real(fixture, tensor, (size_t)rows * (size_t)stride);
    float *got = host(fixture, (size_t)rows * (size_t)cols * sizeof *got);
    for (int row = 0; row < rows; row++) {
        const float *from = all + (size_t)row * (size_t)stride;
        memcpy(got + (size_t)row * (size_t)cols, from, (size_t)cols * sizeof *got);
        for (int col = cols; col < stride; col++) {
            cr_assert(isnan(from[col]), "%s, %s: %g between rows %d and %d", fixture_name(fixture),
                      name, (double)from[col], row, row + 1);
        }
    }
    expect(fixture, name, got, want, (size_t)rows * (size_t)cols, tolerance);
}

void fixture_expect_float(Fixture *fixture, const char *name, const float *tensor,
                          const double *want, size_t n, Tolerance tolerance) {
    expect(fixture, name, fixture_read_float(fixture, tensor, n), want, n, tolerance);
}
