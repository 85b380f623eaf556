/* The cost of a call: by hand, and in check mode, where the simulator sees every access of a
   kernel, by count. */
#include "kernels/cost.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/watch.h"
#include "tools/bench/timing.h"

/* ---- by hand --------------------------------------------------------------------------------- */

static void keep(void *context, const char *op, Cost cost) {
    (void)op;
    *(Cost *)context = cost;
}

static void expect(const Cost *cost, double products, double flops, double bytes) {
    cr_assert(cost->products == products && cost->flops == flops && cost->bytes == bytes,
              "%g products of %g FLOPs, %g bytes", cost->products, cost->flops, cost->bytes);
}

Test(cost, depends_on_which_tensors_there_are) {
    char memory[4];
    Real *a = (Real *)&memory[0], *b = (Real *)&memory[1], *c = (Real *)&memory[2];
    float *floats = (float *)&memory[3];
    Cost cost;
    const Ops *ops = ops_watch((Watch){.precision = F16, .after = keep, .context = &cost});
    ops->gelu_backward(a, b, c, 3, 5);
    expect(&cost, 0, 0, 4 * 15 * 2);
    ops->gelu_backward(a, a, c, 3, 5);
    expect(&cost, 0, 0, 3 * 15 * 2);
    ops->matmul_forward(a, b, c, NULL, 3, 5, 7, 8, NULL);
    expect(&cost, 1, 2 * 105, (15 + 35 + 21) * 2);
    ops->matmul_backward(NULL, NULL, floats, a, b, c, 3, 5, 7, 8, NULL);
    expect(&cost, 0, 0, 21 * 2 + 7 * 8);
    ops->matmul_backward(a, floats, NULL, b, b, c, 3, 5, 7, 8, NULL);
    expect(&cost, 2, 4 * 105, (21 + 15 + 30 + 35) * 2 + 35 * 8);
    ops->matmul_backward_first(a, floats, NULL, b, b, c, 3, 5, 7, 8, NULL);
    expect(&cost, 2, 4 * 105, (21 + 15 + 15 + 35) * 2 + 35 * 8);
    ops->matmul_backward_first(NULL, floats, NULL, b, b, c, 3, 5, 7, 8, NULL);
    expect(&cost, 1, 2 * 105, (21 + 15) * 2 + 35 * 8);
    ops->flash_backward(a, b, b, floats, c, 2, 3, 4, 1, NULL);
    expect(&cost, 5, 5 * 2 * 3 * 3 * 4, 8 * 24 * 2 + 6 * 4);
    TensorList list = {.count = 1, .n = 11, .length = 256};
    ops->adamw(list, list, list, list, (AdamW){.beta1 = 0.9f}, 1);
    expect(&cost, 0, 0, 7 * 11 * 4);
}

/* ---- by count -------------------------------------------------------------------------------- */

#ifndef BACKEND_CUDA
#include <cudasim.h>

/* Rows of all tensors are whole sectors, so that nothing is rounded up. */
static const OpShape SHAPE = {.B = 2, .T = 64, .C = 96, .NH = 3, .V = 512};
static const Effort LITTLE = {.ring_bytes = 1};
enum { SCRATCH = 1 << 20, SECTOR = 32 };

/* A (T, T) matrix for each head, in sectors up to the diagonal: all that softmax reads of it. */
static double triangles(double size) {
    OpShape s = SHAPE;
    return s.B * s.NH * s.T * (s.T + SECTOR / size) / 2 * size;
}

/* Of attention: a launch writes the addresses of `arrays` matrices of each head, an array for each
   matrix, and each product reads three of these arrays. */
static double addresses(int arrays, int product[][3], int products) {
    enum { MOST = 16 };
    size_t array = (size_t)SHAPE.B * SHAPE.NH * sizeof(void *);
    size_t sectors = (arrays * array + SECTOR - 1) / SECTOR;
    for (int i = 0; i < products; i++) {
        bool read[MOST] = {false};
        for (int j = 0; j < 3; j++) {
            for (size_t byte = 0; byte < array; byte++) {
                read[(product[i][j] * array + byte) / SECTOR] = true;
            }
        }
        for (int sector = 0; sector < MOST; sector++) {
            sectors += read[sector];
        }
    }
    return SECTOR * (double)sectors;
}

/* The bytes that our kernels move beyond the cost. Some ops are several launches, and one reads
   again what the one before has read or written. */
static double beyond(const Case *item, double r) {
    OpShape s = SHAPE;
    const char *op = item->op;
    double N = s.B * s.T, OC = item->OC, stream = N * s.C * r, rows = N * OC * r;
    double squares = (double)s.B * s.NH * s.T * s.T, word = sizeof(float);
    if (strcmp(op, "embedding_backward") == 0) {
        return stream; /* dout, once for tokens and once for positions */
    }
    /* by rows, then by columns; partial sums */
    if (strcmp(op, "layernorm_backward") == 0 || strcmp(op, "residual_norm_backward") == 0) {
        return 2 * stream + 2 * word * N + 2 * word * 2 * LAYERNORM_BLOCKS * s.C;
    }
    /* dout for each gradient; partial sums of dbias */
    if (strcmp(op, "matmul_backward") == 0 || strcmp(op, "matmul_backward_first") == 0) {
        return item->arguments[2].content != NOTHING ? 2 * rows + 2 * word * MATMUL_BLOCKS * OC
                                                     : rows;
    }
    if (strcmp(op, "attention_forward") == 0) { /* scores; probs for the second product */
        return word * squares + triangles(word) + r * squares +
               addresses(6, (int[][3]){{0, 1, 5}, {2, 3, 4}}, 2);
    }
    if (strcmp(op, "attention_backward") == 0) { /* dout, dprobs, probs; dscore three times */
        return stream + word * squares + triangles(word) + triangles(r) + 3 * r * squares +
               addresses(9, (int[][3]){{4, 3, 8}, {3, 2, 5}, {5, 1, 6}, {5, 0, 7}}, 4);
    }
    if (strcmp(op, "flash_backward") == 0) { /* all inputs, once for queries and once for keys */
        bool tensor_cores = r < word;        /* there deltas are kept in place of out */
        return tensor_cores ? 4 * stream + 3 * word * N * s.NH : 5 * stream + word * N * s.NH;
    }
    if (strcmp(op, "adamw") == 0) { /* an entry of each list */
        return 4 * sizeof(TensorEntry);
    }
    if (strcmp(op, "adam8") == 0) { /* an entry of weights and gradients, and of each moment */
        return 2 * sizeof(TensorEntry) + 2 * SECTOR;
    }
    if (strcmp(op, "adafactor") ==
        0) { /* the gradient four times; factors, partial sums, entries */
        double blocks = (double)s.V * s.C / TENSOR_BLOCK, n = (double)s.V * s.C;
        return 3 * word * n + 3 * word * s.V + 2 * word * s.C + 2 * sizeof(double) * blocks +
               2 * SECTOR + 14 * sizeof(TensorEntry);
    }
    if (strcmp(op, "scale") == 0) {
        return sizeof(TensorEntry);
    }
    if (strcmp(op, "sumsq") == 0) { /* partial sums; out is one number of a sector */
        double blocks = (double)s.V * s.C / TENSOR_BLOCK;
        return sizeof(TensorEntry) + 2 * sizeof(double) * blocks + 2 * (SECTOR - word);
    }
    return 0;
}

typedef struct Count {
    Device *device;
    double moved;
} Count;

static void before_call(void *context) {
    device_synchronize(((Count *)context)->device);
    cudasim_traffic_bytes();
}

static void after_call(void *context, const char *op, Cost cost) {
    (void)op, (void)cost;
    Count *count = context;
    device_synchronize(count->device);
    count->moved = cudasim_traffic_bytes();
}

static void expect_counted(const Timing *timing, const Case *item, const CasePlace *place,
                           Precision precision, const Count *count) {
    timing_case(timing, item, place, precision);
    double want = item->cost.bytes + beyond(item, (double)precision_bytes(precision));
    const char *where = item->where != NULL ? item->where : "";
    const char *name = precision_name(precision);
    printf("%-21s %-6s %-4s %8.0f bytes counted, %.3f times the cost\n", item->op, where, name,
           count->moved, count->moved / item->cost.bytes);
    cr_expect(count->moved == want, "%s %s %s: %.0f bytes are counted, %.0f wanted, cost %.0f",
              item->op, where, name, count->moved, want, item->cost.bytes);
}

Test(cost, bytes_are_what_the_simulator_counts, .timeout = 600) {
    Device *device = device_gpu_new(ops_gpu);
    cudasim_traffic_bytes();
    Timing timing = timing_new(device, LITTLE);
    device_synchronize(device);
    if (cudasim_traffic_bytes() == 0) {
        cr_skip("only check mode counts: make profile-check");
    }
    for (Precision precision = F32; precision <= F16; precision++) { /* bf16 is as large as f16 */
        Count count = {.device = device};
        Watch watch = {.ops = &device->ops[precision],
                       .precision = precision,
                       .before = before_call,
                       .after = after_call,
                       .context = &count};
        int n;
        Case *cases = cases_new(SHAPE, precision, &n);
        CasePlace place = {.ops = ops_watch(watch),
                           .shape = SHAPE,
                           .workspace = {.data = timing_alloc(device, SCRATCH),
                                         .bytes = SCRATCH,
                                         .blas = device->blas}};
        for (int i = 0; i < n; i++) {
            expect_counted(&timing, &cases[i], &place, precision, &count);
        }
        free(cases);
    }
    device_free(device);
}

#endif
