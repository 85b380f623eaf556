#include "grader/labs/14_tensor/ranked.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void judge_rows(int V, int R, int rank, int *first, int *count) {
    judge_rows_by(TERM_ROWS_IS, V, R, rank, first, count);
}

/* Whether a rank has one of the rows that are left over. */
static bool has_one_more(RowsRule rule, int V, int R, int rank) {
    int more = V % R;
    return rule == ROWS_FIRST  ? rank < more
           : rule == ROWS_LAST ? rank >= R - more
                               : more * (rank + 1) / R > more * rank / R;
}

void judge_rows_by(RowsRule rule, int V, int R, int rank, int *first, int *count) {
    int end = 0;
    *first = *count = 0;
    for (int r = 0; r <= rank; r++) {
        *count = V / R + has_one_more(rule, V, R, r);
        *first = end;
        end += *count;
    }
}

static bool is_block(int at, BlockParamId id) {
    return at >= MODEL_PARAMS && (at - MODEL_PARAMS) % BLOCK_PARAMS == (int)id;
}

bool judge_is_whole(int at) {
    return !(at == WTE || is_block(at, QKV_WEIGHT) || is_block(at, QKV_BIAS) ||
             is_block(at, FC_WEIGHT) || is_block(at, FC_BIAS) || is_block(at, PROJ_WEIGHT) ||
             is_block(at, FCPROJ_WEIGHT));
}

/* (rows, cols) of the whole; a bias that is split is a column. */
static void whole_shape(const ModelConfig *config, int at, int *rows, int *cols) {
    int C = config->C;
    *rows = at == WTE ? config->V : at == WPE ? config->T : C;
    *cols = at == WTE || at == WPE ? C : 1;
    if (is_block(at, QKV_WEIGHT) || is_block(at, QKV_BIAS)) {
        *rows = 3 * C;
        *cols = is_block(at, QKV_WEIGHT) ? C : 1;
    } else if (is_block(at, FC_WEIGHT) || is_block(at, FC_BIAS)) {
        *rows = 4 * C;
        *cols = is_block(at, FC_WEIGHT) ? C : 1;
    } else if (is_block(at, PROJ_WEIGHT) || is_block(at, FCPROJ_WEIGHT)) {
        *cols = is_block(at, PROJ_WEIGHT) ? C : 4 * C;
    }
}

size_t judge_count(const ModelConfig *config, int at, int R, int rank) {
    int rows, cols, first, count;
    whole_shape(config, at, &rows, &cols);
    size_t n = (size_t)rows * (size_t)cols;
    if (at == WTE) {
        judge_rows(config->V, R, rank, &first, &count);
        return (size_t)count * (size_t)cols;
    }
    return judge_is_whole(at) ? n : n / (size_t)R;
}

size_t judge_place(const ModelConfig *config, int at, int R, int rank, size_t i) {
    int rows, cols, first, count;
    whole_shape(config, at, &rows, &cols);
    if (judge_is_whole(at)) {
        return i;
    }
    if (at == WTE) {
        judge_rows(config->V, R, rank, &first, &count);
        return (size_t)first * (size_t)cols + i;
    }
    if (is_block(at, PROJ_WEIGHT) || is_block(at, FCPROJ_WEIGHT)) {
        size_t mine = (size_t)(cols / R);
        return i / mine * (size_t)cols + (size_t)rank * mine + i % mine;
    }
    int thirds = is_block(at, QKV_WEIGHT) || is_block(at, QKV_BIAS) ? 3 : 1;
    size_t group = (size_t)(rows / thirds) * (size_t)cols, mine = group / (size_t)R;
    return i / mine * group + (size_t)rank * mine + i % mine;
}

/* ---- a model for ranks ----------------------------------------------------------------------- */

Ranked ranked_new(Check *check, ModelConfig config, int R) {
    Ranked ranked = {.check = check, .given = given_new(check, config, "step"), .R = R};
    ranked.params = params_count(&config);
    CHECK(ranked.params <= MOST_PARAMS, "%d parameters", ranked.params);
    params_describe(ranked.param, &config);
    for (int i = 1; i < ranked.params; i++) {
        ranked.at[i] = ranked.at[i - 1] + ranked.param[i - 1].count;
    }
    ranked.before = check_doubles(check, ranked.given.P);
    ranked.option[RANKS_COUNT] = R;
    ranked.option[RANKS_GPU] = check_on_gpu();
    return ranked;
}

/* Makes the first tokens and targets of a batch the first and the last row of each rank. */
static void plant_ends(const Ranked *ranked, Batch *batch) {
    size_t n = (size_t)(batch->B * batch->T);
    int32_t *tokens = (int32_t *)check_doubles(ranked->check, n), *targets = tokens + n;
    memcpy(tokens, batch->tokens, n * sizeof *tokens);
    memcpy(targets, batch->targets, n * sizeof *targets);
    for (int i = 0, at = 0; i < 2 * ranked->R; i++, at++) {
        int first, count;
        judge_rows(ranked->given.config.V, ranked->R, i / 2, &first, &count);
        while (targets[at] == IGNORE_INDEX) {
            at++;
        }
        tokens[at] = targets[at] = i % 2 ? first + count - 1 : first;
    }
    batch->tokens = tokens;
    batch->targets = targets;
}

Batch ranked_batch(const Ranked *ranked, int B, int T) {
    Batch batch;
    CHECK(B * T - 2 >= 2 * ranked->R, "%d targets for %d ranks", B * T - 2, ranked->R);
    do { /* as many are ignored as chance will have it */
        batch = batch_ragged(ranked->check, ranked->given.config.V, B, T, 2);
    } while (batch.valid < 2 * ranked->R);
    plant_ends(ranked, &batch);
    return batch;
}

double *ranked_part(const Ranked *ranked, const double *whole, int at, int rank, size_t *count) {
    const ModelConfig *config = &ranked->given.config;
    *count = judge_count(config, at, ranked->R, rank);
    double *part = check_doubles(ranked->check, *count);
    for (size_t i = 0; i < *count; i++) {
        part[i] = whole[ranked->at[at] + judge_place(config, at, ranked->R, rank, i)];
    }
    return part;
}

double *ranked_slice(const Ranked *ranked, const double *whole, int rank, size_t *count) {
    *count = 0;
    for (int at = 0; at < ranked->params; at++) {
        *count += judge_count(&ranked->given.config, at, ranked->R, rank);
    }
    double *slice = check_doubles(ranked->check, *count), *to = slice;
    for (int at = 0; at < ranked->params; at++) {
        size_t n;
        const double *part = ranked_part(ranked, whole, at, rank, &n);
        memcpy(to, part, n * sizeof *part);
        to += n;
    }
    return slice;
}

void ranked_give_floats(const Ranked *ranked, const char *what, int rank, const double *values,
                        size_t n) {
    char name[WIRE_NAME];
    float *floats = (float *)check_doubles(ranked->check, n);
    for (size_t i = 0; i < n; i++) {
        floats[i] = (float)values[i];
    }
    check_give(ranked->check, rank_name(name, what, rank, "window", 0), WIRE_F32, floats, n);
}

double *ranked_normal(const Ranked *ranked, size_t n, double scale) {
    float *floats = check_normal(ranked->check, n, scale, ranked->given.config.precision);
    double *values = check_doubles(ranked->check, n);
    for (size_t i = 0; i < n; i++) {
        values[i] = (double)floats[i];
    }
    return values;
}

void ranked_give(Ranked *ranked, size_t budget) {
    Check *check = ranked->check;
    double *weights = check_doubles(check, ranked->given.P);
    int32_t rows[2 * MOST_RANKS];
    for (size_t i = 0; i < ranked->given.P; i++) {
        weights[i] = (double)ranked->given.start[i];
    }
    for (int rank = 0; rank < ranked->R; rank++) {
        size_t n;
        const double *mine = ranked_slice(ranked, weights, rank, &n);
        ranked_give_floats(ranked, "weights", rank, mine, n);
        mine = ranked_slice(ranked, ranked->before, rank, &n);
        ranked_give_floats(ranked, "before", rank, mine, n);
        judge_rows(ranked->given.config.V, ranked->R, rank, &rows[2 * rank], &rows[2 * rank + 1]);
    }
    check_give_config(check, &ranked->given.config);
    check_give(check, "rows", WIRE_I32, rows, 2 * (size_t)ranked->R);
    if (ranked->given.batches > 0) {
        batches_give(check, ranked->given.batch, ranked->given.batches);
    }
    ranks_give(check, ranked->option, budget);
}

bool ranked_on_other_device(Ranked *ranked) {
    ranked->option[RANKS_GPU] = !ranked->option[RANKS_GPU];
    check_give_again(ranked->check, "ranks", WIRE_I32, ranked->option, RANK_OPTIONS);
    return !check_on_gpu();
}

void ranked_want(const Ranked *ranked, const char *what, size_t n) {
    ranks_want(ranked->check, ranked->R, what, 1, n);
}

/* ---- what came back -------------------------------------------------------------------------- */

bool ranked_expect_gradients(const Ranked *ranked, const double *want) {
    const ModelConfig *config = &ranked->given.config;
    for (int rank = 0; rank < ranked->R; rank++) {
        const float *got = ranks_got(ranked->check, "gradients", rank, 0);
        for (int at = 0; at < ranked->params; at++) {
            size_t n;
            char text[COMPARISON_TEXT], scope[WIRE_NAME];
            const double *right = ranked_part(ranked, want, at, rank, &n);
            Comparison c = compare(got, right, n, tolerance_of_model(config->precision));
            if (!check_compared(
                    ranked->check, c.pass, "rank %d: %s", rank,
                    comparison_text(&c, param_scope(scope, &ranked->param[at]), text))) {
                return false;
            }
            check_near(ranked->check, c.share);
            got += n;
        }
    }
    return true;
}

bool ranked_expect_same(const Ranked *ranked, const char *what) {
    const ModelConfig *config = &ranked->given.config;
    for (int rank = 1; rank < ranked->R; rank++) {
        const float *mine = ranks_got(ranked->check, what, rank, 0);
        const float *first = ranks_got(ranked->check, what, 0, 0);
        for (int at = 0; at < ranked->params; at++) {
            char scope[WIRE_NAME];
            size_t n = judge_count(config, at, ranked->R, rank);
            bool same = !judge_is_whole(at) || memcmp(mine, first, n * sizeof *mine) == 0;
            if (!check_compared(ranked->check, same,
                                "%s has other bits on rank %d than on rank 0: what all ranks have "
                                "stays the same there only if each makes its gradient from the "
                                "same numbers",
                                param_scope(scope, &ranked->param[at]), rank)) {
                return false;
            }
            mine += n;
            first += judge_count(config, at, ranked->R, 0);
        }
    }
    return true;
}

bool ranked_expect_sent(const Ranked *ranked, size_t stored, size_t floats) {
    RankCalls calls;
    Precision precision = ranked->given.config.precision;
    if (precision == F32) {
        return true;
    }
    if (!ranks_take_calls(ranked->check, &calls)) {
        return false;
    }
    double goes = 2.0 * (ranked->R - 1), sent = ranks_sent(&calls, -1);
    double want = goes * (double)(stored * precision_bytes(precision) + floats * sizeof(float));
    double of_floats = goes * (double)(stored * sizeof(float)) / ranked->R;
    bool right =
        check_compared(ranked->check, fabs(sent - want) <= 0.5 * calls.count,
                       "the ranks send %.0f bytes together, and %.0f are right", sent, want);
    bool seen = false;
    for (int i = 0; i < calls.count; i++) {
        seen = seen || fabs(calls.call[i].bytes - of_floats) < 0.5;
    }
    check_suspect(ranked->check,
                  "halves are sent as floats: sums over the ranks are of stored numbers",
                  !right && seen);
    return right;
}
