#include "grader/labs/14_tensor/layers.h"

#include <string.h>

typedef enum SliceMistake {
    SLICE_RIGHT,
    BIAS_OF_EACH,
    BIAS_TWICE,
    NO_BIAS,
    BIAS_OF_GELU,
    OUT_IN_PARTS,
    OUT_AVERAGED,
    COLUMNS_SUMMED,
    DIN_IN_PARTS,
    DIN_AVERAGED,
    DIN_ROWS_SUMMED,
    DBIAS_OF_ONE,
    DBIAS_SUMMED,
    DBIAS_SHARED,
    NO_DBIAS,
    DBIAS_REPLACED,
    DWEIGHT_REPLACED,
    SLICE_MISTAKES
} SliceMistake;

static const char *const slice_sentence[SLICE_MISTAKES] = {
    [BIAS_OF_EACH] =
        "the bias counts R times, as where each rank adds it to its part: once is right",
    [BIAS_TWICE] =
        "the bias counts twice, as where two ranks add it, or where it is added before the sum "
        "and after it: once is right",
    [NO_BIAS] = "the bias is missing",
    [BIAS_OF_GELU] = "the bias of LINEAR_FC is added here, and GELU adds it once more",
    [OUT_IN_PARTS] = "each rank goes on with its own part: forward of a row layer ends with an "
                     "all-reduce, for which the host waits on the CPU",
    [OUT_AVERAGED] = "the parts are averaged: their sum is meant",
    [COLUMNS_SUMMED] =
        "the outputs of a column layer are summed over the ranks: they are different "
        "columns, and stay where they are",
    [DIN_IN_PARTS] = "each rank goes on with its own part of din: backward of a column layer ends "
                     "with an all-reduce, for which the host waits on the CPU",
    [DIN_AVERAGED] = "the parts of din are averaged: their sum is meant",
    [DIN_ROWS_SUMMED] = "din of a row layer is summed over the ranks: each has other columns of it",
    [DBIAS_OF_ONE] = "the bias's gradient is made on rank 0 alone: after one update the ranks have "
                     "different biases",
    [DBIAS_SUMMED] =
        "the bias's gradient is summed over the ranks: it is whole on each, and counts "
        "R times now",
    [DBIAS_SHARED] =
        "the bias's gradient is divided by R: dout is whole on each rank, and so is it",
    [NO_DBIAS] = "the bias gets no gradient",
    [DBIAS_REPLACED] = "the bias's gradient replaces what was there: backward adds",
    [DWEIGHT_REPLACED] = "the weight's gradient replaces what was there: backward adds",
};

/* A layer that is drawn, the whole of it in double. */
typedef struct SliceJob {
    Ranked ranked;
    LinearId id;
    int weight_at, bias_at; /* of its parameters */
    bool column, backward;
    int N, IC, OC;
    double *x, *dout, *w, *b; /* (N, IC), (N, OC), (OC, IC), (OC) */
    double *out, *din, *dw, *db;
} SliceJob;

/* ---- columns of activations ------------------------------------------------------------------ */

/* A rank's columns of (N, width) numbers, which lie as the rows of a split matrix do. */
static double *columns_of(const SliceJob *job, const double *from, int width, int rank) {
    Check *check = job->ranked.check;
    int R = job->ranked.R, mine = width / R;
    double *to = check_doubles(check, (size_t)(job->N * mine));
    int groups = job->id == LINEAR_QKV ? 3 : 1, group = width / groups;
    for (int row = 0; row < job->N; row++) {
        for (int c = 0; c < mine; c++) {
            int in_group = c % (mine / groups), at = c / (mine / groups);
            int column = at * group + rank * (mine / groups) + in_group;
            to[row * mine + c] = from[row * width + column];
        }
    }
    return to;
}

static double *doubles_added(const SliceJob *job, const double *a, const double *b, double factor,
                             size_t n) {
    double *sum = check_doubles(job->ranked.check, n);
    for (size_t i = 0; i < n; i++) {
        sum[i] = (a != NULL ? a[i] : 0) + factor * b[i];
    }
    return sum;
}

/* The part of a rank: what its inputs, or its outputs, give. */
static double *row_part(const SliceJob *job, int rank) {
    Check *check = job->ranked.check;
    int mine = job->IC / job->ranked.R;
    const double *x = columns_of(job, job->x, job->IC, rank);
    double *w = check_doubles(check, (size_t)(job->OC * mine));
    double *out = check_doubles(check, (size_t)(job->N * job->OC));
    for (int o = 0; o < job->OC; o++) {
        memcpy(w + o * mine, job->w + o * job->IC + rank * mine, (size_t)mine * sizeof *w);
    }
    reference_matmul_forward(out, x, w, NULL, job->N, mine, job->OC);
    return out;
}

static double *column_part(const SliceJob *job, int rank) {
    Check *check = job->ranked.check;
    size_t n;
    int mine = job->OC / job->ranked.R;
    double *all = check_doubles(check, job->ranked.given.P);
    memcpy(all + job->ranked.at[job->weight_at], job->w, (size_t)(job->OC * job->IC) * sizeof *all);
    const double *w = ranked_part(&job->ranked, all, job->weight_at, rank, &n);
    double *din = check_doubles(check, (size_t)(job->N * job->IC));
    const double *dout = columns_of(job, job->dout, job->OC, rank);
    reference_matmul_backward(din, NULL, NULL, dout, din, w, job->N, job->IC, mine);
    return din;
}

/* Numbers of all ranks added up, as if they were parts of the same. */
static double *summed(const SliceJob *job, const double *whole, int width) {
    size_t n = (size_t)(job->N * (width / job->ranked.R));
    double *sum = check_doubles(job->ranked.check, n);
    for (int rank = 0; rank < job->ranked.R; rank++) {
        sum = doubles_added(job, sum, columns_of(job, whole, width, rank), 1, n);
    }
    return sum;
}

/* ---- what a mistake makes of it -------------------------------------------------------------- */

/* The bias in `out`, `factor` times more than it is there already. */
static double *with_bias(const SliceJob *job, const double *out, double factor) {
    size_t n = (size_t)(job->N * job->OC);
    double *bias = check_doubles(job->ranked.check, n);
    for (size_t i = 0; i < n; i++) {
        bias[i] = job->b[i % (size_t)job->OC];
    }
    return doubles_added(job, out, bias, factor, n);
}

static double *out_of(const SliceJob *job, SliceMistake mistake, int rank) {
    int R = job->ranked.R;
    size_t n = (size_t)(job->N * job->OC);
    double factor = mistake == NO_BIAS                        ? -1
                    : mistake == BIAS_OF_EACH && !job->column ? R - 1
                    : mistake == BIAS_OF_GELU                 ? 1
                    : mistake == BIAS_TWICE && !job->column   ? 1
                                                              : 0;
    if (job->id == LINEAR_FC && mistake == NO_BIAS) {
        factor = 0;
    }
    double *whole = with_bias(job, job->out, factor);
    if (job->column) {
        return mistake == COLUMNS_SUMMED ? summed(job, whole, job->OC)
                                         : columns_of(job, whole, job->OC, rank);
    }
    if (mistake == OUT_IN_PARTS) {
        return with_bias(job, row_part(job, rank), rank == 0);
    }
    return mistake == OUT_AVERAGED ? doubles_added(job, NULL, whole, 1.0 / R, n) : whole;
}

static double *din_of(const SliceJob *job, SliceMistake mistake, int rank) {
    size_t n = (size_t)(job->N * job->IC);
    if (!job->column) {
        return mistake == DIN_ROWS_SUMMED ? summed(job, job->din, job->IC)
                                          : columns_of(job, job->din, job->IC, rank);
    }
    if (mistake == DIN_IN_PARTS) {
        return column_part(job, rank);
    }
    double factor = mistake == DIN_AVERAGED ? 1.0 / job->ranked.R : 1;
    return doubles_added(job, NULL, job->din, factor, n);
}

/* A gradient of a rank: what was there before, and what is added. */
static double *grad_of(const SliceJob *job, int at, const double *added, double before,
                       double factor, int rank, size_t *n) {
    const Ranked *ranked = &job->ranked;
    double *all = check_doubles(ranked->check, ranked->given.P);
    for (size_t i = 0; i < ranked->param[at].count; i++) {
        size_t k = ranked->at[at] + i;
        all[k] = before * ranked->before[k] + factor * added[i];
    }
    return ranked_part(ranked, all, at, rank, n);
}

static double *dbias_of(const SliceJob *job, SliceMistake mistake, int rank, size_t *n) {
    double R = job->ranked.R, before = 1, factor = 1;
    if (!job->column) {
        factor = mistake == DBIAS_OF_ONE && rank > 0 ? 0 : mistake == DBIAS_SHARED ? 1 / R : 1;
        if (mistake == DBIAS_SUMMED) {
            before = factor = R;
        }
    }
    before = mistake == DBIAS_REPLACED ? 0 : before;
    factor = mistake == NO_DBIAS ? 0 : factor;
    return grad_of(job, job->bias_at, job->db, before, factor, rank, n);
}

/* Tensor `which` of a rank: out, din, dweight, dbias. */
enum { SLICE_TENSORS = 4 };
static const char *const slice_tensor[SLICE_TENSORS] = {"out", "din", "dweight", "dbias"};

static double *slice_part_of(const SliceJob *job, int which, SliceMistake mistake, int rank,
                             size_t *n) {
    int in = job->column ? job->IC : job->IC / job->ranked.R;
    int out = job->column ? job->OC / job->ranked.R : job->OC;
    switch (which) {
    case 0:
        *n = (size_t)(job->N * out);
        return out_of(job, mistake, rank);
    case 1:
        *n = (size_t)(job->N * in);
        return din_of(job, mistake, rank);
    case 2:
        return grad_of(job, job->weight_at, job->dw, mistake == DWEIGHT_REPLACED ? 0 : 1, 1, rank,
                       n);
    default:
        return dbias_of(job, mistake, rank, n);
    }
}

/* Whether a mistake can be made in this layer. */
static bool slice_can_be(const SliceJob *job, SliceMistake mistake) {
    bool forward = mistake <= COLUMNS_SUMMED;
    if (!forward && !job->backward) {
        return false;
    }
    switch (mistake) {
    case BIAS_OF_EACH:
    case OUT_IN_PARTS:
    case OUT_AVERAGED:
    case DIN_ROWS_SUMMED:
    case DBIAS_OF_ONE:
    case DBIAS_SUMMED:
    case DBIAS_SHARED:
        return !job->column;
    case BIAS_TWICE:
        return !job->column && job->ranked.R > 2;
    case NO_BIAS:
        return job->id != LINEAR_FC;
    case BIAS_OF_GELU:
        return job->id == LINEAR_FC;
    case COLUMNS_SUMMED:
    case DIN_IN_PARTS:
    case DIN_AVERAGED:
        return job->column;
    default:
        return true;
    }
}

/* ---- a check --------------------------------------------------------------------------------- */

static double *end_to_end(const SliceJob *job, int at) {
    double *to = check_doubles(job->ranked.check, job->ranked.param[at].count);
    for (size_t i = 0; i < job->ranked.param[at].count; i++) {
        to[i] = (double)job->ranked.given.start[job->ranked.at[at] + i];
    }
    return to;
}

/* Numbers that were there before, for weight and bias; as large as what is added. */
static void slice_before(SliceJob *job) {
    Ranked *ranked = &job->ranked;
    const int at[2] = {job->weight_at, job->bias_at};
    for (int k = 0; k < 2; k++) {
        const float *values = check_normal(ranked->check, ranked->param[at[k]].count, 0.5, F32);
        for (size_t i = 0; i < ranked->param[at[k]].count; i++) {
            ranked->before[ranked->at[at[k]] + i] = (double)values[i];
        }
    }
}

static void slice_draw(SliceJob *job, Check *check, LinearId id, Precision precision, bool backward,
                       bool gpu) {
    static const int most[] = {2, 3, 5};
    int R = most[check_int(check, 0, 2)], layer = R; /* no rank has its number */
    ModelConfig config = {.V = 256, .T = 16, .L = R + 1, .NH = R, .precision = precision};
    config.NH *= check_int(check, 1, 2);
    config.C = config.NH * check_int(check, 3, 5);
    *job = (SliceJob){.ranked = ranked_new(check, config, R), .id = id, .backward = backward};
    Ranked *ranked = &job->ranked;
    int B = check_int(check, 1, 3), T = check_int(check, 3, 7);
    job->N = B * T;
    job->column = id == LINEAR_QKV || id == LINEAR_FC;
    job->weight_at = MODEL_PARAMS + layer * BLOCK_PARAMS + (int)linear_weight(id);
    job->bias_at = job->weight_at + 1;
    job->IC = ranked->param[job->weight_at].cols;
    job->OC = ranked->param[job->weight_at].rows;
    ranked->option[RANKS_GPU] = gpu;
    ranked->option[TP_ID] = (int)id;
    ranked->option[TP_LAYER] = layer;
    ranked->option[TP_B] = B;
    ranked->option[TP_T] = T;
    ranked->option[TP_BACKWARD] = backward;
    slice_before(job);
    job->x = ranked_normal(ranked, (size_t)(job->N * job->IC), 1);
    job->dout = ranked_normal(ranked, (size_t)(job->N * job->OC), 0.5);
    job->w = end_to_end(job, job->weight_at);
    job->b = end_to_end(job, job->bias_at);
}

static void slice_work_out(SliceJob *job) {
    Check *check = job->ranked.check;
    job->out = check_doubles(check, (size_t)(job->N * job->OC));
    job->din = check_doubles(check, (size_t)(job->N * job->IC));
    job->dw = check_doubles(check, (size_t)(job->OC * job->IC));
    job->db = check_doubles(check, (size_t)job->OC);
    reference_matmul_forward(job->out, job->x, job->w, job->id == LINEAR_FC ? NULL : job->b, job->N,
                             job->IC, job->OC);
    reference_matmul_backward(job->din, job->dw, job->db, job->dout, job->x, job->w, job->N,
                              job->IC, job->OC);
}

static void slice_give(SliceJob *job) {
    Ranked *ranked = &job->ranked;
    int in = job->IC / ranked->R, out = job->OC / ranked->R;
    ranked_give(ranked, 0);
    for (int rank = 0; rank < ranked->R; rank++) {
        const double *x = job->column ? job->x : columns_of(job, job->x, job->IC, rank);
        const double *dout = job->column ? columns_of(job, job->dout, job->OC, rank) : job->dout;
        ranked_give_floats(ranked, "x", rank, x, (size_t)(job->N * (job->column ? job->IC : in)));
        ranked_give_floats(ranked, "dout", rank, dout,
                           (size_t)(job->N * (job->column ? out : job->OC)));
    }
}

static bool expect_tensor(SliceJob *job, int which, int rank) {
    Suspect suspects[SLICE_MISTAKES];
    char name[WIRE_NAME];
    size_t n;
    int count = 0;
    const double *want = slice_part_of(job, which, SLICE_RIGHT, rank, &n);
    for (int m = 1; m < SLICE_MISTAKES; m++) {
        if (slice_can_be(job, (SliceMistake)m)) {
            suspects[count++] =
                (Suspect){slice_sentence[m], slice_part_of(job, which, (SliceMistake)m, rank, &n)};
        }
    }
    return check_close(job->ranked.check, rank_name(name, slice_tensor[which], rank, "window", 0),
                       want, n, tolerance_of_model(job->ranked.given.config.precision), suspects,
                       count);
}

static int slice_tensors(const SliceJob *job) {
    return job->backward ? SLICE_TENSORS : 1;
}

static void slice_want(const SliceJob *job) {
    for (int which = 0; which < slice_tensors(job); which++) {
        for (int rank = 0; rank < job->ranked.R; rank++) {
            char name[WIRE_NAME];
            size_t n;
            slice_part_of(job, which, SLICE_RIGHT, rank, &n);
            check_want(job->ranked.check, rank_name(name, slice_tensor[which], rank, "window", 0),
                       WIRE_F32, n);
        }
    }
}

/* Runs it. @return whether all is right */
static bool slice_is_right(SliceJob *job) {
    if (!ranks_start(job->ranked.check, "linear", TP_SECONDS)) {
        return false;
    }
    bool right = true;
    for (int which = 0; which < slice_tensors(job); which++) {
        for (int rank = 0; rank < job->ranked.R; rank++) {
            right = expect_tensor(job, which, rank) && right;
        }
    }
    /* a column layer sums in backward, the other one in forward */
    size_t summed = (size_t)(job->N * (job->column ? job->IC : job->OC));
    return right && ranked_expect_sent(&job->ranked, summed, 0);
}

void layers_judge(Check *check, LinearId id, Precision precision, bool backward, bool gpu) {
    SliceJob job;
    slice_draw(&job, check, id, precision, backward, gpu);
    slice_work_out(&job);
    slice_give(&job);
    slice_want(&job);
    slice_is_right(&job);
}

/* Numbers of bf16 are numbers of f16 as well, but for the smallest. */
void layers_judge_half(Check *check, LinearId id) {
    SliceJob job;
    ModelConfig *config = &job.ranked.given.config;
    slice_draw(&job, check, id, BF16, true, true);
    slice_work_out(&job);
    slice_give(&job);
    slice_want(&job);
    if (slice_is_right(&job)) {
        config->precision = F16;
        check_give_again(check, "config", WIRE_BYTES, config, sizeof *config);
        slice_is_right(&job);
    }
}
