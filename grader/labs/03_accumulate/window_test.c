/* Accumulation, checkpointing and half precision as `train` runs them. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/testkit/program.h"
#include "common/testkit/scratch.h"

/* Everything at once. */
#define ALL "--fp16 --gradient_checkpointing --gradient_accumulation_steps 3 "

static int times(const char *word) {
    int count = 0;
    for (const char *at = output; (at = strstr(at, word)) != NULL; at++) {
        count++;
    }
    return count;
}

static double loss_at(const char *step) {
    const char *line = strstr(output, step);
    cr_assert_not_null(line, "no \"%s\" in:\n%s", step, output);
    return strtod(strstr(line, "loss ") + 5, NULL);
}

/* {accumulated or not} x {what backward runs again} x {precision} x {attention}. */
Test(run, every_combination_is_predicted_to_the_byte, .timeout = 300) {
    static const char *const windows[] = {"", "--gradient_accumulation_steps 3"};
    static const char *const again[] = {"", "--gradient_checkpointing",
                                        "--gradient_checkpointing --checkpoint_segment 2",
                                        "--gradient_checkpointing --checkpoint_attention",
                                        ("--gradient_checkpointing --checkpoint_segment 2 "
                                         "--checkpoint_attention")};
    static const char *const precisions[] = {"", "--fp16", "--bf16"};
    static const char *const attentions[] = {"", "--attention flash"};
    text_file();
    for (int i = 0; i < 2 * 5 * 3 * 2; i++) {
        int attention = i / 30;
        if (attention == 1 && i / 2 % 5 >= 3) {
            continue; /* flash attention has nothing to run again */
        }
        char line[512];
        snprintf(line, sizeof line, TINY DROPOUT "--n_layer 3 --max_steps 2 %s %s %s %s",
                 windows[i % 2], again[i / 2 % 5], precisions[i / 10 % 3], attentions[attention]);
        cr_assert_eq(train(line), 0, "%s: %s", line, output);
        cr_assert(times("predicted (bytes)") == 1 && times("differs") == 0, "%s: %s", line, output);
    }
    scratch_remove();
}

/* The bytes printed in advance are those that the run then counts. */
Test(run, predict_only_prints_what_a_run_takes) {
    text_file();
    cr_assert_eq(train(TINY ALL "--predict_only --output_dir $S/o"), 0, "%s", output);
    const char *total = strstr(output, "  total ");
    cr_assert_not_null(total, "%s", output);
    size_t bytes = strtoull(strstr(total, "MiB") + 3, NULL, 10);
    cr_assert_neq(shell("test -e $S/o"), 0, "an output folder was made");
    char budget[256];
    snprintf(budget, sizeof budget, TINY ALL "--max_steps 1 --memory_budget %zuB", bytes);
    cr_assert_eq(train(budget), 0, "%s", output);
    snprintf(budget, sizeof budget, TINY ALL "--max_steps 1 --memory_budget %zuB", bytes - 1);
    cr_assert_eq(train(budget), 1, "%s", output);
    scratch_remove();
}

Test(run, measure_only_counts_one_step) {
    static const char *const options[] = {"", "--gradient_checkpointing", "--fp16",
                                          "--gradient_accumulation_steps 2 --documents"};
    text_file();
    for (int i = 0; i < 4; i++) {
        char line[256];
        snprintf(line, sizeof line, TINY ALL "--measure_only --output_dir $S/o %s", options[i]);
        cr_assert_eq(train(line), 0, "%s", output);
        cr_assert_not_null(strstr(output, "Memory of one step: "), "%s", output);
        cr_assert_null(strstr(output, "differs"), "%s", output);
        cr_assert_neq(shell("test -e $S/o"), 0, "an output folder was made");
    }
    cr_assert_eq(train(TINY "--measure_only --memory_budget 1024B"), 1, "%s", output);
    cr_assert_not_null(strstr(output, "more than --memory_budget: 1024 bytes"), "%s", output);
    scratch_remove();
}

/* 4 sequences at once, or 2 x 2 of them: ragged, so that a mean of means would show. */
Test(run, a_window_learns_what_one_batch_learns, .timeout = 60) {
    static const char *const splits[] = {
        "--per_device_train_batch_size 4",
        "--per_device_train_batch_size 2 --gradient_accumulation_steps 2",
        "--per_device_train_batch_size 1 --gradient_accumulation_steps 4"};
    double loss[3][2];
    text_file();
    for (int i = 0; i < 3; i++) {
        char line[512];
        snprintf(line, sizeof line, TINY "--documents --max_steps 20 --logging_steps 1 %s",
                 splits[i]);
        cr_assert_eq(train(line), 0, "%s", output);
        loss[i][0] = loss_at("step 1/20");
        loss[i][1] = loss_at("step 20/20");
        cr_assert(fabs(loss[i][0] - loss[0][0]) < 2e-4 && fabs(loss[i][1] - loss[0][1]) < 2e-4,
                  "%s: %g, %g instead of %g, %g", splits[i], loss[i][0], loss[i][1], loss[0][0],
                  loss[0][1]);
    }
    scratch_remove();
}

/* Lines, checkpoints and the schedule go by updates; the end of an epoch shortens a window. */
Test(run, cadence_counts_updates, .timeout = 60) {
    text_file();
    cr_assert_eq(train(TINY "--gradient_accumulation_steps 3 --max_steps 4 --logging_steps 2 "
                            "--save_steps 2 --eval_steps 2 --output_dir $S/o"),
                 0, "%s", output);
    cr_assert(times("\nstep ") == 3 && times("step 2/4") == 1 && times("step 4/4") == 1, "%s",
              output);
    cr_assert_eq(times("step 2  validation loss"), 1, "%s", output);
    char command[256];
    snprintf(command, sizeof command, "ls %s/o | grep -c checkpoint", scratch_folder());
    shell(command);
    cr_assert_eq(atoi(output), 2, "%s", output);

    /* 1200 bytes are 75 rows, 68 of them to train on: 34 batches, 12 windows of 3. */
    snprintf(command, sizeof command, "head -c 1200 %s/text.txt > %s/short", scratch_folder(),
             scratch_folder());
    shell(command);
    cr_assert_eq(train(TINY "--gradient_accumulation_steps 3 --num_train_epochs 2 --data $S/short"),
                 0, "%s", output);
    cr_assert_not_null(strstr(output, "24 updates of 3 x 2 sequences"), "%s", output);
    cr_assert_not_null(strstr(output, "step 24/24"), "%s", output);
    scratch_remove();
}

/* Blocks that run again give the same bits: the whole checkpoint is the same. */
Test(run, checkpointed_is_plain_bit_for_bit, .timeout = 60) {
    static const char *const again[] = {"--gradient_checkpointing",
                                        "--gradient_checkpointing --checkpoint_segment 2",
                                        "--gradient_checkpointing --checkpoint_attention"};
    text_file();
    cr_assert_eq(train(TINY DROPOUT "--n_layer 3 --max_steps 5 --output_dir $S/plain"), 0, "%s",
                 output);
    for (size_t i = 0; i < sizeof again / sizeof *again; i++) {
        char line[512];
        snprintf(line, sizeof line,
                 TINY DROPOUT "--n_layer 3 --max_steps 5 --output_dir $S/again %s", again[i]);
        cr_assert_eq(train(line), 0, "%s", output);
        expect_same_files("plain/checkpoint-5", "again/checkpoint-5");
    }
    scratch_remove();
}

/* Saved between updates, in the middle of an epoch and after its end. */
Test(run, resumed_windows_are_uninterrupted_bit_for_bit, .timeout = 120) {
    static const char *const windows[] = {TINY DROPOUT "--gradient_accumulation_steps 5",
                                          TINY DROPOUT ALL};
    static const int stops[] = {3, 22, 39, 0};
    text_file();
    for (int i = 0; i < 2; i++) {
        expect_resumed_is_whole(windows[i], "--eval_steps 7", 40, stops);
    }
    scratch_remove();
}

/* Sets the loss scale of a saved run. */
static void set_scale(const char *folder, const char *scale) {
    char command[512];
    snprintf(command, sizeof command,
             "cd %s/%s && sed -i 's/\"scale\": [0-9.e+]*/\"scale\": %s/' trainer_state.json && "
             "grep -q '\"scale\": %s' trainer_state.json",
             scratch_folder(), folder, scale, scale);
    cr_assert_eq(shell(command), 0, "%s", output);
}

/* A scale that is far too large: updates are skipped until it fits, and all of them are made. */
Test(run, skipped_updates_are_told_and_made_up_for, .timeout = 60) {
    text_file();
    cr_assert_eq(train(TINY "--fp16 --max_steps 2 --output_dir $S/o"), 0, "%s", output);
    set_scale("o/checkpoint-2", "1099511627776.0");
    cr_assert_eq(train(TINY "--fp16 --max_steps 6 --logging_steps 1 --save_steps 2 --output_dir "
                            "$S/o --resume_from_checkpoint $S/o/checkpoint-2"),
                 0, "%s", output);
    int skipped = times("step 3  skipped");
    cr_assert(skipped > 3 && times("step 3/6") == 1 && times("step 6/6") == 1, "%s", output);
    char command[256];
    snprintf(command, sizeof command,
             "grep '\"skipped\":true' %s/o/metrics.jsonl | grep -c '\"loss_scale\":'",
             scratch_folder());
    shell(command);
    cr_assert_eq(atoi(output), skipped, "%s of %d", output, skipped);
    scratch_remove();
}

/* Weights that are not finite: no scale helps, and the run does not go on forever. */
Test(run, gives_up_when_every_update_is_skipped, .timeout = 60) {
    text_file();
    cr_assert_eq(train(TINY "--fp16 --max_steps 50 --learning_rate 1e6 --max_grad_norm 0"), 1, "%s",
                 output);
    cr_assert_not_null(strstr(output, "was skipped 40 times in a row: giving up"), "%s", output);
    scratch_remove();
}
