#include "grader/labs/14_tensor/cuts.h"

#include <string.h>

typedef enum CutMistake {
    CUT_RIGHT,
    CUT_QKV_AS_ROWS,
    CUT_COLS_AS_ROWS,
    CUT_ROWS_AS_COLS,
    CUT_NOT_BIASES,
    CUT_MISTAKES
} CutMistake;

static const char *const cut_sentence[CUT_MISTAKES] = {
    [CUT_QKV_AS_ROWS] = "the rows of c_attn are cut in one piece: then a rank has queries of some "
                        "heads and keys of others. Of each third it has the rows of its heads",
    [CUT_COLS_AS_ROWS] = "a row layer is cut by rows: it is split by its inputs, which are columns",
    [CUT_ROWS_AS_COLS] = "c_fc is cut by columns: it is split by its outputs, which are rows",
    [CUT_NOT_BIASES] = "the bias of a column layer is the beginning of the whole one: it goes with "
                       "the rows of its weight",
};

/* Where number i of a slice comes from, with a mistake. */
static size_t cut_place(const Ranked *ranked, int at, int rank, size_t i, CutMistake mistake) {
    const ModelConfig *config = &ranked->given.config;
    int id = at < MODEL_PARAMS ? -1 : (at - MODEL_PARAMS) % BLOCK_PARAMS;
    size_t n = judge_count(config, at, ranked->R, rank), cols = (size_t)ranked->param[at].cols;
    bool row_layer = id == PROJ_WEIGHT || id == FCPROJ_WEIGHT;
    if (mistake == CUT_QKV_AS_ROWS && (id == QKV_WEIGHT || id == QKV_BIAS)) {
        return (size_t)rank * n + i;
    }
    if (mistake == CUT_COLS_AS_ROWS && row_layer) {
        return (size_t)rank * n + i;
    }
    if (mistake == CUT_ROWS_AS_COLS && id == FC_WEIGHT) {
        size_t mine = cols / (size_t)ranked->R;
        return i / mine * cols + (size_t)rank * mine + i % mine;
    }
    if (mistake == CUT_NOT_BIASES && (id == QKV_BIAS || id == FC_BIAS)) {
        return i;
    }
    return judge_place(config, at, ranked->R, rank, i);
}

enum { CUT_PARAMS = MODEL_PARAMS + BLOCK_PARAMS, MOST_CUTS = 4 * CUT_PARAMS };

/* Questions of each rank about all parameters outside of blocks, and of the last block. */
typedef struct Cuts {
    Ranked ranked;
    bool join;
    int count, at[MOST_CUTS], rank[MOST_CUTS];
    const float *given[MOST_CUTS]; /* a slice, or the whole parameter */
    const float *whole[MOST_CUTS]; /* where a slice is put; NULL for cuts */
} Cuts;

static size_t whole_count(const Cuts *cuts, int i) {
    return cuts->ranked.param[cuts->at[i]].count;
}

static size_t slice_count(const Cuts *cuts, int i) {
    return judge_count(&cuts->ranked.given.config, cuts->at[i], cuts->ranked.R, cuts->rank[i]);
}

static const char *result_name(const Cuts *cuts, int i, char name[WIRE_NAME]) {
    return rank_name(name, "result", cuts->rank[i], "window", i);
}

/* One row of the embedding is left over: where it is given to another rank, or to all, some rank
   has other rows. A question shares the parameter or the rank with the one before, not both: what
   is kept of that one is wrong. */
static void cuts_draw(Cuts *cuts, Check *check, bool join) {
    int R = check_int(check, 3, 4), L = check_int(check, 3, 4);
    ModelConfig config = {.V = R * check_int(check, 86, 96) + 1, .T = 9, .L = L, .NH = 2 * R};
    config.C = config.NH * check_int(check, 2, 4);
    *cuts = (Cuts){.ranked = ranked_new(check, config, R), .join = join, .count = R * CUT_PARAMS};
    for (int i = 0; i < cuts->count; i++) {
        int at = i / R, turn = i % R;
        cuts->at[i] = at < MODEL_PARAMS ? at : at + (L - 1) * BLOCK_PARAMS;
        cuts->rank[i] = at % 2 == 0 ? turn : R - 1 - turn;
        cuts->given[i] =
            check_normal(check, join ? slice_count(cuts, i) : whole_count(cuts, i), 1, F32);
        cuts->whole[i] = join ? check_normal(check, whole_count(cuts, i), 1, F32) : NULL;
    }
}

static void cuts_give(const Cuts *cuts) {
    Check *check = cuts->ranked.check;
    int32_t asked[MOST_CUTS][ASKED_NUMBERS];
    for (int i = 0; i < cuts->count; i++) {
        char name[WIRE_NAME];
        size_t whole = whole_count(cuts, i), slice = slice_count(cuts, i);
        asked[i][ASKED_AT] = cuts->at[i];
        asked[i][ASKED_RANKS] = cuts->ranked.R;
        asked[i][ASKED_RANK] = cuts->rank[i];
        check_give(check, rank_name(name, "given", cuts->rank[i], "window", i), WIRE_F32,
                   cuts->given[i], cuts->join ? slice : whole);
        if (cuts->join) {
            check_give(check, rank_name(name, "whole", cuts->rank[i], "window", i), WIRE_F32,
                       cuts->whole[i], whole);
        }
        check_want(check, result_name(cuts, i, name), WIRE_F32, cuts->join ? whole : slice);
    }
    check_give_config(check, &cuts->ranked.given.config);
    check_give(check, "asked", WIRE_I32, asked, (size_t)cuts->count * ASKED_NUMBERS);
}

static double *cut_as(const Cuts *cuts, int i, CutMistake mistake) {
    size_t n = cuts->join ? whole_count(cuts, i) : slice_count(cuts, i);
    double *to = check_doubles(cuts->ranked.check, n);
    for (size_t j = 0; j < n && cuts->join; j++) {
        to[j] = (double)cuts->whole[i][j];
    }
    for (size_t j = 0; j < slice_count(cuts, i); j++) {
        size_t place = cut_place(&cuts->ranked, cuts->at[i], cuts->rank[i], j, mistake);
        if (cuts->join) {
            to[place] = (double)cuts->given[i][j];
        } else {
            to[j] = (double)cuts->given[i][place];
        }
    }
    return to;
}

void cuts_judge(Check *check, bool join) {
    Cuts cuts;
    cuts_draw(&cuts, check, join);
    cuts_give(&cuts);
    if (!check_run(check, join ? "join" : "cut", SECONDS)) {
        return;
    }
    bool told = false; /* the numbers of the first wrong one are shown, and so is whose they are */
    for (int i = 0; i < cuts.count; i++) {
        char name[WIRE_NAME], scope[WIRE_NAME];
        Suspect suspects[CUT_MISTAKES];
        for (int m = 1; m < CUT_MISTAKES; m++) {
            suspects[m - 1] = (Suspect){cut_sentence[m], cut_as(&cuts, i, (CutMistake)m)};
        }
        const Param *param = &cuts.ranked.param[cuts.at[i]];
        if (!check_close_in(check, param_scope(scope, param), result_name(&cuts, i, name),
                            cut_as(&cuts, i, CUT_RIGHT),
                            join ? whole_count(&cuts, i) : slice_count(&cuts, i), (Tolerance){0},
                            suspects, CUT_MISTAKES - 1) &&
            !told) {
            check_tell(check, ": %s, of %d ranks", param_scope(scope, param), cuts.ranked.R);
            told = true;
        }
    }
}
