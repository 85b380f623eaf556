/* The weights that come back, and the mistakes that explain those that are wrong. The contract is
   in run.h. */
#include <math.h>
#include <string.h>

#include "grader/labs/12_zero/cut.h"
#include "grader/labs/12_zero/run.h"

static bool same(float a, float b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

static bool has_bits(float x, uint32_t wanted) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits == wanted;
}

/* Not handed back. */
static bool blank(float x) {
    return has_bits(x, 0xffffffff);
}

/* A number that is compared: of which tensor, whose, and what is right. */
typedef struct WrongNumber {
    int step, rank, owner;
    const Param *param;
    size_t at, place; /* among all, and in its tensor */
    float got, right;
    bool whole; /* of the weights that are whole on each rank */
} WrongNumber;

/* Finds the first number that is wrong. @return whether there is one */
static bool find_wrong(const ZeroRun *run, int s, int r, bool whole, WrongNumber *found) {
    int ranks = run->option[RANKS_COUNT];
    const float *got = ranks_got(run->check, whole ? "weights" : "own", r, s);
    const float *right = run->right + (size_t)s * run->given.P;
    size_t at = 0;
    for (int i = 0; i < params_count(&run->given.config); i++) {
        for (size_t j = 0; j < run->params[i].count; j++, at++) {
            int owner = cut_owner(run->params, i, j, ranks);
            bool here = whole || owner == r;
            if (here ? !same(got[at], right[at]) : !blank(got[at])) {
                *found =
                    (WrongNumber){s, r, owner, &run->params[i], at, j, got[at], right[at], whole};
                return true;
            }
        }
    }
    return false;
}

static const char *const said[ZERO_MISTAKES] = {
    [MISTAKE_MEAN] = "the sum over the ranks is divided by their number: the share of a target "
                     "counts those of all ranks already",
    [MISTAKE_OWN] = "each rank updates its part from its own gradients: those of the other ranks "
                    "are not in the sum, or not yet: on the CPU the host waits for it, by "
                    "zero_settle()",
    [MISTAKE_LAST_MICRO] = "only the last micro-batch is in the sum: those before it are lost",
    [MISTAKE_OWN_NORM] = "each rank clips by the norm of its own part: the limit is one for the "
                         "gradients of all parts together",
    [MISTAKE_ROOTS] = "the norms of the parts are added: it is their squares that add up",
    [MISTAKE_NOT_ZEROED] = "the gradients of the window before are in the sum once more: after an "
                           "update they are set to zero",
    [MISTAKE_OWN_FOUND] = "only the rank whose part is not finite skips the update: the others "
                          "update theirs, and the weights fit together no more",
    [MISTAKE_NOT_CLIPPED] =
        "the gradients are not clipped to trainer->max_grad_norm, which is done "
        "at every stage",
    [MISTAKE_NOT_SKIPPED] = "the update is made although a gradient is not finite",
    [MISTAKE_SCALED] = "the gradients are still multiplied by the loss scale",
};

/* The numbers of a step that came back, each from the rank that owns it. */
static float *put_together(const ZeroRun *run, int step) {
    int ranks = run->option[RANKS_COUNT];
    float *all = (float *)check_doubles(run->check, run->given.P);
    size_t at = 0;
    for (int i = 0; i < params_count(&run->given.config); i++) {
        for (size_t j = 0; j < run->params[i].count; j++, at++) {
            int owner = cut_owner(run->params, i, j, ranks);
            all[at] = ranks_got(run->check, "own", owner, step)[at];
        }
    }
    return all;
}

static bool near_enough(float a, float b, double least) {
    double far = fabs((double)a - (double)b);
    return far <= least * (fabs((double)b) + 0.1) || (isnan(a) && isnan(b));
}

/* Whether a mistake gives what came back of a step, and not what is right. */
static bool explains(ZeroRun *run, ZeroMistake mistake, int step, const float *got) {
#define QUOTED(name) #name,
    static const char *const cases[] = {EACH_ZERO_MISTAKE(QUOTED)};
    double least = run->given.config.precision == F32 ? 2e-6 : 2e-3;
    size_t P = run->given.P;
    bool differs = false;
    if (!check_run_kit(run->check, cases[mistake], SECONDS)) {
        return false;
    }
    const float *would = ranks_got(run->check, "weights", 0, step);
    const float *right = run->right + (size_t)step * P;
    for (size_t i = 0; i < P; i++) {
        if (!near_enough(got[i], would[i], least)) {
            return false;
        }
        differs = differs || !near_enough(would[i], right[i], 100 * least);
    }
    return differs;
}

/* Whether a mistake could show in this run at all. */
static bool is_possible(const ZeroRun *run, int mistake, int step) {
    switch (mistake) {
    case MISTAKE_LAST_MICRO:
        return run->option[ZERO_MICROS] > 1;
    case MISTAKE_OWN_NORM:
    case MISTAKE_ROOTS:
    case MISTAKE_NOT_CLIPPED:
        return run->given.max_norm > 0;
    case MISTAKE_NOT_ZEROED:
        return step > 0;
    case MISTAKE_OWN_FOUND:
    case MISTAKE_NOT_SKIPPED:
        return run->option[ZERO_SCALED];
    case MISTAKE_SCALED:
        return run->option[ZERO_SCALED] && run->option[ZERO_SCALED] != ZERO_SCALED_BY_1;
    default:
        return true;
    }
}

static void name_mistake(ZeroRun *run, int step) {
    float *got = put_together(run, step);
    for (int m = MISTAKE_NONE + 1; m < ZERO_MISTAKES; m++) {
        if (is_possible(run, m, step)) {
            check_suspect(run->check, said[m], explains(run, (ZeroMistake)m, step, got));
        }
    }
}

/* A number that is there and should not be, or the other way round. */
static bool tell_place(const ZeroRun *run, const WrongNumber *wrong) {
    const Param *param = wrong->param;
    if (!wrong->whole && wrong->owner != wrong->rank) {
        check_fail(run->check,
                   "number %zu of %s, layer %d, is rank %d's by the contract, and rank %d has it "
                   "among its pieces, too",
                   wrong->place, param->name, param->layer, wrong->owner, wrong->rank);
        return true;
    }
    if (!wrong->whole && blank(wrong->got)) {
        check_fail(run->check,
                   "number %zu of %s, layer %d, is rank %d's by the contract, and not among its "
                   "pieces",
                   wrong->place, param->name, param->layer, wrong->rank);
        return true;
    }
    return false;
}

/* Where the rank's own part is right, and others' are what they were before the update. */
static bool tell_stale(const ZeroRun *run, const WrongNumber *wrong) {
    size_t P = run->given.P;
    const float *before = wrong->step > 0 ? run->right + (size_t)(wrong->step - 1) * P : NULL;
    WrongNumber own;
    bool is_own = wrong->owner == wrong->rank;
    float owners = ranks_got(run->check, "own", wrong->owner, wrong->step)[wrong->at];
    if (!wrong->whole || is_own || !same(owners, wrong->right) ||
        find_wrong(run, wrong->step, wrong->rank, false, &own)) {
        return false;
    }
    bool stale = before != NULL && same(wrong->got, before[wrong->at]);
    stale = stale || (before == NULL && run->given.config.precision == F32 &&
                      same(wrong->got, run->given.start[wrong->at]));
    check_fail(run->check,
               stale ? "rank %d has updated its own part, and has that of rank %d as it was before "
                       "the update (%s, layer %d): the weights come together after the update, "
                       "those of every unit"
                     : "rank %d has its own part right, and that of rank %d is not what that rank "
                       "has (%s, layer %d): where does each part begin in the unit?",
               wrong->rank, wrong->owner, wrong->param->name, wrong->param->layer);
    return true;
}

/* The weights of one step, on every rank. */
bool zero_expect_weights(ZeroRun *run, int s) {
    WrongNumber wrong;
    int ranks = run->option[RANKS_COUNT];
    for (int i = 0; i < ranks * 2; i++) {
        int r = i / 2;
        bool whole = i % 2 == 1;
        if (whole && run->option[ZERO_STAGE] == 3) {
            continue;
        }
        if (!find_wrong(run, s, r, whole, &wrong)) {
            check_compared(run->check, true, "the weights of rank %d after step %d", r, s);
            continue;
        }
        if (!tell_place(run, &wrong) && !tell_stale(run, &wrong)) {
            check_compared(run->check, false,
                           "after step %d rank %d has %.9g for number %zu of %s, layer %d (rank "
                           "%d's); %.9g is right, bit for bit",
                           s, r, (double)wrong.got, wrong.place, wrong.param->name,
                           wrong.param->layer, wrong.owner, (double)wrong.right);
            check_suspect(run->check, zero_unwritten_sentence, has_bits(wrong.got, ZERO_UNWRITTEN));
            check_suspect(run->check, zero_scaled_sentence, zero_norm_is_scaled(run, s, r, 1));
            check_suspect(run->check, zero_rescaled_sentence, zero_norm_is_scaled(run, s, r, 2));
            name_mistake(run, wrong.step);
        }
        return false;
    }
    return true;
}
