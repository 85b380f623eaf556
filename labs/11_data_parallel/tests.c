/* Lab 11, judged. The ranks of a run are in one program, each with a device of its own. A ring is
   held against sums by plain loops in its own order; gradients against the sum of what each rank
   learns by itself, which the kit's own steps say in another program: both to the bit. The record
   of the run says which sums may go on beside which backward. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "grader/labs/11_data_parallel/buckets.h"
#include "grader/labs/11_data_parallel/formulas.h"
#include "grader/labs/11_data_parallel/leaves.h"
#include "grader/labs/11_data_parallel/ring.h"
#include "grader/labs/11_data_parallel/shards.h"
#include "grader/labs/11_data_parallel/sums.h"
#include "grader/quiz.h"

/* ---- task 1 ---------------------------------------------------------------------------------- */

/* Of two or three ranks several orders of a sum give the same bits. */
static int some_ranks(Check *check) {
    return check_int(check, 0, 1) ? 4 : 5;
}

/* Numbers of an array whose chunks begin elsewhere where one divides by the ranks first, or rounds
   the numbers of a chunk and not its beginning (`over` is 2), or rounds count * c / R up or to the
   nearest (`over` is 3). */
static int uneven_count(Check *check, int ranks, int over) {
    return ranks * (4 * check_int(check, 5, 14) + over) + ranks - 1;
}

/* Whatever is drawn, this task has rings of 1 to 5 ranks: a remainder by a mask is right where
   their number is a power of two. */

GRADED(11_data_parallel, ring, "task 1: the sum of all ranks, in the order of the ring") {
    RingTrial trial = ring_trial(check, 5);
    trial.parted = true;
    ring_add(&trial, trial.ranks * check_int(check, 20, 60) + 2, true);
    ring_add(&trial, trial.ranks * check_int(check, 20, 60), false);
    ring_add(&trial, uneven_count(check, trial.ranks, 3), false);
    ring_add(&trial, uneven_count(check, trial.ranks, 2), false);
    if (ring_run(&trial, true) && ring_expect_sums(&trial)) {
        ring_expect_parted(&trial);
    }
}

/* One number, fewer than chunks, and some more. */
static void sum_small(Check *check, int ranks) {
    RingTrial trial = ring_trial(check, ranks);
    trial.parted = true;
    check_after(check, "ring");
    for (int i = 0; i < 5; i++) {
        ring_add(&trial, i == 0 ? 1 : i * ranks + i - 2, false);
    }
    if (ring_run(&trial, true) && ring_expect_sums(&trial)) {
        ring_expect_parted(&trial);
    }
}

GRADED(11_data_parallel, ring_small, "task 1: fewer numbers than ranks") {
    sum_small(check, 3);
}

GRADED(11_data_parallel, ring_two,
       "task 1: a ring of two, whose next rank is the last, and of one") {
    sum_small(check, 2);
}

GRADED(11_data_parallel, ring_sent, "task 1: each rank sends a chunk in each step, and no more") {
    RingTrial trial = ring_trial(check, 4);
    check_after(check, "ring");
    ring_add(&trial, uneven_count(check, trial.ranks, 2), true);
    if (ring_run(&trial, true)) {
        ring_expect_sent(&trial);
    }
}

GRADED(11_data_parallel, ring_cpu, "task 1: the same in memory of the host") {
    RingTrial trial = ring_trial(check, some_ranks(check));
    check_after(check, "ring");
    ring_add(&trial, trial.ranks * check_int(check, 20, 60) + 1, false);
    ring_add(&trial, trial.ranks - 1, false);
    if (ring_run(&trial, false)) {
        ring_expect_sums(&trial);
        ring_expect_sent(&trial); /* host memory is one for all: what comes must have been sent */
    }
}

/* ---- task 2 ---------------------------------------------------------------------------------- */

GRADED(11_data_parallel, shard_rows, "task 2: every row on one rank, once") {
    shards_judge_rows(check);
}

GRADED(11_data_parallel, shard_turns, "task 2: windows of all ranks, and as many turns on each") {
    shards_judge_turns(check);
}

/* ---- task 3 ---------------------------------------------------------------------------------- */

/* In bf16; overflow begins with weights in f16, and on_the_cpu with floats. An odd number of halves
   cannot be sent as floats. A frozen parameter has weights, too. No window follows. */
GRADED(11_data_parallel, broadcast, "task 3: all ranks begin with the weights of rank 0") {
    ModelConfig config = {.V = 257, .T = 12, .L = 3, .NH = 3, .C = 15, .precision = BF16};
    SumTrial *trial = sums_of(check, config, some_ranks(check), 1, 1);
    given_random_weights(&trial->given);
    trial->option[DDP_RECORDED] = trial->option[DDP_STARTS] = true;
    trial->option[DDP_WINDOWS] = 0;
    trial->option[DDP_FROZEN] = 1 + MODEL_PARAMS + FC_BIAS;
    if (sums_run(trial) && sums_expect_start_order(trial)) {
        sums_expect_start(trial);
    }
}

/* Parameters whose numbers nothing divides. */
GRADED(11_data_parallel, gradients, "task 3: the sum of all ranks, in their order, to the bit") {
    ModelConfig config = {.V = 257, .T = 12, .L = 3, .NH = 3, .C = 15};
    SumTrial *trial = sums_of(check, config, some_ranks(check), 1, 1);
    if (sums_run(trial)) {
        sums_expect_gradients(trial);
    }
}

GRADED(11_data_parallel, updates, "task 3: three windows, and all ranks have the same weights") {
    SumTrial *trial = sums_new(check, 3, 3, 1);
    trial->option[DDP_UPDATES] = true;
    trial->option[DDP_SEGMENT] = 2;
    trial->given.max_norm = 0.05f;
    check_after(check, "gradients");
    if (sums_run(trial) && sums_expect_gradients(trial)) {
        sums_expect_weights(trial);
    }
}

GRADED(11_data_parallel, overflow, "task 3: an infinite gradient of one rank, and all skip") {
    SumTrial *trial = sums_new(check, 3, 2, 1);
    trial->given.config.precision = F16;
    given_random_weights(&trial->given);
    trial->option[DDP_UPDATES] = trial->option[DDP_SCALED] = true;
    trial->option[DDP_STARTS] = true;
    trial->option[DDP_SPOILED] = check_int(check, 1, 3);
    check_after(check, "broadcast gradients");
    if (sums_run(trial) && sums_expect_start(trial) && sums_expect_skipped(trial, 0, true) &&
        sums_expect_skipped(trial, 1, false)) {
        sums_expect_weights(trial);
    }
}

GRADED(11_data_parallel, on_the_cpu, "task 3: the same in memory of the host") {
    SumTrial *trial = sums_new(check, 3, 2, 2);
    trial->option[RANKS_GPU] = false;
    trial->option[DDP_UPDATES] = true;
    trial->option[DDP_STARTS] = true;
    trial->option[DDP_REOPENED] = 80; /* what each of them leaves, a rank's heap cannot hold */
    check_after(check, "broadcast gradients");
    if (sums_run(trial) && sums_expect_start(trial) && sums_expect_gradients(trial)) {
        sums_expect_weights(trial);
        sums_expect_sent(trial);
    }
}

GRADED(11_data_parallel, window, "task 3: windows of several micro-batches") {
    SumTrial *trial = sums_new(check, 3, 1, 2);
    trial->option[DDP_BUCKET] = 25 << 20; /* PyTorch's: the end of backward closes the only one */
    if (sums_run(trial)) {
        sums_expect_gradients(trial);
    }
}

GRADED(11_data_parallel, once, "task 3: in a window of several micro-batches each sum once") {
    SumTrial *trial = sums_new(check, 3, 2, 2);
    trial->option[DDP_FROZEN] = 1 + MODEL_PARAMS + PROJ_BIAS;
    check_after(check, "gradients window");
    if (sums_run(trial)) {
        sums_expect_sent(trial);
    }
}

/* The bytes of the head and of a block. So a bucket of SEVERAL_PARTS has the head and a block, just
   enough; the next one has two blocks; and the last one the rest. */
enum { HEAD_BYTES = 128, BLOCK_BYTES = 13120, SEVERAL_PARTS = HEAD_BYTES + BLOCK_BYTES };

/* In half, whose gradients are floats as well. One byte more than the head and a block have:
   another block goes in. The third, with what the first bucket has above bucket_bytes, would close
   the second. */
GRADED(11_data_parallel, buckets, "task 3: buckets of whole parts, as backward completes them") {
    BucketTrial trial;
    SumTrial *sums = sums_new(check, 3, 1, 1);
    sums->given.config.precision = F16;
    given_random_weights(&sums->given);
    if (buckets_run(&trial, sums, SEVERAL_PARTS + 1) && buckets_expect_calls(&trial)) {
        leaves_judge(check);
    }
}

/* ---- task 4 ---------------------------------------------------------------------------------- */

GRADED(11_data_parallel, overlap, "task 4: each sum may run beside the backward of what is below") {
    BucketTrial trial;
    check_after(check, "buckets");
    if (buckets_run(&trial, sums_new(check, some_ranks(check), 1, 1), SEVERAL_PARTS)) {
        buckets_expect_order(&trial);
    }
}

/* Each part is a bucket. */
GRADED(11_data_parallel, makespan, "task 4: the last sum ends as early as it can") {
    BucketTrial trial;
    check_after(check, "gradients buckets overlap");
    if (buckets_run(&trial, sums_new(check, 4, 1, 2), 1)) {
        buckets_expect_makespan(&trial);
    }
}

/* ---- task 5 ---------------------------------------------------------------------------------- */

static ModelConfig some_config(Check *check) {
    return (ModelConfig){.V = check_int(check, 256, 999),
                         .T = check_int(check, 20, 200),
                         .L = check_int(check, 1, 12),
                         .NH = 2,
                         .C = 2 * check_int(check, 8, 40),
                         .precision = (Precision)check_int(check, 0, 2)};
}

/* A shape of any size, whose B is a number of ranks. Where buckets are asked for, T is their bytes,
   B - 1 times doubled. */
static void ask_shape(Quiz *quiz, bool large, int ranks, int bytes) {
    ModelConfig config = some_config(quiz->check);
    if (large && bytes == 1) {
        config = (ModelConfig){.V = 50257, .T = 1024, .L = 96, .NH = 96, .C = 12288};
    } else if (large) {
        config = (ModelConfig){.V = 999, .T = 99, .L = 48, .NH = 8, .C = 160};
    }
    quiz_add(quiz, (Shape){config, ranks, bytes, {0}});
}

GRADED(11_data_parallel, sent, "task 5: bytes that each rank sends in a window") {
    Quiz quiz = {.check = check, .numbers = 1};
    for (int i = 0; i < 10; i++) {
        ask_shape(&quiz, false, 3 + i % 6, 1);
        quiz.shape[i].config.precision = i < 3 ? F32 : (Precision)(i % 3);
    }
    ask_shape(&quiz, false, 2, 1);
    ask_shape(&quiz, true, check_int(check, 3, 64), 1);
    if (!quiz_run(&quiz, "formulas/sent", SECONDS)) {
        return;
    }
    for (int i = 0; i < quiz.count; i++) {
        double got, right = right_sent(&quiz.shape[i]);
        memcpy(&got, quiz_answer(&quiz, i), sizeof got);
        if (!(fabs(got - right) <= 1e-9 * right)) {
            check_fail(check, "%s, %d ranks: %.10g bytes, %.10g is right: %s", quiz.name[i],
                       quiz.shape[i].B, got, right, sent_mistake(&quiz.shape[i], got, right));
            return;
        }
    }
    check_good(check);
}

GRADED(11_data_parallel, ring_bytes, "task 5: bytes of each rank in a ring whose chunks differ") {
    enum { ASKS = 60 };
    uint64_t asked[3 * ASKS];
    for (int i = 0; i < ASKS; i++) {
        bool large = i == 7 || i == 8, small = i % 5 == 0;
        uint64_t ranks = large ? (uint64_t)(2 * i - 11) : (uint64_t)check_int(check, 1, 9);
        asked[3 * i] = large   ? ((uint64_t)1 << 33) + 5
                       : small ? (uint64_t)check_int(check, 0, 8)
                               : (uint64_t)check_int(check, 9, 5000);
        asked[3 * i + 1] = (uint64_t)check_int(check, 0, (int)ranks - 1);
        asked[3 * i + 2] = ranks;
    }
    check_give(check, "questions", WIRE_U64, asked, 3 * ASKS);
    check_want(check, "answers", WIRE_U64, ASKS);
    if (!check_run(check, "formulas/ring", SECONDS)) {
        return;
    }
    const uint64_t *got = check_got(check, "answers", WIRE_U64);
    for (int i = 0; i < ASKS; i++) {
        const uint64_t *a = &asked[3 * i];
        uint64_t right = ring_right_bytes(a[0], (int)a[1], (int)a[2]);
        if (got[i] != right) {
            check_fail(check,
                       "%llu numbers, rank %llu of %llu: %llu bytes, %llu is right: it sends every "
                       "chunk twice, but for the one that it completes in the first half, and the "
                       "one that it gets last",
                       (unsigned long long)a[0], (unsigned long long)a[1], (unsigned long long)a[2],
                       (unsigned long long)got[i], (unsigned long long)right);
            return;
        }
    }
    check_good(check);
}

/* Buckets of as many bytes as some blocks have, or a byte more: there each number counts. */
static void ask_blocks(Quiz *quiz, int blocks, int more) {
    ModelConfig config = some_config(quiz->check);
    config.L = check_int(quiz->check, 2 * blocks + 1, 12);
    if (blocks == 3) { /* more bytes than a float counts, and a name of the shape that has room */
        config.C *= 20;
        config.T = 8;
    }
    int bytes = 4 * blocks * (12 * config.C * config.C + 13 * config.C) + more;
    quiz_add(quiz, (Shape){config, 1, bytes, {0}});
}

/* Buckets of the bytes of the head: the first one has just enough with it; or a byte more. */
static void ask_head(Quiz *quiz, int more) {
    ModelConfig config = some_config(quiz->check);
    quiz_add(quiz, (Shape){config, 1, 8 * config.C + more, {0}});
}

GRADED(11_data_parallel, bucket_count, "task 5: buckets of a window") {
    Quiz quiz = {.check = check, .numbers = 1};
    for (int i = 0; i < 9; i++) {
        ask_shape(&quiz, false, 1,
                  i == 0 ? 1 : check_int(check, 60, 1000) << check_int(check, 0, 9));
    }
    for (int i = 0; i < 6; i++) {
        ask_blocks(&quiz, 1 + i / 2, i % 2);
    }
    ask_head(&quiz, 0);
    ask_head(&quiz, 1);
    ask_shape(&quiz, true, 1, 25 << 20);
    ask_shape(&quiz, true, 1, 7 << 20);
    ask_shape(&quiz, true, 36, 1); /* some blocks of GPT-3: 32 bits do not count the bytes of one */
    if (!quiz_run(&quiz, "formulas/buckets", SECONDS)) {
        return;
    }
    for (int i = 0; i < quiz.count; i++) {
        uint64_t got = *quiz_answer(&quiz, i), right = (uint64_t)right_buckets(&quiz.shape[i]);
        if (got != right) {
            check_fail(check,
                       "%s, buckets of %zu bytes: %llu, %llu is right: the head, L blocks and the "
                       "embedding go in; a bucket that has enough is closed, and so is the last",
                       quiz.name[i], shape_bucket(&quiz.shape[i]), (unsigned long long)got,
                       (unsigned long long)right);
            return;
        }
    }
    check_good(check);
}

enum { TIMES = 14, TIMED_BUCKETS = 9 };

GRADED(11_data_parallel, time, "task 5: the end of the last sum") {
    int32_t count[TIMES];
    double complete[TIMES * TIMED_BUCKETS], reduce[TIMES * TIMED_BUCKETS];
    size_t all = 0;
    for (int i = 0; i < TIMES; i++) {
        double now = 0;
        count[i] = i == 0 ? 1 : check_int(check, 2, TIMED_BUCKETS);
        for (int b = 0; b < count[i]; b++, all++) {
            now += 1e-3 * check_int(check, 1, 99);
            complete[all] = now;
            reduce[all] = 1e-3 * check_int(check, 1, i % 2 ? 40 : 160);
        }
    }
    check_give(check, "counts", WIRE_I32, count, TIMES);
    check_give(check, "complete", WIRE_F64, complete, all);
    check_give(check, "reduce", WIRE_F64, reduce, all);
    check_want(check, "times", WIRE_F64, TIMES);
    if (!check_run(check, "formulas/times", SECONDS)) {
        return;
    }
    const double *got = check_got(check, "times", WIRE_F64), *c = complete, *r = reduce;
    for (int i = 0; i < TIMES; c += count[i], r += count[i], i++) {
        double right = right_time(count[i], c, r);
        if (!(fabs(got[i] - right) <= 1e-9 * right)) {
            check_fail(
                check, "%d buckets: %.9g s, %.9g is right: %s", count[i], got[i], right,
                fabs(got[i] - right) <= 1e-5 * right
                    ? "rounded, as a float is: compute in double"
                    : "a sum begins when its bucket is complete and the sum before it is over, "
                      "whichever is later");
            return;
        }
    }
    check_good(check);
}
