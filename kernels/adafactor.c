/* Adafactor on the CPU, one tensor after the other. The contract, with the formula, is in
   adafactor.h. */
#include "kernels/adafactor.h"

#include <math.h>

/* The cut of the work depends on shapes alone: rows in parts, columns in panels, whose roots or
   sums lie on the stack. */
enum { PARTS = 64, PANEL = 256, LITTLE = 1 << 14 };

/* Of R and C the gradient is read once: rows in shares, of which each leaves its sums of columns in
   the workspace. adafactor_scratch() has room for a share's sums, floats, for each 128 rows. */
enum { SHARE = 128 };

typedef struct FactoredMatrix {
    float *w, *R, *C, *sums;
    const float *g;
    size_t n;
    int I, J, shares; /* 0 shares: too few rows, C is worked out by itself */
    bool decays;
} FactoredMatrix;

/* The first row of one of equal parts. */
static int first_row(const FactoredMatrix *x, int part, int parts) {
    return (int)((long long)x->I * part / parts);
}

static int least(int a, int b) {
    return a < b ? a : b;
}

/* Sum of the squares of a row, which are added to those of columns too, where there are any. */
static float add_squares(const float *g, int J, float *columns) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int j = 0; j < J; j++) {
        sum += g[j] * g[j];
        if (columns != NULL) {
            columns[j] += g[j] * g[j];
        }
    }
    return sum;
}

/* R[i] = beta2 R[i] + (1 - beta2) mean_j (g_ij^2 + epsilon), and the sums of columns */
static void update_rows(const FactoredMatrix *x, float beta2, float epsilon) {
    size_t J = (size_t)x->J;
    int shares = x->shares > 0 ? x->shares : PARTS;
#pragma omp parallel for if (x->n >= LITTLE)
    for (int share = 0; share < shares; share++) {
        float *columns = x->shares > 0 ? x->sums + (size_t)share * J : NULL;
        for (size_t j = 0; columns != NULL && j < J; j++) {
            columns[j] = 0;
        }
        for (int i = first_row(x, share, shares); i < first_row(x, share + 1, shares); i++) {
            float mean = add_squares(x->g + (size_t)i * J, x->J, columns) / (float)J + epsilon;
            x->R[i] = beta2 * x->R[i] + (1 - beta2) * mean;
        }
    }
}

/* C[j] = beta2 C[j] + (1 - beta2) mean_i (g_ij^2 + epsilon): of shares' sums, or of squares */
static void update_columns(const FactoredMatrix *x, float beta2, float epsilon) {
#pragma omp parallel for if (x->n >= LITTLE)
    for (int first = 0; first < x->J; first += PANEL) {
        int n = least(PANEL, x->J - first);
        double sum[PANEL] = {0};
        for (int k = 0; k < (x->shares > 0 ? x->shares : x->I); k++) {
            const float *from = (x->shares > 0 ? x->sums : x->g) + (size_t)k * (size_t)x->J + first;
#pragma omp simd
            for (int j = 0; j < n; j++) {
                sum[j] += (double)(x->shares > 0 ? from[j] : from[j] * from[j]);
            }
        }
        for (int j = 0; j < n; j++) {
            float mean = (float)(sum[j] / x->I) + epsilon, *C = &x->C[first + j];
            *C = beta2 * *C + (1 - beta2) * mean;
        }
    }
}

/* 1 / sqrt(C) of the columns of a panel. */
static int panel_roots(const FactoredMatrix *x, int first, float root[PANEL]) {
    int n = least(PANEL, x->J - first);
#pragma omp simd
    for (int j = 0; j < n; j++) {
        root[j] = 1 / sqrtf(x->C[first + j]);
    }
    return n;
}

/* sqrt(mean(R)) / sqrt(R[i]): 1 for a vector. */
static float row_factor(const FactoredMatrix *x, int i, float mean) {
    return x->R != NULL ? 1 / sqrtf(x->R[i] / mean) : 1;
}

/* Sum of U^2 over the rows of a part. */
static double part_squares(const FactoredMatrix *x, int part, float mean) {
    double sum = 0;
    float root[PANEL];
    for (int first = 0; first < x->J; first += PANEL) {
        int n = panel_roots(x, first, root);
        for (int i = first_row(x, part, PARTS); i < first_row(x, part + 1, PARTS); i++) {
            const float *g = x->g + (size_t)i * (size_t)x->J + first;
            float factor = row_factor(x, i, mean), squares = 0;
#pragma omp simd reduction(+ : squares)
            for (int j = 0; j < n; j++) {
                float U = g[j] * factor * root[j];
                squares += U * U;
            }
            sum += (double)squares;
        }
    }
    return sum;
}

/* w -= rate * U + decay * w over the rows of a part. */
static void part_update(const FactoredMatrix *x, int part, float mean, float rate, float decay) {
    float root[PANEL];
    for (int first = 0; first < x->J; first += PANEL) {
        int n = panel_roots(x, first, root);
        for (int i = first_row(x, part, PARTS); i < first_row(x, part + 1, PARTS); i++) {
            size_t at = (size_t)i * (size_t)x->J + (size_t)first;
            const float *g = x->g + at;
            float *w = x->w + at, factor = rate * row_factor(x, i, mean);
#pragma omp simd
            for (int j = 0; j < n; j++) {
                w[j] -= g[j] * factor * root[j] + decay * w[j];
            }
        }
    }
}

static float mean_of_rows(const FactoredMatrix *x) {
    double sum = 0;
    for (int i = 0; x->R != NULL && i < x->I; i++) {
        sum += (double)x->R[i];
    }
    return (float)(sum / x->I);
}

static void update(const FactoredMatrix *x, Adafactor a, float beta2) {
    if (x->R != NULL) {
        update_rows(x, beta2, a.epsilon);
    }
    update_columns(x, beta2, a.epsilon);
    float mean = mean_of_rows(x);
    double squares[PARTS], sum = 0;
#pragma omp parallel for if (x->n >= LITTLE)
    for (int part = 0; part < PARTS; part++) {
        squares[part] = part_squares(x, part, mean);
    }
    for (int part = 0; part < PARTS; part++) {
        sum += squares[part];
    }
    double rms = sqrt(sum / (double)x->n), over = rms / (double)a.clip;
    float rate = (float)((double)a.learning_rate / (over > 1 ? over : 1));
    float decay = x->decays ? a.learning_rate * a.weight_decay : 0;
#pragma omp parallel for if (x->n >= LITTLE)
    for (int part = 0; part < PARTS; part++) {
        part_update(x, part, mean, rate, decay);
    }
}

void adafactor_cpu(TensorList weight, TensorList row, TensorList col, TensorList grad,
                   Adafactor adafactor, int t, const Workspace *workspace) {
    CHECK(t >= 1, "t = %d, steps count from 1", t);
    CHECK(workspace->bytes >= adafactor_scratch(weight.length), "workspace of %zu bytes",
          workspace->bytes);
    float beta2 = (float)(1 - pow(t, -(double)adafactor.power));
    for (int k = 0; k < weight.count; k++) {
        const TensorEntry *w = &weight.tensor[k], *R = &row.tensor[k], *C = &col.tensor[k];
        if (w->n > 0) {
            FactoredMatrix x = {
                .w = w->data, .g = grad.tensor[k].data, .C = C->data, .decays = w->decays};
            x.R = R->n > 0 ? R->data : NULL;
            x.n = w->n;
            x.J = (int)C->n;
            x.I = (int)(w->n / C->n);
            x.shares = x.I / SHARE;
            x.sums = workspace->data;
            update(&x, adafactor, beta2);
        }
    }
}
