/* Lab 12, judged. The submission runs as several ranks in one program; one process of the kit
   learns from the batches of all of them, one after the other, and has the right bits. What is said
   of a mistake is in grader/labs/12_zero/. */
#include "grader/labs/12_zero/ahead.h"
#include "grader/labs/12_zero/held.h"
#include "grader/labs/12_zero/parts.h"
#include "grader/labs/12_zero/run.h"
#include "grader/labs/12_zero/texts.h"

/* ---- task 1 ---------------------------------------------------------------------------------- */

GRADED(12_zero, parts, "task 1: numbers of each rank's part") {
    parts_judge(check);
}

GRADED(12_zero, pieces, "task 1: which numbers of a tensor are a rank's") {
    pieces_judge(check);
}

/* ---- task 2 ---------------------------------------------------------------------------------- */

GRADED(12_zero, states, "task 2: bytes that a rank has all the time") {
    held_states(check);
}

GRADED(12_zero, gathered, "task 2: bytes that come and go") {
    held_gathered(check);
}

GRADED(12_zero, ahead, "task 2: bytes of weights where the next unit is on its way") {
    held_ahead(check);
}

GRADED(12_zero, wire, "task 2: bytes that a rank sends in an update") {
    held_sent(check);
}

/* ---- tasks 3, 4, 5: stages ------------------------------------------------------------------- */

static void expect_stage(Check *check, int stage, int ranks, int micros) {
    ZeroRun *run = zero_run(check, stage, ranks, micros, F32);
    if (zero_start(run) && zero_expect_steps(run)) {
        zero_expect_alone(run);
    }
}

/* From stage 2 on in half: gradients are floats, and weights are not. Their loss has a scaler. Of
   two ranks, too. */
static void expect_budget(Check *check, int stage, int ranks) {
    ZeroRun *run = zero_run(check, stage, ranks, 1, stage > 1 ? F16 : F32);
    zero_set_budget(run);
    if (stage > 1) { /* of the gradients a rank has its part alone when they are unscaled */
        int any = check_int(check, 0, params_count(&run->given.config) - 1);
        zero_spoil_at(run, stage == 2 ? any : WTE, stage == 2 ? BAD_MINUS_INFINITE : BAD_NANS);
        zero_clip(run);
    }
    if (zero_start(run) && zero_expect_steps(run)) {
        zero_expect_states(run);
    }
}

GRADED(12_zero, stage1, "task 3: the weights of one process, bit for bit") {
    check_after(check, "parts pieces");
    ZeroRun *run = zero_run(check, 1, check_int(check, 0, 1) ? 3 : 5, 1, F32);
    zero_end_schedule(run);
    if (zero_start(run) && zero_expect_steps(run)) {
        zero_expect_alone(run);
    }
}

GRADED(12_zero, stage1_window, "task 3: a window of several micro-batches is summed once") {
    ZeroRun *run = zero_run(check, 1, 3, 2, F32);
    check_after(check, "parts pieces stage1");
    zero_set_layers(run, 4); /* another number of units than in the other runs of this stage */
    if (zero_start(run) && zero_expect_steps(run)) {
        zero_expect_calls(run);
    }
}

GRADED(12_zero, stage1_bytes, "task 3: in memory that has no room for the states of others") {
    check_after(check, "parts pieces");
    expect_budget(check, 1, 2);
}

GRADED(12_zero, stage2, "task 4: gradients in parts, and the same bits") {
    check_after(check, "parts pieces stage1");
    expect_stage(check, 2, check_int(check, 0, 1) ? 3 : 5, 1);
}

/* On the simulated GPU, whose memory the host cannot touch, as a run of stage 1 and of stage 3. */
GRADED(12_zero, stage2_window, "task 4: micro-batches add up in the parts") {
    ZeroRun *run = zero_run(check, 2, 3, 2, F32);
    check_after(check, "parts pieces stage1 stage2");
    run->option[RANKS_GPU] = true;
    zero_clip(run);
    if (zero_start(run) && zero_expect_steps(run)) {
        zero_expect_calls(run);
    }
}

GRADED(12_zero, stage2_bytes, "task 4: in memory that has no room for the gradients of others") {
    check_after(check, "parts pieces stage1_bytes stage2 overflow overflow_bf16");
    expect_budget(check, 2, check_int(check, 3, 4));
}

GRADED(12_zero, stage3, "task 5: weights in parts, and the same bits") {
    check_after(check, "parts pieces stage1 stage2");
    expect_stage(check, 3, check_int(check, 0, 1) ? 3 : 5, 1);
}

GRADED(12_zero, stage3_bytes, "task 5: in memory that has room for one gathered block") {
    check_after(check, "parts pieces stage1_bytes stage2_bytes");
    expect_budget(check, 3, 2);
}

/* On the simulated GPU, too. */
GRADED(12_zero, stage3_twice, "task 5: in each micro-batch weights are gathered twice") {
    ZeroRun *run = zero_run(check, 3, 3, 2, F32);
    check_after(check, "parts pieces stage1 stage2 stage2_window stage3");
    run->option[RANKS_GPU] = true;
    zero_clip(run);
    if (zero_start(run) && zero_expect_steps(run)) {
        zero_expect_calls(run);
    }
}

/* ---- task 3 ---------------------------------------------------------------------------------- */

GRADED(12_zero, norm, "task 3: clipped by the norm of all parts") {
    ZeroRun *run = zero_run(check, 1, 3, 1, F32);
    check_after(check, "parts pieces stage1");
    run->given.max_norm = 0.05f;
    run->option[ZERO_TINY] = true;
    zero_plant(run);
    if (zero_start(run) && zero_expect_steps(run)) {
        zero_expect_planted(run);
    }
}

GRADED(12_zero, overflow, "task 3: in half, where a gradient of one rank overflows") {
    ZeroRun *run = zero_run(check, 1, 3, 1, F16);
    check_after(check, "parts pieces stage1 norm");
    run->given.max_norm = 0.5f;
    zero_spoil(run, false);
    if (zero_start(run)) {
        zero_expect_steps(run);
    }
}

/* A loss scale without a scaler; and on the simulated GPU, whose memory the host cannot touch. */
GRADED(12_zero, overflow_bf16, "task 3: in bf16, whose loss scale stays as it is") {
    ZeroRun *run = zero_run(check, 1, 3, 1, BF16);
    check_after(check, "parts pieces stage1 norm overflow");
    run->option[ZERO_SCALED] = run->option[RANKS_GPU] = true;
    zero_clip(run);
    zero_spoil(run, true);
    if (zero_start(run)) {
        zero_expect_steps(run);
    }
}

/* ---- task 6 ---------------------------------------------------------------------------------- */

GRADED(12_zero, prefetch, "task 6: the next unit on its way, and the same bits") {
    ZeroRun *run = zero_run(check, 3, 3, 2, F32);
    check_after(check, "parts pieces stage1 stage2 stage2_window stage3 stage3_twice");
    zero_set_layers(run, 3);
    run->option[ZERO_PREFETCH] = run->option[ZERO_AGAIN] = true;
    zero_clip(run);
    if (zero_start(run) && zero_expect_steps(run)) {
        zero_expect_calls(run);
    }
}

/* With a loss scale of 1, which changes no gradient: one that is not finite is looked for even
   so. */
GRADED(12_zero, prefetch_bytes, "task 6: in memory that has room for two gathered blocks") {
    ZeroRun *run = zero_run(check, 3, check_int(check, 3, 4), 1, BF16);
    check_after(check, "parts pieces stage1_bytes stage2_bytes stage3_bytes");
    run->option[ZERO_PREFETCH] = 2;
    run->option[ZERO_SCALED] = ZERO_SCALED_BY_1;
    zero_set_budget(run);
    zero_spoil_at(run, check_int(check, 0, params_count(&run->given.config) - 1), BAD_INFINITE);
    zero_clip(run);
    if (zero_start(run) && zero_expect_steps(run)) {
        zero_expect_states(run);
    }
}

GRADED(12_zero, prefetch_overlap, "task 6: each gather may run beside the part before its own") {
    ZeroRun *run = zero_run(check, 3, 3, 1, F32);
    check_after(check, "parts pieces stage1 stage2 stage3 prefetch");
    run->option[ZERO_PREFETCH] = run->option[RANKS_GPU] = run->option[RANKS_RECORD] = true;
    if (zero_start(run) && zero_expect_steps(run) && ahead_expect_order(run)) {
        ahead_expect_closed(run);
    }
}

/* ---- tasks 3, 7 ------------------------------------------------------------------------------ */

GRADED(12_zero, generate, "task 7: texts that end at different lengths") {
    check_after(check, "parts pieces stage3");
    texts_judge(check, 3);
}

/* At stage 2, up to which weights are whole. */
GRADED(12_zero, generate_whole, "task 3: with whole weights nobody waits") {
    check_after(check, "parts pieces stage1");
    texts_judge(check, 2);
}
