/* Gradients whose norm tells the order in which its sums are added. The contract is in run.h.

   Two large squares, of rank 0, are together half way between two floats, and an even one is below.
   Before them in the flat index, of the ranks after it, come squares so small that the large sum
   loses each of them by itself: added before, they carry it to the float above. */
#include <math.h>
#include <string.h>

#include "grader/labs/12_zero/cut.h"
#include "grader/labs/12_zero/run.h"

enum { SMALL_SQUARES = 4 };
static const float SMALL = 0x1p-15f;

/* The first number of parameter i among all. */
static size_t first_of(const Param *params, int i) {
    size_t first = 0;
    for (int k = 0; k < i; k++) {
        first += params[k].count;
    }
    return first;
}

/* Whether x^2 + y^2 is half way, in [2^24, 2^25), between two floats with other roots. */
static bool tells(int x, int y) {
    double sum = (double)x * x + (double)y * y;
    return sum >= 0x1p24 && sum < 0x1p25 && fmod(sum, 4) == 1 &&
           sqrtf((float)(sum - 1)) != sqrtf((float)(sum + 1));
}

/* The root of the squares, added in the order of the flat index, or rank after rank. */
static double planted_norm(const ZeroRun *run, bool by_ranks) {
    int ranks = run->option[RANKS_COUNT];
    double sum = 0;
    for (int r = 0; r < (by_ranks ? ranks : 1); r++) {
        size_t at = 0;
        for (int i = 0; i < params_count(&run->given.config); i++) {
            for (size_t j = 0; j < run->params[i].count; j++, at++) {
                double x = (double)run->planted[at];
                sum += !by_ranks || cut_owner(run->params, i, j, ranks) == r ? x * x : 0;
            }
        }
    }
    return (double)sqrtf((float)sum);
}

/* Each block of TENSOR_BLOCK numbers has one that is not zero: its sum is that square. */
void zero_plant(ZeroRun *run) {
    Check *check = run->check;
    int ranks = run->option[RANKS_COUNT], x, y, left = SMALL_SQUARES;
    zero_describe(run);
    const Param *wte = &run->params[WTE];
    do {
        x = check_int(check, 2900, 4095);
        y = check_int(check, 2900, 4095);
    } while (!tells(x, y));
    run->planted = (float *)check_doubles(check, run->given.P);
    memset(run->planted, 0, run->given.P * sizeof *run->planted);
    for (size_t j = 0; j < wte->count && left > 0; j += TENSOR_BLOCK) {
        bool later = cut_owner(run->params, WTE, j, ranks) > 0;
        run->planted[j] = later ? SMALL : 0;
        left -= later;
    }
    CHECK(left == 0, "the ranks after the first one have %d blocks too few", left);
    run->planted[first_of(run->params, MODEL_PARAMS)] = (float)x;
    run->planted[first_of(run->params, MODEL_PARAMS + BLOCK_PARAMS)] = (float)y;
    run->norm[0] = planted_norm(run, false);
    run->norm[1] = planted_norm(run, true);
    CHECK(run->norm[0] != run->norm[1], "both orders have the norm %.9g", run->norm[0]);
}

bool zero_expect_planted(ZeroRun *run) {
    for (int r = 0; r < run->option[RANKS_COUNT]; r++) {
        double got;
        memcpy(&got, (const uint64_t *)check_got(run->check, "planted norm", WIRE_U64) + r,
               sizeof got);
        if (got != run->norm[0]) {
            check_compared(run->check, false,
                           "rank %d: of gradients whose sum depends on its order the norm is %.9g, "
                           "%.9g is right: unit after unit, in each rank after rank",
                           r, got, run->norm[0]);
            check_suspect(run->check,
                          "the sums are added rank after rank, each with all of its units: it is "
                          "unit after unit, and in each rank after rank",
                          got == run->norm[1]);
            return false;
        }
    }
    return check_compared(run->check, true, "%s", "");
}
