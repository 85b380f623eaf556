/**
 * @file fixture.h
 * @brief Tensors for tests, on any device and in any precision, between guards.
 * @ingroup grader
 *
 * The same test runs on the CPU and on the GPU, simulated or real, in three precisions:
 *
 *     for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
 *         double *in = fixture_random(&f, n, 1);
 *         Real *out = fixture_real(&f, NULL, n);
 *         f.ops->gelu_forward(out, fixture_real(&f, in, n), NULL, N, C);
 *         fixture_expect_real(&f, "out", out, want, n, tolerance_of_op(f.precision, 1));
 *     }
 *
 * Memory is checked: what an op writes beyond a tensor, or reads before it is written, shows. On
 * the simulated GPU the simulator does that: ACCESS=1 for every access.
 */
#ifndef COMMON_TESTKIT_FIXTURE_H
#define COMMON_TESTKIT_FIXTURE_H

#include "common/memory.h"
#include "common/rng.h"
#include "common/testkit/compare.h"

/** One device in one precision, and all tensors of one round of a test. */
typedef struct Fixture {
    Device *device;      /**< the device */
    Memory *memory;      /**< checked */
    const Ops *ops;      /**< in this precision */
    Precision precision; /**< storage type */
    Workspace workspace; /**< large enough for the tests' sizes */
    Rng rng;             /**< of fixture_random() */
    int round;           /**< counts devices and precisions */
    void **host;         /**< arrays to free */
    size_t host_count;   /**< how many */
} Fixture;

/** Before the first round. */
Fixture fixture_first(void);

/** Opens the present round. @return false where there is none */
bool fixture_open(Fixture *fixture);

/** Ends the round: guards are checked, everything is freed. */
void fixture_next(Fixture *fixture);

/** How many problems the simulated GPU has reported in this process; 0 on a real one. */
int fixture_problems(void);

/** "cpu f16": for messages. */
const char *fixture_name(const Fixture *fixture);

/** n doubles of host memory, zero; freed with the round. */
double *fixture_zeros(Fixture *fixture, size_t n);

/** n normal numbers times `scale`, each exactly representable in the storage type. */
double *fixture_random(Fixture *fixture, size_t n, double scale);

/** n normal numbers times `scale`, each exactly representable in float. */
double *fixture_random_float(Fixture *fixture, size_t n, double scale);

/** A tensor in the storage type, from doubles or, with NULL, undefined (NaN). */
Real *fixture_real(Fixture *fixture, const double *values, size_t n);

/** A tensor of floats, from doubles or, with NULL, undefined (NaN). */
float *fixture_float(Fixture *fixture, const double *values, size_t n);

/**
 * A list of tensors for ops that go over all of them.
 *
 * @param fixture an open one
 * @param data    (count) tensors of floats
 * @param n       (count) their sizes in elements
 * @param decays  (count) whether weight decay pulls on them; NULL for all
 * @param count   tensors; 0 is fine
 */
TensorList fixture_list(Fixture *fixture, float *const *data, const size_t *n, const bool *decays,
                        int count);

/** A tensor of ids. */
int32_t *fixture_ids(Fixture *fixture, const int32_t *values, size_t n);

/**
 * A matrix in the storage type whose rows are `stride` apart, with NaN between them.
 *
 * @param fixture an open one
 * @param values  (rows, cols), or NULL for undefined rows (0)
 * @param rows    rows
 * @param cols    columns
 * @param stride  elements from one row to the next
 */
Real *fixture_rows(Fixture *fixture, const double *values, int rows, int cols, int stride);

/** Copies a tensor to the host as floats; freed with the round. */
float *fixture_read_real(Fixture *fixture, const Real *tensor, size_t n);

/** The same for a tensor of floats. */
float *fixture_read_float(Fixture *fixture, const float *tensor, size_t n);

/** Fails the test, with a line that names the worst element, unless the tensor is as wanted. */
void fixture_expect_real(Fixture *fixture, const char *name, const Real *tensor, const double *want,
                         size_t n, Tolerance tolerance);

/** The same for the rows of a matrix; what lies between them must be NaN as before. */
void fixture_expect_rows(Fixture *fixture, const char *name, const Real *tensor, const double *want,
                         int rows, int cols, int stride, Tolerance tolerance);

/** The same for a tensor of floats. */
void fixture_expect_float(Fixture *fixture, const char *name, const float *tensor,
                          const double *want, size_t n, Tolerance tolerance);

/** Sizes that no block divides. */
enum { AWKWARD_SIZES = 4 };
/** 1, 31, 33, 257 */
extern const int awkward_size[AWKWARD_SIZES];

/** Sizes of upstream gradients. */
enum { UPSTREAM_SCALES = 2 };
/** 1 and 1e-3: what an absolute tolerance lets through at one, it does not at the other. */
extern const double upstream_scale[UPSTREAM_SCALES];

#endif
