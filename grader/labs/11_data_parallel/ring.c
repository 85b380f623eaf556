/* A ring in a judge: sums by plain loops. The contract is in ring.h. */
#include "grader/labs/11_data_parallel/ring.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "grader/judge_profile.h"
#include "grader/labs/11_data_parallel/term.h"

enum { RING_SECONDS = 20 };

static size_t begin_of(size_t count, int chunk, int ranks) {
    size_t begin = count * (size_t)chunk / (size_t)ranks;
    return chunk == ranks ? count : begin - begin % 4;
}

static uint64_t largest_chunk(size_t count, int ranks) {
    uint64_t largest = 0;
    for (int c = 0; c < ranks; c++) {
        uint64_t numbers = begin_of(count, c + 1, ranks) - begin_of(count, c, ranks);
        largest = numbers > largest ? numbers : largest;
    }
    return largest;
}

RingTrial ring_trial(Check *check, int ranks) {
    return (RingTrial){.check = check, .ranks = ranks};
}

void ring_add(RingTrial *trial, int count, bool whole) {
    size_t n = (size_t)trial->ranks * (size_t)count;
    float *x = check_normal(trial->check, n, 1, F32);
    for (size_t i = 0; i < n; i++) {
        x[i] = whole ? (float)check_int(trial->check, -1000, 1000)
                     : ldexpf(x[i], check_int(trial->check, -6, 6));
    }
    trial->x[trial->arrays] = x;
    trial->count[trial->arrays++] = count;
}

bool ring_run(RingTrial *trial, bool gpu) {
    Check *check = trial->check;
    int32_t option[RANK_OPTIONS] = {[RANKS_COUNT] = trial->ranks,
                                    [RANKS_GPU] = gpu,
                                    [RING_COUNTS] = trial->arrays,
                                    [RING_PARTED] = trial->parted};
    size_t all = 0, at = 0;
    uint64_t largest[MOST_ARRAYS];
    for (int i = 0; i < trial->arrays; i++) {
        all += (size_t)trial->ranks * (size_t)trial->count[i];
        largest[i] = largest_chunk((size_t)trial->count[i], trial->ranks);
    }
    float *x = (float *)check_doubles(check, all / 2 + 1);
    for (int i = 0; i < trial->arrays; i++) {
        size_t n = (size_t)trial->ranks * (size_t)trial->count[i];
        memcpy(x + at, trial->x[i], n * sizeof *x);
        at += n;
        for (int r = 0; r < trial->ranks; r++) {
            char name[WIRE_NAME];
            check_want(check, rank_name(name, "sums", r, "window", i), WIRE_F32,
                       (size_t)trial->count[i]);
        }
    }
    ranks_give(check, option, 0);
    check_give(check, "counts", WIRE_I32, trial->count, (size_t)trial->arrays);
    check_give(check, "largest", WIRE_U64, largest, (size_t)trial->arrays);
    check_give(check, "x", WIRE_F32, x, all);
    check_want(check, "scratch", WIRE_U64, (size_t)(trial->ranks * (trial->arrays + 2)));
    if (trial->parted) {
        ranks_want(check, trial->ranks, "parted", 1, (size_t)trial->count[trial->arrays - 1]);
    }
    return ranks_start(check, "ring", RING_SECONDS) && profile_expect_no_problem(check);
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* The chunk that number i is in. */
static int ring_chunk_of(size_t count, size_t i, int ranks) {
    int chunk = 0;
    while (i >= begin_of(count, chunk + 1, ranks)) {
        chunk++;
    }
    return chunk;
}

/* The sum of chunk c begins with rank c + first, and goes on by `step`. */
typedef struct RingRule {
    int first, step;
} RingRule;

static const RingRule ring_rule = TERM_RING_IS, ring_rules[] = TERM_RING_EACH;

static int ring_modulo(int number, int ranks) {
    return (number % ranks + ranks) % ranks;
}

/* Number i of an array after that many ranks have been added, the first of them rank `first`. */
static float sum_from(const RingTrial *trial, int array, size_t i, int first, int step, int ranks) {
    size_t count = (size_t)trial->count[array];
    float sum = trial->x[array][(size_t)first * count + i];
    for (int k = 1; k < ranks; k++) {
        sum += trial->x[array][(size_t)ring_modulo(first + step * k, trial->ranks) * count + i];
    }
    return sum;
}

static float sum_by(const RingTrial *trial, RingRule rule, int array, size_t i) {
    int chunk = ring_chunk_of((size_t)trial->count[array], i, trial->ranks);
    int first = ring_modulo(chunk + rule.first, trial->ranks);
    return sum_from(trial, array, i, first, rule.step, trial->ranks);
}

/* The ways in which a number can be wrong. */
typedef enum RingMistake {
    RING_OWN,     /* as the rank had it */
    RING_PARTIAL, /* some ranks are missing */
    RING_ORDER,   /* all are in it, in another order */
    RING_TWICE,   /* a complete sum, and some ranks once more */
    RING_MISTAKES,
    RING_ANYTHING /* nothing that can be named */
} RingMistake;

static const char *const ring_sentence[RING_MISTAKES] = {
    [RING_OWN] = "numbers are left as the rank had them: a step is missing, or a chunk goes by",
    [RING_PARTIAL] = "a sum has not all ranks in it: the sums grow in R - 1 steps, and only a "
                     "chunk that has come on is sent next",
    [RING_ORDER] = "all ranks are in the sums, but in another order than the ring's: which rank "
                   "begins with which chunk, and where do the chunks begin?",
    [RING_TWICE] = "a rank is in a sum more than once: in the second half the chunk that comes "
                   "takes the place of its own, and is not added",
};

static bool ring_same(float a, float b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

/* Whether it is the sum of some ranks in a row, which begins anywhere. */
static bool is_partial(const RingTrial *trial, int array, size_t i, float got) {
    for (int first = 0; first < trial->ranks; first++) {
        for (int ranks = 1; ranks < trial->ranks; ranks++) {
            if (ring_same(got, sum_from(trial, array, i, first, ring_rule.step, ranks))) {
                return true;
            }
        }
    }
    return false;
}

/* Whether it is the sum of all ranks and of `more`, but for rounding. */
static bool is_near(const RingTrial *trial, int array, size_t i, double got, double more) {
    size_t count = (size_t)trial->count[array];
    double sum = 0, size = 0;
    for (int r = 0; r < trial->ranks; r++) {
        double x = (double)trial->x[array][(size_t)r * count + i];
        sum += x;
        size += fabs(x);
    }
    return fabs(got - sum - more) <= 2e-6 * size;
}

/* Whether some ranks in a row are in it once more. */
static bool is_twice(const RingTrial *trial, int array, size_t i, double got) {
    for (int first = 0; first < trial->ranks; first++) {
        for (int ranks = 1; ranks <= trial->ranks; ranks++) {
            double more = (double)sum_from(trial, array, i, first, ring_rule.step, ranks);
            if (is_near(trial, array, i, got, more)) {
                return true;
            }
        }
    }
    return false;
}

static RingMistake mistake_of(const RingTrial *trial, int array, int rank, size_t i, float got) {
    float own = trial->x[array][(size_t)rank * (size_t)trial->count[array] + i];
    return ring_same(got, own)                        ? RING_OWN
           : is_partial(trial, array, i, got)         ? RING_PARTIAL
           : is_near(trial, array, i, (double)got, 0) ? RING_ORDER
           : is_twice(trial, array, i, (double)got)   ? RING_TWICE
                                                      : RING_ANYTHING;
}

/* Of all numbers that are wrong, the mistakes, and the first of them in words. */
static void look(const RingTrial *trial, int array, int rank, bool seen[RING_ANYTHING + 1],
                 char first[200]) {
    const float *got = ranks_got(trial->check, "sums", rank, array);
    size_t count = (size_t)trial->count[array];
    for (size_t i = 0; i < count; i++) {
        float right = sum_by(trial, ring_rule, array, i);
        if (ring_same(got[i], right)) {
            continue;
        }
        seen[mistake_of(trial, array, rank, i, got[i])] = true;
        if (first[0] == '\0') {
            snprintf(first, 200,
                     "%d ranks, %zu numbers: number %zu (chunk %d) on rank %d is %.9g, %.9g in the "
                     "order of the ring",
                     trial->ranks, count, i, ring_chunk_of(count, i, trial->ranks), rank,
                     (double)got[i], (double)right);
        }
    }
}

static bool expect_scratch(const RingTrial *trial) {
    const uint64_t *got = check_got(trial->check, "scratch", WIRE_U64);
    for (int i = 0; i <= trial->arrays + 1; i++) {
        /* then one that is large, and the first once more, of a ring of one */
        bool alone = i > trial->arrays;
        size_t count = alone               ? (size_t)trial->count[0]
                       : i < trial->arrays ? (size_t)trial->count[i]
                                           : RING_LARGE;
        int ranks = alone ? 1 : trial->ranks;
        uint64_t right = largest_chunk(count, ranks);
        if (got[i] != right) {
            check_fail(trial->check,
                       "ring_scratch(%zu, %d) is %llu, and the largest chunk has %llu numbers",
                       count, ranks, (unsigned long long)got[i], (unsigned long long)right);
            return false;
        }
    }
    return true;
}

/* Whether every number on every rank is what another term asks for. */
static bool is_summed_by(const RingTrial *trial, RingRule rule) {
    for (int at = 0; at < trial->arrays * trial->ranks; at++) {
        int array = at / trial->ranks;
        const float *got = ranks_got(trial->check, "sums", at % trial->ranks, array);
        for (int i = 0; i < trial->count[array]; i++) {
            if (!ring_same(got[i], sum_by(trial, rule, array, (size_t)i))) {
                return false;
            }
        }
    }
    return true;
}

bool ring_expect_sums(const RingTrial *trial) {
    const Term term = TERM_RING;
    bool other[TERM_MOST] = {false}, of_another_term = false;
    bool seen[RING_ANYTHING + 1] = {false};
    char first[200] = "";
    for (int i = 0; i < trial->arrays; i++) {
        for (int r = 0; r < trial->ranks; r++) {
            look(trial, i, r, seen, first);
        }
    }
    if (seen[RING_PARTIAL]) {
        seen[RING_OWN] = false; /* one rank is a part of all, too */
    }
    int kinds = 0;
    for (int m = 0; m <= RING_ANYTHING; m++) {
        kinds += seen[m];
    }
    bool right = check_compared(trial->check, kinds == 0, "%s", first);
    for (int k = 0; k < term.count; k++) {
        other[k] = k != term.now && kinds > 0 && is_summed_by(trial, ring_rules[k]);
        of_another_term = of_another_term || other[k];
    }
    check_suspect_term(trial->check, &term, other);
    for (int m = 0; m < RING_MISTAKES; m++) {
        check_suspect(trial->check, ring_sentence[m], kinds == 1 && seen[m] && !of_another_term);
    }
    return right && expect_scratch(trial);
}

/* The ring of a rank by itself: that of rank 0, or of all others. */
static RingTrial ring_part_of(const RingTrial *trial, int rank) {
    int array = trial->arrays - 1, count = trial->count[array];
    RingTrial part = ring_trial(trial->check, rank == 0 ? 1 : trial->ranks - 1);
    part.arrays = 1;
    part.count[0] = count;
    part.x[0] = trial->x[array] + (rank == 0 ? 0 : count);
    return part;
}

/* Whether the numbers of the ring of all but rank 0 are those of a rank that goes by its number in
   the ring of all, which is one more. */
static bool is_by_the_old_rank(const RingTrial *part, const float *got) {
    RingRule old = {ring_rule.first - 1, ring_rule.step};
    for (int i = 0; i < part->count[0]; i++) {
        if (!ring_same(got[i], sum_by(part, old, 0, (size_t)i))) {
            return false;
        }
    }
    return true;
}

/* Whether a rank has the right numbers of its part; if not, the first wrong one is named. */
static bool ring_expect_part(const RingTrial *trial, int rank) {
    RingTrial part = ring_part_of(trial, rank);
    const float *got = ranks_got(trial->check, "parted", rank, 0);
    for (int i = 0; i < part.count[0]; i++) {
        float right = sum_by(&part, ring_rule, 0, (size_t)i);
        if (!ring_same(got[i], right)) {
            check_compared(trial->check, false,
                           "after a ring of %d ranks one of %d, %d numbers: number %d is %.9g, and "
                           "%.9g is right",
                           trial->ranks, part.ranks, part.count[0], i, (double)got[i],
                           (double)right);
            check_suspect(trial->check, "for R = 1 nothing is sent or added", part.ranks == 1);
            check_suspect(trial->check,
                          "which rank this is, and of how many, the communicator of each call says",
                          part.ranks > 1 && is_by_the_old_rank(&part, got));
            return false;
        }
    }
    return true;
}

void ring_expect_parted(const RingTrial *trial) {
    for (int r = 0; r < trial->ranks; r++) {
        if (!ring_expect_part(trial, r)) {
            return;
        }
    }
}

/* ---- bytes ----------------------------------------------------------------------------------- */

size_t ring_right_bytes(size_t count, int rank, int ranks) {
    size_t numbers = 0;
    for (int s = 0; s < ranks - 1; s++) {
        int grown = ring_modulo(rank - ring_rule.first - ring_rule.step * s, ranks);
        int complete = ring_modulo(rank - ring_rule.first - ring_rule.step * (s - 1), ranks);
        numbers += begin_of(count, grown + 1, ranks) - begin_of(count, grown, ranks);
        numbers += begin_of(count, complete + 1, ranks) - begin_of(count, complete, ranks);
    }
    return numbers * sizeof(float);
}

static size_t right_bytes(const RingTrial *trial, int rank) {
    size_t bytes = 0;
    for (int i = 0; i < trial->arrays; i++) {
        bytes += ring_right_bytes((size_t)trial->count[i], rank, trial->ranks);
    }
    return bytes;
}

void ring_expect_sent(const RingTrial *trial) {
    Check *check = trial->check;
    RankCalls calls;
    if (!ranks_take_calls(check, &calls)) {
        return;
    }
    for (int r = 0; r < trial->ranks; r++) {
        int sends = ranks_called(&calls, r, "ncclSend"), all = ranks_called(&calls, r, NULL);
        double sent = ranks_sent(&calls, r), right = (double)right_bytes(trial, r);
        int steps = 2 * (trial->ranks - 1) * trial->arrays;
        if (all != sends + ranks_called(&calls, r, "ncclRecv")) {
            check_fail(check, "rank %d makes other calls than sends and receives", r);
            return;
        }
        if (sent != right) {
            check_fail(check,
                       "rank %d sends %.0f bytes in %d messages: a chunk in each of %d steps has "
                       "%.0f in all; %s",
                       r, sent, sends, steps, right,
                       sent > right
                           ? "more means whole arrays, or a chunk too much"
                           : "where a rank sends less, others send what is its part of the "
                             "work");
            return;
        }
    }
    check_good(check);
}
