#include "grader/labs/02_kernels/norm.h"

#include <math.h>

#include "kernels/half.h"

/* The inputs of backward, and the gradients that it should add to. */
typedef struct Rows {
    int N, C;
    double *in, *weight, *mean, *rstd, *dout, *din, *dweight, *dbias;
} Rows;

/* Where all of dout is near 256, weight is 1: a sum of these in half loses its digits. */
static Rows rows_give(Calls *calls, int i, NormGradients gradients) {
    double scale = gradients.scale;
    bool lift = gradients.lift;
    Precision precision = (Precision)calls->c[i].precision;
    Rows r = {.N = calls->c[i].N, .C = calls->c[i].C};
    size_t rows = (size_t)r.N, columns = (size_t)r.C, n = rows * columns;
    r.in = calls_give_normal(calls, i, "in", n, 1, precision);
    float *weight = check_normal(calls->check, columns, 1, precision);
    float *dout = check_normal(calls->check, n, scale, precision);
    for (size_t c = 0; c < columns && lift; c++) {
        weight[c] = 1;
    }
    for (size_t k = 0; k < n && lift; k++) {
        dout[k] = 256 + rintf(dout[k] * 4) / 4; /* each is a number of half precision */
    }
    if (gradients.middle != 0) {
        dout[n / 2] = gradients.middle;
    }
    calls_give(calls, i, "weight", weight, columns);
    calls_give(calls, i, "dout", dout, n);
    r.weight = calls_doubles(calls, weight, columns);
    r.dout = calls_doubles(calls, dout, n);
    r.mean = check_doubles(calls->check, rows);
    r.rstd = check_doubles(calls->check, rows);
    reference_layernorm_forward(check_doubles(calls->check, n), r.mean, r.rstd, r.in, r.weight,
                                r.weight, r.N, r.C);
    calls_give_doubles(calls, i, "mean", r.mean, rows);
    calls_give_doubles(calls, i, "rstd", r.rstd, rows);
    r.din = calls_give_normal(calls, i, "din", n, scale, precision);
    r.dweight = calls_give_normal(calls, i, "dweight", columns, scale, F32);
    r.dbias = calls_give_normal(calls, i, "dbias", columns, scale, F32);
    return r;
}

/* din with a mistake. */
typedef enum Lapse {
    DIN_ASSIGNED,
    NO_MEAN_G,
    NO_MEAN_GX,
    NO_MEANS,
    NO_RSTD,
    NO_WEIGHT,
    RAW_X,
    LAPSES,
} Lapse;

static const char *const lapse_sentence[LAPSES] = {
    [DIN_ASSIGNED] = "= where += is meant: din has the residual's gradient already",
    [NO_MEAN_G] = "mean_c(g) is not subtracted: the mean depends on each input",
    [NO_MEAN_GX] = "x * mean_c(g * x) is not subtracted: the variance depends on each input",
    [NO_MEANS] = "neither mean is subtracted: mean and variance depend on each input",
    [NO_RSTD] = "rstd is left out",
    [NO_WEIGHT] = "g is dout * weight, not dout",
    [RAW_X] = "x is the normalised input, (in - mean) * rstd, not in",
};

static void rows_lapsed_din(double *din, Lapse lapse, const Rows *r, int row) {
    double sum_g = 0, sum_gx = 0;
    size_t at = (size_t)row * (size_t)r->C;
    for (int pass = 0; pass < 2; pass++) {
        for (int c = 0; c < r->C; c++) {
            double x = r->in[at + (size_t)c];
            x = lapse == RAW_X ? x : (x - r->mean[row]) * r->rstd[row];
            double g = r->dout[at + (size_t)c] * (lapse == NO_WEIGHT ? 1 : r->weight[c]);
            if (pass == 0) {
                sum_g += g;
                sum_gx += g * x;
                continue;
            }
            g -= lapse == NO_MEAN_G || lapse == NO_MEANS ? 0 : sum_g / r->C;
            g -= lapse == NO_MEAN_GX || lapse == NO_MEANS ? 0 : x * sum_gx / r->C;
            din[at + (size_t)c] += g * (lapse == NO_RSTD ? 1 : r->rstd[row]);
        }
    }
}

static void rows_expect_din(Calls *calls, int i, const Rows *r, const double *want) {
    Tolerance tolerance = tolerance_of_op((Precision)calls->c[i].precision, r->C);
    if (r->C == 1) { /* no variance: rstd is 316, by which the rounding of 0 is multiplied */
        tolerance = tolerance_magnified(tolerance, 316);
    }
    Expected *e = calls_expect(calls, i, "din", want, (size_t)r->N * (size_t)r->C, 0, tolerance);
    e->rounded_away = r->C == 1;
    e->element = precision_bytes((Precision)calls->c[i].precision);
    for (Lapse lapse = 0; lapse < LAPSES; lapse++) {
        double *wrong = expected_suspect(calls, e, lapse_sentence[lapse],
                                         lapse == DIN_ASSIGNED ? NULL : r->din);
        for (int row = 0; row < r->N; row++) {
            rows_lapsed_din(wrong, lapse, r, row);
        }
    }
}

/* The number in the place of the normalised x. */
typedef enum InPlaceOfX { THE_X, THE_INPUT, WITHOUT_RSTD, TRANSPOSED } InPlaceOfX;

/* The right addition of some rows to dweight, with x or, by mistake, with something else in its
   place. */
static void rows_add_dweight(double *dweight, const Rows *r, int rows, InPlaceOfX which,
                             bool weighted) {
    for (int row = 0; row < rows; row++) {
        for (int c = 0; c < r->C; c++) {
            size_t at = which == TRANSPOSED ? (size_t)c * (size_t)r->N + (size_t)row
                                            : (size_t)row * (size_t)r->C + (size_t)c;
            double centred = r->in[at] - r->mean[row];
            double x = which == THE_INPUT      ? r->in[at]
                       : which == WITHOUT_RSTD ? centred
                                               : centred * r->rstd[row];
            dweight[c] += r->dout[at] * x * (weighted ? r->weight[c] : 1);
        }
    }
}

/* The right addition of some rows to dbias. */
static void rows_add_dbias(double *dbias, const Rows *r, int rows, bool transposed) {
    for (int row = 0; row < rows; row++) {
        for (int c = 0; c < r->C; c++) {
            dbias[c] += r->dout[transposed ? (size_t)c * (size_t)r->N + (size_t)row
                                           : (size_t)row * (size_t)r->C + (size_t)c];
        }
    }
}

/* The partial sums that task 8 adds up. */
static void rows_give_parts(Calls *calls, int i, const Rows *r) {
    size_t n = 2 * (size_t)r->C;
    double *part = check_doubles(calls->check, LAYERNORM_BLOCKS * n);
    int of_a_block = (r->N + LAYERNORM_BLOCKS - 1) / LAYERNORM_BLOCKS;
    for (int row = 0; row < r->N; row++) {
        Rows one = *r;
        size_t at = (size_t)row * (size_t)r->C;
        one.in += at, one.dout += at, one.mean += row, one.rstd += row;
        double *to = part + (size_t)(row / of_a_block) * n;
        rows_add_dweight(to, &one, 1, THE_X, false);
        rows_add_dbias(to + r->C, &one, 1, false);
    }
    calls_give_parts(calls, i, part, n, LAYERNORM_BLOCKS);
}

static const char NO_LAST_ROWS[] = "the last N % LAYERNORM_BLOCKS rows are in no row block: the "
                                   "rows of a block are N / LAYERNORM_BLOCKS, rounded up";
static const char NO_ROWS_OF_C[] = "an element is at row * C + c: a row has C numbers";
static const char NO_RSTD_IN_X[] = "rstd is left out of x, in dweight: x is (in - mean) * rstd";

static void rows_expect_parameters(Calls *calls, int i, const Rows *r, const double *dweight,
                                   const double *dbias) {
    size_t n = (size_t)r->C;
    Tolerance tolerance = tolerance_of_op(F32, r->N);
    static const char *const assigns = "= where += is meant: gradients add up over micro-batches";
    bool launched = r->N > 0; /* without rows nothing is, and nothing is assigned */
    Expected *e = calls_expect(calls, i, "dweight", dweight, n, 0, tolerance);
    rows_add_dweight(expected_suspect(calls, e, assigns, launched ? NULL : r->dweight), r, r->N,
                     THE_X, false);
    rows_add_dweight(
        expected_suspect(calls, e, "dout * in is summed; x is (in - mean) * rstd", r->dweight), r,
        r->N, THE_INPUT, false);
    rows_add_dweight(expected_suspect(calls, e, NO_RSTD_IN_X, r->dweight), r, r->N, WITHOUT_RSTD,
                     false);
    int whole = r->N / LAYERNORM_BLOCKS * LAYERNORM_BLOCKS;
    rows_add_dweight(expected_suspect(calls, e, NO_LAST_ROWS, r->dweight), r, whole, THE_X, false);
    rows_add_dweight(expected_suspect(calls, e, NO_ROWS_OF_C, r->dweight), r, r->N, TRANSPOSED,
                     false);
    e = calls_expect(calls, i, "dbias", dbias, n, 0, tolerance);
    rows_add_dbias(expected_suspect(calls, e, NO_LAST_ROWS, r->dbias), r, whole, false);
    rows_add_dbias(expected_suspect(calls, e, NO_ROWS_OF_C, r->dbias), r, r->N, true);
    double *assigned = expected_suspect(calls, e, assigns, dbias);
    for (size_t c = 0; c < n && launched; c++) {
        assigned[c] -= r->dbias[c];
    }
}

/* The sums of dweight, then of dbias, that the row blocks' partial sums add up to. */
static void rows_expect_partials(Calls *calls, int i, const Rows *r, const double *dweight,
                                 const double *dbias) {
    size_t n = (size_t)r->C;
    double *want = check_doubles(calls->check, 2 * n);
    for (size_t c = 0; c < n; c++) {
        want[c] = dweight[c] - r->dweight[c];
        want[n + c] = dbias[c] - r->dbias[c];
    }
    Expected *e = calls_expect(calls, i, "partial", want, 2 * n, LAYERNORM_BLOCKS,
                               tolerance_of_op(F32, r->N));
    double *raw = expected_suspect(calls, e, "dout * in is summed; x is (in - mean) * rstd", want);
    double *centred = expected_suspect(calls, e, NO_RSTD_IN_X, want);
    double *weighted = expected_suspect(calls, e, "weight takes no part in its own gradient", want);
    double *short_of_rows = expected_suspect(calls, e, NO_LAST_ROWS, NULL);
    double *transposed = expected_suspect(calls, e, NO_ROWS_OF_C, NULL);
    int whole = r->N / LAYERNORM_BLOCKS * LAYERNORM_BLOCKS;
    rows_add_dweight(short_of_rows, r, whole, THE_X, false);
    rows_add_dbias(short_of_rows + n, r, whole, false);
    rows_add_dweight(transposed, r, r->N, TRANSPOSED, false);
    rows_add_dbias(transposed + n, r, r->N, true);
    memset(raw, 0, n * sizeof *raw);
    memset(weighted, 0, n * sizeof *weighted);
    memset(centred, 0, n * sizeof *centred);
    rows_add_dweight(raw, r, r->N, THE_INPUT, false);
    rows_add_dweight(centred, r, r->N, WITHOUT_RSTD, false);
    rows_add_dweight(weighted, r, r->N, THE_X, true);
}

void layernorm_add(Calls *calls, Precision precision, int N, int C, NormGradients gradients,
                   int back) {
    int i = calls_add(calls, precision, N, C);
    Rows r = rows_give(calls, i, gradients);
    size_t n = (size_t)N * (size_t)C, columns = (size_t)C;
    double *din = check_doubles(calls->check, n), *dweight = check_doubles(calls->check, columns);
    double *dbias = check_doubles(calls->check, columns);
    memcpy(din, r.din, n * sizeof *din);
    memcpy(dweight, r.dweight, columns * sizeof *dweight);
    memcpy(dbias, r.dbias, columns * sizeof *dbias);
    reference_layernorm_backward(din, dweight, dbias, r.dout, r.in, r.mean, r.rstd, r.weight, N, C);
    /* in and dout are read, for din and for the sums; din is read and written. */
    calls_move(calls, i, 4 + (back & (PARTIALS | PARAMETERS) ? 2 : 0));
    if (back & DIN) {
        rows_expect_din(calls, i, &r, din);
    }
    if (back & PARTIALS) {
        rows_expect_partials(calls, i, &r, dweight, dbias);
    }
    if (back == PARAMETERS) { /* no other check passes over task 7 */
        rows_give_parts(calls, i, &r);
    }
    if (back & PARAMETERS) {
        rows_expect_parameters(calls, i, &r, dweight, dbias);
    }
}
