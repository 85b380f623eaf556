/* `train --pipeline`: any number of stages gives the same run, resumes any other's, skips where one
   of them overflows, and runs blocks again without a change. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/testkit/program.h"
#include "common/testkit/scratch.h"

#define DEEP                                                                                       \
    "--data $S/text.txt --n_layer 3 --n_head 2 --n_embd 16 --n_positions 16 "                      \
    "--per_device_train_batch_size 2 --gradient_accumulation_steps 3 --eval_fraction 0 --seed 3 "
#define TWO "--nproc_per_node 2 --pipeline 2 "
#define THREE "--nproc_per_node 3 --pipeline 3 "

static void run(const char *options) {
    char all[600];
    snprintf(all, sizeof all, DEEP "%s", options);
    cr_assert_eq(train(all), 0, "%s:\n%s", options, output);
    cr_assert_null(strstr(output, "differs"), "predicted is not counted:\n%s", output);
}

/* The norm is summed stage by stage, so its last bit may depend on their number (docs/numerics.md):
   nothing is clipped where bits are compared. */
#define UNCLIPPED "--max_grad_norm 0 "

/* With each optimizer; channels for codes of a byte. */
Test(stages, any_number_has_the_same_bits, .timeout = 120) {
    static const char *const optims[] = {"", "--optim adafactor",
                                         "--optim adamw_8bit --n_embd 64 --bf16"};
    for (size_t i = 0; i < sizeof optims / sizeof *optims; i++) {
        char options[200];
        text_file();
        snprintf(options, sizeof options,
                 TWO DROPOUT UNCLIPPED "%s --max_steps 3 --output_dir $S/two", optims[i]);
        run(options);
        snprintf(options, sizeof options,
                 THREE DROPOUT UNCLIPPED "%s --max_steps 3 --output_dir $S/three", optims[i]);
        run(options);
        expect_same_files("two/checkpoint-3", "three/checkpoint-3");
        scratch_remove();
    }
}

Test(stages, resumed_with_another_number_bit_for_bit, .timeout = 120) {
    text_file();
    run(TWO DROPOUT UNCLIPPED "--max_steps 4 --save_steps 2 --output_dir $S/two");
    run(THREE DROPOUT UNCLIPPED "--max_steps 4 --output_dir $S/three "
                                "--resume_from_checkpoint $S/two/checkpoint-2");
    expect_same_files("two/checkpoint-4", "three/checkpoint-4");
    scratch_remove();
}

/* Loss and norm of the last step, as printed. */
static void last_step(const char *options, double *loss, double *norm) {
    text_file();
    run(options);
    const char *line = strstr(output, "step 4/4");
    cr_assert_not_null(line, "%s", output);
    cr_assert_eq(sscanf(line, "step 4/4 loss %lf norm %lf", loss, norm), 2, "%s", line);
    scratch_remove();
}

/* A stage that clips by its own norm learns more than the others. */
Test(stages, clip_by_the_norm_of_all, .timeout = 120) {
    double loss[2], norm[2];
    last_step(TWO "--max_grad_norm 0.05 --max_steps 4 --logging_steps 1", &loss[0], &norm[0]);
    last_step(THREE "--max_grad_norm 0.05 --max_steps 4 --logging_steps 1", &loss[1], &norm[1]);
    cr_assert_gt(norm[0], 0.05, "nothing was clipped");
    /* the last digits that are printed */
    cr_assert(fabs(loss[0] - loss[1]) <= 2e-4 && fabs(norm[0] - norm[1]) <= 2e-3,
              "loss %g and %g, norm %g and %g", loss[0], loss[1], norm[0], norm[1]);
}

/* The scale grows after each good step, so that it comes to where one stage overflows alone. */
Test(stages, all_skip_where_one_overflows, .timeout = 120) {
    text_file();
    run(THREE "--fp16 --initial_scale_power 30 --loss_scale_window 1 --max_steps 30");
    cr_assert_not_null(strstr(output, "skipped: a gradient is not finite"), "%s", output);
    scratch_remove();
}

Test(stages, replicas_share_the_batch, .timeout = 120) {
    text_file();
    run("--nproc_per_node 4 --pipeline 2 --optim adamw_8bit --max_steps 2");
    cr_assert_not_null(strstr(output, "2 ranks x"), "%s", output);
    scratch_remove();
}

/* Stages of 3 and 4 blocks, so that a last segment is short, or a stage has but one. Masks of a
   micro-batch are drawn again while those of others have been drawn since. */
#define SEVEN                                                                                      \
    "--data $S/text.txt --n_layer 7 --n_head 2 --n_embd 16 --n_positions 16 --eval_fraction 0 "    \
    "--per_device_train_batch_size 2 --gradient_accumulation_steps 5 --max_steps 3 "

static void run_seven(const char *folder, const char *options, const char *again) {
    char all[600];
    snprintf(all, sizeof all, SEVEN DROPOUT "%s %s --output_dir $S/%s", options, again, folder);
    cr_assert_eq(train(all), 0, "%s:\n%s", all, output);
    cr_assert_null(strstr(output, "differs"), "predicted is not counted: %s\n%s", all, output);
}

static double predicted_mib(void) {
    const char *line = strstr(output, "Memory: ");
    cr_assert_not_null(line, "%s", output);
    return atof(line + strlen("Memory: "));
}

static void expect_no_change(const char *options) {
    static const char *const checkpoints[] = {"", "--checkpoint_segment 2",
                                              "--checkpoint_segment 3", "--checkpoint_segment 7",
                                              "--checkpoint_segment 2 --checkpoint_attention"};
    text_file();
    run_seven("plain", options, "");
    for (size_t i = 0; i < sizeof checkpoints / sizeof *checkpoints; i++) {
        char again[100];
        snprintf(again, sizeof again, "--gradient_checkpointing %s", checkpoints[i]);
        run_seven("again", options, again);
        expect_same_files("plain/checkpoint-3", "again/checkpoint-3");
    }
    scratch_remove();
}

Test(stages, run_blocks_again_without_a_change, .timeout = 200) {
    expect_no_change(TWO);
    expect_no_change(THREE "--bf16");
}

Test(stages, of_a_gpu_run_blocks_again_without_a_change, .timeout = 300) {
    expect_no_change(TWO "--device gpu");
}

Test(stages, of_replicas_run_blocks_again_without_a_change, .timeout = 200) {
    expect_no_change("--nproc_per_node 4 --pipeline 2 --fp16 --optim adamw_8bit");
}

/* Of two micro-batches in flight with segments, the first stage keeps less than of two without. */
Test(stages, that_run_blocks_again_take_less, .timeout = 120) {
    text_file();
    run_seven("plain", TWO, "");
    double plain = predicted_mib();
    run_seven("again", TWO, "--gradient_checkpointing");
    cr_assert_lt(predicted_mib(), plain, "%s", output);
    scratch_remove();
}

/* Of rank 0 in the last line of its metrics. */
static int block_forwards(const char *again) {
    char all[600];
    snprintf(all, sizeof all, SEVEN TWO "%s --metrics $S/m", again);
    cr_assert_eq(train(all), 0, "%s", output);
    snprintf(all, sizeof all, "tail -n 1 '%s'", scratch_path("m"));
    cr_assert_eq(shell(all), 0, "%s", output);
    const char *count = strstr(output, "\"block_forwards\":");
    cr_assert_not_null(count, "%s", output);
    return atoi(strchr(count, ':') + 1);
}

/* The first of two stages has 3 blocks of 7: all but the last run twice. */
Test(stages, count_the_blocks_that_run_again, .timeout = 120) {
    text_file();
    int plain = block_forwards("");
    cr_assert_gt(plain, 0);
    cr_assert_eq(3 * block_forwards("--gradient_checkpointing"), 5 * plain);
    scratch_remove();
}
