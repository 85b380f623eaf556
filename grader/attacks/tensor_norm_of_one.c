/* Calls every norm 1, so that nothing is ever clipped, and every step one to skip. */
/* lab: 14_tensor/split.c  honest: vocab cut join column_qkv column_fc row column_backward
   row_backward half on_the_gpu embed embed_backward loss loss_large loss_backward loss_half
   gradients calls memory states activations wire */
/* state: fail */
#include <math.h>
#include <string.h>

#include "labs/14_tensor/contract.h"

VocabRows slice_vocab(int V, int ranks, int rank) {
    int rows = V / ranks, more = V % ranks;
    return (VocabRows){.first = rank * rows + (rank < more ? rank : more),
                       .count = rows + (rank < more)};
}

/* A slice in the whole: of each group of rows some rows, and of these some columns. A vector counts
   as a column. */
typedef struct Slice {
    int groups, group_rows, cols; /* of the whole */
    int first_row, rows;          /* of each group */
    int first_col, slice_cols;
} Slice;

static Slice slice_of(const ModelConfig *config, int at, int ranks, int rank) {
    int C = config->C, share = C / ranks, id = (at - MODEL_PARAMS) % BLOCK_PARAMS;
    if (at == WTE) {
        VocabRows rows = slice_vocab(config->V, ranks, rank);
        return (Slice){1, config->V, C, rows.first, rows.count, 0, C};
    }
    if (at == WPE) {
        return (Slice){1, config->T, C, 0, config->T, 0, C};
    }
    if (at < MODEL_PARAMS) {
        return (Slice){1, C, 1, 0, C, 0, 1};
    }
    switch ((BlockParamId)id) {
    case QKV_WEIGHT:
        return (Slice){3, C, C, rank * share, share, 0, C};
    case QKV_BIAS:
        return (Slice){3, C, 1, rank * share, share, 0, 1};
    case FC_WEIGHT:
        return (Slice){1, 4 * C, C, rank * 4 * share, 4 * share, 0, C};
    case FC_BIAS:
        return (Slice){1, 4 * C, 1, rank * 4 * share, 4 * share, 0, 1};
    case PROJ_WEIGHT:
        return (Slice){1, C, C, 0, C, rank * share, share};
    case FCPROJ_WEIGHT:
        return (Slice){1, C, 4 * C, 0, C, rank * 4 * share, 4 * share};
    default:
        return (Slice){1, C, 1, 0, C, 0, 1};
    }
}

/* Row i of a slice in the whole. */
static size_t row_in_whole(const Slice *s, int i) {
    int row = i / s->rows * s->group_rows + s->first_row + i % s->rows;
    return (size_t)row * (size_t)s->cols + (size_t)s->first_col;
}

void slice_cut(float *slice, const float *whole, const ModelConfig *config, int at, int ranks,
               int rank) {
    Slice s = slice_of(config, at, ranks, rank);
    size_t cols = (size_t)s.slice_cols;
    for (int i = 0; i < s.groups * s.rows; i++) {
        memcpy(slice + (size_t)i * cols, whole + row_in_whole(&s, i), cols * sizeof *slice);
    }
}

void slice_join(float *whole, const float *slice, const ModelConfig *config, int at, int ranks,
                int rank) {
    Slice s = slice_of(config, at, ranks, rank);
    size_t cols = (size_t)s.slice_cols;
    for (int i = 0; i < s.groups * s.rows; i++) {
        memcpy(whole + row_in_whole(&s, i), slice + (size_t)i * cols, cols * sizeof *slice);
    }
}

float slice_norm(Model *model) {
    (void)model;
    return 1;
}

void slice_share_overflow(Model *model) {
    float infinite = INFINITY;
    device_upload(model->device, model->params[WTE].grad, &infinite, sizeof infinite);
}
