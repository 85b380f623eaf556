#include "grader/labs/10_lora/start.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/rng.h"
#include "grader/labs/10_lora/term.h"
#include "kernels/half.h"

double sum_of_squares(const float *x, size_t n) {
    double sum = 0;
    for (size_t j = 0; j < n; j++) {
        sum += (double)x[j] * (double)x[j];
    }
    return sum;
}

bool start_expect_zeros(Check *check, const LoraRun *run, const float *got) {
    for (int i = 0; i < run->count; i++) {
        const Param *param = &run->params[i ^ 1]; /* each B before its A */
        const float *x = got + protocol_numbers(run->params, i ^ 1);
        bool is_b = i % 2 == 0, zero = sum_of_squares(x, param->count) == 0;
        if (is_b && !zero) {
            check_fail(check,
                       "h.%d.%s begins with other numbers than 0: the first step would not start "
                       "from the model",
                       param->layer, param->name);
        } else if (!is_b && zero) {
            check_fail(check,
                       "h.%d.%s is 0, as B is: then both gradients are 0, and nothing is ever "
                       "learned",
                       param->layer, param->name);
        }
        if (zero != is_b) {
            return false;
        }
    }
    return true;
}

/* How wide the A are: the largest number of each, times the root of its inputs. */
typedef struct StartWidth {
    double least, most;
} StartWidth;

static StartWidth start_width(const LoraRun *run, const float *got) {
    StartWidth width = {HUGE_VAL, 0};
    for (int i = 0; i < run->count; i += 2) {
        const Param *param = &run->params[i];
        const float *x = got + protocol_numbers(run->params, i);
        double largest = 0;
        for (size_t j = 0; j < param->count; j++) {
            largest = fmax(largest, fabs((double)x[j]) * sqrt((double)param->cols));
        }
        width.least = fmin(width.least, largest);
        width.most = fmax(width.most, largest);
    }
    return width;
}

/* In each some numbers are large; of all of them some lie near the end, and none beyond it. */
static bool is_as_wide(StartWidth width, double bound) {
    bool inside = width.most <= bound * (1 + 1e-6);
    return inside && 0.96 * bound <= width.most && 0.6 * bound <= width.least;
}

static void start_blame_width(Check *check, StartWidth width) {
    static const double bound[] = TERM_BOUND_EACH;
    const Term term = TERM_BOUND;
    bool fits[TERM_MOST];
    for (int k = 0; k < term.count; k++) {
        fits[k] = is_as_wide(width, bound[k]);
    }
    check_suspect_term(check, &term, fits);
}

bool start_expect_uniform(Check *check, const LoraRun *run, const float *got) {
    StartWidth width = start_width(run, got);
    if (!check_compared(check, is_as_wide(width, TERM_BOUND_IS),
                        "the A reach to %.3g to %.3g / sqrt(inputs)", width.least, width.most)) {
        start_blame_width(check, width);
        check_tell(check, ": wanted is uniform in +-%g/sqrt(inputs)", (double)TERM_BOUND_IS);
        return false;
    }
    for (int i = 0; i < run->count; i += 2) {
        const Param *param = &run->params[i];
        const float *x = got + protocol_numbers(run->params, i);
        double n = (double)param->count, sum = 0;
        for (size_t j = 0; j < param->count; j++) {
            sum += (double)x[j];
        }
        double deviation = sqrt(sum_of_squares(x, param->count) / n);
        double want = TERM_BOUND_IS / sqrt(3 * (double)param->cols);
        if (!(fabs(deviation - want) <= 5 * want / sqrt(2 * n)) ||
            !(fabs(sum / n) <= 5 * want / sqrt(n))) {
            check_fail(check,
                       "h.%d.%s: mean %.3g, deviation %.3g, wanted 0 and %.3g: uniform in "
                       "+-%g/sqrt(inputs), and A has %d inputs",
                       param->layer, param->name, sum / n, deviation, want, (double)TERM_BOUND_IS,
                       param->cols);
            return false;
        }
    }
    return true;
}

/* Two matrices with one start, each as wide as its inputs ask. */
static bool begin_alike(const Param *a, const float *x, const Param *b, const float *y) {
    bool alike = true;
    for (int j = 0; j < 4; j++) {
        double first = (double)x[j] * sqrt((double)a->cols);
        alike = alike && fabs(first - (double)y[j] * sqrt((double)b->cols)) <= 1e-5;
    }
    return alike;
}

static bool rows_differ(Check *check, const Param *param, const float *x) {
    for (int row = 1; row < param->rows; row++) {
        const float *other = x + (size_t)row * (size_t)param->cols;
        if (memcmp(x, other, (size_t)param->cols * sizeof *x) == 0) {
            check_fail(check, "h.%d.%s: rows 0 and %d are the same: each number is drawn by itself",
                       param->layer, param->name, row);
            return false;
        }
    }
    return true;
}

/* Of all A together, each number times one that comes `lag` after it, in units of what the squares
   are; lag 0: the number in the next row. */
static double correlation(const LoraRun *run, const float *got, int lag, size_t *count) {
    double sum = 0;
    *count = 0;
    for (int i = 0; i < run->count; i += 2) {
        const Param *param = &run->params[i];
        const float *x = got + protocol_numbers(run->params, i);
        size_t apart = lag > 0 ? (size_t)lag : (size_t)param->cols;
        double square = TERM_BOUND_IS * TERM_BOUND_IS / (3.0 * (double)param->cols);
        for (size_t j = 0; j + apart < param->count; j++) {
            sum += (double)x[j] * (double)x[j + apart] / square;
        }
        *count += param->count - apart;
    }
    return sum / (double)*count;
}

bool start_expect_independent(Check *check, const LoraRun *run, const float *got) {
    for (int lag = 0; lag <= 8; lag++) {
        size_t count;
        double together = correlation(run, got, lag, &count), limit = 5 / sqrt((double)count);
        if (!(fabs(together) <= limit)) {
            char apart[40] = "lie below each other";
            if (lag > 0) {
                snprintf(apart, sizeof apart, "lie %d apart", lag);
            }
            check_fail(check,
                       "numbers of A that %s are correlated by %.2f, and of numbers that are drawn "
                       "each by itself it is at most %.2f: rng_uniform() once for each",
                       apart, together, limit);
            return false;
        }
    }
    return true;
}

bool start_expect_apart(Check *check, const LoraRun *run, const float *got) {
    for (int i = 0; i < run->count; i += 2) {
        const Param *param = &run->params[i];
        const float *x = got + protocol_numbers(run->params, i);
        for (int k = 0; k < i; k += 2) {
            const Param *other = &run->params[k];
            if (begin_alike(param, x, other, got + protocol_numbers(run->params, k))) {
                check_fail(check,
                           "h.%d.%s and h.%d.%s begin with the same numbers: one stream of "
                           "rng_new(seed, RNG_ADAPTERS) goes through all of them",
                           other->layer, other->name, param->layer, param->name);
                return false;
            }
        }
        if (!rows_differ(check, param, x)) {
            return false;
        }
    }
    return true;
}

/* ---- which stream ---------------------------------------------------------------------------- */

static int drawn_order(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The first (n) numbers of a stream, in their order of size. */
static float *stream_numbers(Check *check, uint64_t seed, RngStream stream, size_t n) {
    float *drawn = (float *)check_doubles(check, n);
    Rng rng = rng_new(seed, stream);
    for (size_t i = 0; i < n; i++) {
        drawn[i] = rng_uniform(&rng);
    }
    qsort(drawn, n, sizeof *drawn, drawn_order);
    return drawn;
}

/* Whether a number of [0, 1) is one of those, but for the rounding of what was made of it. */
static bool is_drawn(const float *drawn, size_t n, float u) {
    const float slack = 5e-7f;
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (drawn[middle] < u - slack) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < n && drawn[low] <= u + slack;
}

/* Whether all A are made of a stream's numbers, in any order, by u or by 1 - u. B may have taken
   numbers as well. */
static bool is_of_stream(Check *check, const LoraRun *run, const float *got, RngStream stream) {
    size_t n = 2 * run->numbers;
    const float *drawn = stream_numbers(check, run->seed, stream, n);
    for (int i = 0; i < run->count; i += 2) {
        const Param *param = &run->params[i];
        const float *x = got + protocol_numbers(run->params, i);
        double bound = TERM_BOUND_IS / sqrt((double)param->cols);
        for (size_t j = 0; j < param->count; j++) {
            float u = (float)(((double)x[j] / bound + 1) / 2);
            if (!is_drawn(drawn, n, u) && !is_drawn(drawn, n, 1 - u)) {
                return false;
            }
        }
    }
    return true;
}

bool start_expect_stream(Check *check, const LoraRun *run, const float *got) {
    static const char *const others[] = {"RNG_DROPOUT", "RNG_WEIGHTS", "RNG_DATA", "RNG_SAMPLE"};
    if (is_of_stream(check, run, got, RNG_ADAPTERS)) {
        return true;
    }
    for (int stream = RNG_DROPOUT; stream <= RNG_SAMPLE; stream++) {
        if (is_of_stream(check, run, got, (RngStream)stream)) {
            check_fail(check, "A is drawn from the stream %s of the seed: its own is RNG_ADAPTERS",
                       others[stream]);
            return false;
        }
    }
    check_fail(check,
               "A has numbers that the stream RNG_ADAPTERS of the seed does not have: one of "
               "rng_uniform() for each, from rng_new(seed, RNG_ADAPTERS)");
    return false;
}

/* ---- elsewhere ------------------------------------------------------------------------------- */

bool start_expect_none_left(Check *check) {
    uint64_t left = *(const uint64_t *)check_got(check, "left", WIRE_U64);
    if (left > 0) {
        check_fail(check,
                   "each lora_init() leaves %llu bytes on the heap: what malloc() has given goes "
                   "back by free()",
                   (unsigned long long)left);
    }
    return left == 0;
}

/* The tensors of "init elsewhere". */
static const char *const elsewhere[] = {"on the GPU", "in f16", "in bf16"};
static const Precision elsewhere_precision[] = {F32, F16, BF16};

void start_want_elsewhere(const LoraRun *run) {
    for (int i = 0; i < 3; i++) {
        check_want(run->check, elsewhere[i], WIRE_F32, run->numbers);
    }
}

bool start_expect_elsewhere(const LoraRun *run, const float *first) {
    Check *check = run->check;
    float *kept = (float *)check_doubles(check, run->numbers);
    memcpy(kept, first, run->numbers * sizeof *kept);
    check_memory(check, 0); /* for the GPU */
    if (!check_run(check, "init elsewhere", SECONDS)) {
        return false;
    }
    for (int i = 0; i < 3; i++) {
        const float *got = check_got(check, elsewhere[i], WIRE_F32);
        for (size_t j = 0; j < run->numbers; j++) {
            float want = precision_round(elsewhere_precision[i], kept[j]);
            if (got[j] != want) {
                check_fail(check,
                           "%s number %zu of all A and B is %.9g: the same seed gives %.9g on the "
                           "CPU in f32, which is %.9g here",
                           elsewhere[i], j, (double)got[j], (double)kept[j], (double)want);
                return false;
            }
        }
    }
    return true;
}

bool start_expect_gradients(Check *check, const LoraRun *run) {
    char name[WIRE_NAME];
    for (int at = 0; at < run->config.L * BLOCK_LINEARS * 2; at++) {
        int which = at % 2;
        protocol_name(name, "d", at / 2 / BLOCK_LINEARS, (LinearId)(at / 2 % BLOCK_LINEARS), which);
        const float *gradient = check_got(check, name, WIRE_F32);
        bool zero = true;
        for (size_t j = 0; j < run->params[at].count; j++) {
            zero = zero && gradient[j] == 0;
        }
        if (zero != (which == 0)) {
            check_fail(check,
                       "%s is %s: in the first step B is 0, so that of A is 0 and that of B "
                       "is not",
                       name, zero ? "0" : "not 0");
            return false;
        }
    }
    return true;
}
