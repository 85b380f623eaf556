/* Lab 09, judged. The fused op and captured steps must have the very bits of what they stand for,
   which the kit runs in a program without the hand-in; the head is held against a model in double,
   under a budget. What is said of a mistake is in grader/labs/09_fusion/. */
#include "grader/labs/09_fusion/compare.h"

/* ---- tasks 1 and 2: residual and norm -------------------------------------------------------- */

GRADED(09_fusion, norm_forward, "task 1: the bits of residual and layer norm apart") {
    NormCalls calls = norm_all(check, false);
    norm_grade(&calls);
}

GRADED(09_fusion, norm_clean, "task 1: bounds, initialisation, races, divergence, launches") {
    check_after(check, "norm_forward");
    norm_grade_clean(check, false);
}

GRADED(09_fusion, norm_traffic, "task 1: at most 1.05 times 4 N C numbers are moved") {
    check_after(check, "norm_forward");
    norm_grade_traffic(check, false);
}

GRADED(09_fusion, norm_backward, "task 2: the bits of their backward passes") {
    NormCalls calls = norm_all(check, true);
    norm_grade(&calls);
}

GRADED(09_fusion, back_clean, "task 2: bounds, initialisation, races, divergence, launches") {
    check_after(check, "norm_backward");
    norm_grade_clean(check, true);
}

GRADED(09_fusion, back_schedules, "task 2: the same bits in three orders") {
    check_after(check, "norm_backward");
    norm_grade_schedules(check);
}

GRADED(09_fusion, back_traffic, "task 2: at most 1.05 times 7 N C numbers are moved") {
    check_after(check, "norm_backward");
    norm_grade_traffic(check, true);
}

/* ---- task 3: the head ------------------------------------------------------------------------ */

GRADED(09_fusion, chunk_rows, "task 3: rows of a chunk") {
    chunks_grade(check);
}

GRADED(09_fusion, head_loss, "task 3: losses, chunk by chunk") {
    head_grade(check, false);
}

GRADED(09_fusion, head_gradients, "task 3: all gradients, to 1e-5") {
    check_after(check, "head_loss");
    head_grade(check, true);
}

GRADED(09_fusion, head_half, "task 3: in f16 and bf16 too: sums of the embedding stay float") {
    check_after(check, "head_loss head_gradients");
    head_grade_half(check);
}

GRADED(09_fusion, head_memory, "task 3: in memory for one chunk of logits") {
    check_after(check, "head_loss head_gradients");
    head_grade_memory(check);
}

/* ---- task 4: numbers in device memory -------------------------------------------------------- */

GRADED(09_fusion, clip, "task 4: norm and factor, in float") {
    clip_grade(check);
}

GRADED(09_fusion, control, "task 4: an update whose numbers lie in memory") {
    control_grade(check, 0);
}

GRADED(09_fusion, control_found, "task 4: and none where a gradient was not finite") {
    check_after(check, "control");
    control_grade(check, 0.5f); /* not 0, and neither is it 1 */
}

/* ---- tasks 5 and 6: captured steps ----------------------------------------------------------- */

GRADED(09_fusion, replays, "tasks 5, 6: 20 replays have the bits of 20 eager steps") {
    StepsScript script = steps_script(check, F32, 21, 2);
    Given *given = &script.given;
    for (int i = 0; i < given->batches; i++) { /* a micro-batch is more than a row of T */
        given->batch[i] = batch_full(check, given->config.V, 2, given->batch[i].T);
    }
    steps_grade(&script);
}

GRADED(09_fusion, overflow, "tasks 5, 6: fp16, and a script of overflows") {
    check_after(check, "replays");
    StepsScript script = steps_script(check, F16, 14, 2);
    Given *given = &script.given;
    script.window[3].scale = 0x1p40f;
    script.window[4].scale = 1024; /* which five windows learn at: after four of them it grows */
    script.window[9 + check_int(check, 0, 1)].scale = 0x1p60f;
    script.window[12].scale = 512;
    /* Half of the targets, at half the scale: share * scale is as before, neither of them is. */
    for (int i = 0; i < 2; i++) {
        given->batch[given->batches + i] = batch_full(check, given->config.V, 1, given->batch[0].T);
    }
    given->batch[given->batches + 1] = batch_all_masked(given->batch[given->batches + 1]);
    script.window[13] = (StepsWindow){.first = given->batches, .count = 2, .scale = 256};
    given->batches += 2;
    steps_grade(&script);
}

GRADED(09_fusion, guard, "tasks 5, 6: other shapes and numbers of targets, after many updates") {
    check_after(check, "replays");
    StepsScript script = steps_script(check, F32, 12, 3);
    Given *given = &script.given;
    given->adamw.beta2 = 0.999f; /* with which a thousand updates do not make up for v = 0 */
    script.option[STEPS_BEFORE] = check_int(check, 1100, 1900);
    batch_cut_row(check, &given->batch[4], 0, 3);
    given->batch[7] = batch_all_masked(given->batch[7]);
    script.window[5].count = 2;
    given->batch[14] = batch_full(check, given->config.V, 2, given->batch[0].T);
    given->batch[given->batches] = batch_full(check, given->config.V, 3, given->batch[0].T);
    script.window[7] = script.window[8] = (StepsWindow){.first = given->batches++, .count = 1};
    script.window[script.count - 1].bad = true; /* without a scaler no step is skipped */
    steps_grade(&script);
}

GRADED(09_fusion, launches, "tasks 5, 6: one launch from the host, 64 bytes beside the ids") {
    check_after(check, "replays");
    StepsScript script = steps_script(check, F32, 9, 2);
    Given *given = &script.given;
    given->max_norm = 0;
    batch_cut_row(check, &given->batch[2 * LAUNCHES_SHARE], 0, 3);
    given->batch[given->batches] = batch_full(check, given->config.V, 1, given->batch[0].T);
    given->batch[given->batches + 1] = batch_full(check, given->config.V, 2, given->batch[0].T);
    script.window[LAUNCHES_RAGGED] = (StepsWindow){.first = given->batches, .count = 2};
    given->batches += 2;
    script.window[LAUNCHES_ANEW] = script.window[LAUNCHES_ANEW + 1] = script.window[6];
    steps_grade_launches(&script);
}

GRADED(09_fusion, together, "with labs 04 and 05, and your norm: bf16, blocks run again") {
    check_after(check, "replays norm_forward norm_backward");
    StepsScript script = steps_script(check, BF16, 7, 2);
    script.window[6].bad = true;
    script.option[STEPS_SEGMENT] = 1;
    script.option[STEPS_FUSED] = 1;
    steps_grade(&script);
}

/* ---- task 7: bytes --------------------------------------------------------------------------- */

GRADED(09_fusion, chains, "task 7: bytes that five chains move, apart and fused") {
    chains_grade(check);
}
