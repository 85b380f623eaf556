/* Wrong references: the sums that known mistakes would give. The contract is in blame.h. */
#include "grader/labs/11_data_parallel/blame.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Mistakes that show in numbers. */
typedef enum SumMistake {
    SUM_OWN,        /* not summed */
    SUM_MEAN,       /* divided by the ranks */
    SUM_EACH_MICRO, /* summed in every micro-batch */
    SUM_FIRST,      /* summed in the first micro-batch and not in the last */
    SUM_TWICE,      /* summed again */
    SUM_MISTAKES
} SumMistake;

static const char *const sum_sentence[SUM_MISTAKES] = {
    [SUM_OWN] = "gradients are left as the rank has them: they are in no bucket, a bucket is never "
                "sent, or nobody waits for its sums",
    [SUM_MEAN] = "the sum is divided by the number of ranks: the losses are divided by the targets "
                 "of all ranks already",
    [SUM_EACH_MICRO] = "gradients are summed in every micro-batch: what the first sum has left is "
                       "added up over the ranks again",
    [SUM_FIRST] = "gradients are summed in another micro-batch than the window's last one: what "
                  "comes later stays on its rank",
    [SUM_TWICE] = "sums are summed again: each counts as often as there are ranks; is a bucket "
                  "empty once it is sent?",
};

/* Number i of rank r in window w, had that mistake been made. */
static double mistaken(const SumTrial *trial, SumMistake mistake, int w, int r, size_t i) {
    double sum = (double)trial->sum[w][i], own = (double)trial->single[w][r][i], first = 0;
    for (int k = 0; k < trial->ranks; k++) {
        first += (double)trial->first[w][k][i];
    }
    switch (mistake) {
    case SUM_OWN:
        return own;
    case SUM_MEAN:
        return sum / trial->ranks;
    case SUM_EACH_MICRO:
        return trial->micros > 1 ? trial->ranks * first + sum - first : sum;
    case SUM_FIRST:
        return first + own - (double)trial->first[w][r][i];
    default:
        return sum * trial->ranks;
    }
}

/* One parameter of one rank in one window. */
typedef struct BlamedPart {
    int window, rank;
    const Param *param;
    size_t begin; /* among all numbers */
    const float *got;
} BlamedPart;

static bool is_right(const SumTrial *trial, const BlamedPart *part) {
    return memcmp(part->got, trial->sum[part->window] + part->begin,
                  part->param->count * sizeof *part->got) == 0;
}

static bool blame_explains(const SumTrial *trial, SumMistake mistake, const BlamedPart *part) {
    double off = 0, size = 0;
    for (size_t j = 0; j < part->param->count; j++) {
        double would = mistaken(trial, mistake, part->window, part->rank, part->begin + j);
        double got = (double)part->got[j];
        off += (got - would) * (got - would);
        size += would * would;
    }
    return off <= 1e-8 * size + 1e-24;
}

/* The first number of a part that is wrong. */
static void tell(const SumTrial *trial, const BlamedPart *part, char text[200]) {
    const float *right = trial->sum[part->window] + part->begin;
    char name[WIRE_NAME];
    size_t j = 0;
    while (memcmp(&part->got[j], &right[j], sizeof *right) == 0) {
        j++;
    }
    snprintf(text, 200,
             "rank %d, window %d: gradient of %s[%zu] is %.9g, the sum in the order of ranks is "
             "%.9g, to the bit",
             part->rank, part->window + 1, param_scope(name, part->param), j, (double)part->got[j],
             (double)right[j]);
}

/* The common ground of all wrong parts. */
typedef struct Blame {
    bool fits[SUM_MISTAKES];
    int wrong;
    char first[200];
} Blame;

static void look_at(const SumTrial *trial, const BlamedPart *part, Blame *blame) {
    if (is_right(trial, part)) {
        return;
    }
    if (blame->wrong++ == 0) {
        tell(trial, part, blame->first);
    }
    for (int m = 0; m < SUM_MISTAKES; m++) {
        blame->fits[m] = blame->fits[m] && blame_explains(trial, (SumMistake)m, part);
    }
}

bool blame_gradients(SumTrial *trial) {
    Check *check = trial->given.check;
    const Reference *reference = trial->given.reference;
    Blame blame = {.fits = {true, true, true, true, true}};
    for (int at = 0; at < trial->windows * trial->ranks; at++) {
        BlamedPart part = {.window = at / trial->ranks, .rank = at % trial->ranks};
        const float *got = ranks_got(check, "gradients", part.rank, part.window);
        for (int i = 0; i < reference->param_count; i++) {
            part.param = &reference->params[i];
            part.got = got + part.begin;
            look_at(trial, &part, &blame);
            part.begin += part.param->count;
        }
    }
    bool right = check_compared(check, blame.wrong == 0, "%s", blame.first);
    for (int m = 0; m < SUM_MISTAKES; m++) {
        bool possible = trial->micros > 1 || (m != SUM_EACH_MICRO && m != SUM_FIRST);
        check_suspect(check, sum_sentence[m], !right && possible && blame.fits[m]);
    }
    return right;
}
