/* Batches that are copied ahead, and inputs that wait in host memory: the bits of a run without, in
   combination with labs 03 to 05, resumed anywhere, on several ranks, in their bytes. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/testkit/program.h"
#include "common/testkit/scratch.h"

#define ON_GPU TINY DROPOUT "--n_layer 3 --device gpu --eval_fraction 0 "
#define BATCHES "--per_device_train_batch_size 12 "

/* Trains into folder `name` of the test. */
static void train_into(const char *name, const char *arguments, const char *more) {
    char line[1000];
    snprintf(line, sizeof line, ON_GPU "%s %s --output_dir $S/%s", arguments, more, name);
    cr_assert_eq(train(line), 0, "%s%s", line, output);
}

/* Lab 08 changes no bit. */
static void expect_same(int steps, const char *arguments, const char *added) {
    char checkpoint[2][64], line[1000];
    snprintf(line, sizeof line, "%s --max_steps %d", arguments, steps);
    train_into("a", line, "");
    train_into("b", line, added);
    for (int i = 0; i < 2; i++) {
        snprintf(checkpoint[i], sizeof checkpoint[i], "%c/checkpoint-%d", 'a' + i, steps);
    }
    expect_same_files(checkpoint[0], checkpoint[1]);
    scratch_remove();
}

/* Over the end of an epoch, whose last batch is short. */
Test(ahead, batches_that_are_copied_ahead_change_no_bit, .timeout = 120) {
    text_file();
    expect_same(12, BATCHES, "--dataloader_num_workers 1");
}

Test(ahead, so_do_batches_from_pageable_memory, .timeout = 120) {
    text_file();
    expect_same(4, "", "--dataloader_num_workers 3 --dataloader_pin_memory false");
}

Test(ahead, and_windows_of_several, .timeout = 120) {
    text_file();
    expect_same(4, BATCHES "--gradient_accumulation_steps 3", "--dataloader_num_workers 2");
}

Test(ahead, inputs_that_wait_in_host_memory_change_no_bit, .timeout = 120) {
    text_file();
    expect_same(4, "--gradient_accumulation_steps 2",
                "--gradient_checkpointing --activation_offload");
}

Test(ahead, nor_do_those_of_segments_in_half, .timeout = 120) {
    text_file();
    expect_same(4, "--fp16 --initial_scale_power 8",
                "--gradient_checkpointing --checkpoint_segment 2 --activation_offload "
                "--dataloader_num_workers 1");
}

/* In the middle of an epoch: what was read ahead does not count as handed out. */
Test(ahead, resumes_bit_for_bit, .timeout = 180) {
    text_file();
    static const char all[] =
        BATCHES "--max_steps 12 --gradient_checkpointing --activation_offload ";
    train_into("whole", all, "--save_steps 1 --dataloader_num_workers 2");
    static const int stops[] = {1, 5, 11};
    for (int i = 0; i < 3; i++) {
        char more[300], name[64];
        snprintf(name, sizeof name, "again%d", stops[i]);
        snprintf(more, sizeof more,
                 "--dataloader_num_workers %d --resume_from_checkpoint $S/whole/checkpoint-%d", i,
                 stops[i]);
        train_into(name, all, more);
        snprintf(name, sizeof name, "again%d/checkpoint-12", stops[i]);
        expect_same_files("whole/checkpoint-12", name);
    }
    scratch_remove();
}

Test(ahead, each_rank_reads_its_own_batches, .timeout = 120) {
    text_file();
    expect_same(3, "--nproc_per_node 2",
                "--dataloader_num_workers 1 --gradient_checkpointing --activation_offload");
}

/* Predicted is what is counted, and fits into a budget that checkpoints alone do not. */
Test(ahead, its_bytes_are_predicted, .timeout = 120) {
    char command[1000];
    text_file();
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    snprintf(command, sizeof command,
             "%s --data %s/text.txt" TINY
             "--n_layer 6 --device gpu --eval_fraction 0 --max_steps 1 "
             "--gradient_checkpointing --activation_offload --dataloader_num_workers 3 "
             "| awk '/^  (activations|data) / {n++; bad += $(NF - 1) != $NF} "
             "END {exit n != 2 || bad}'",
             train_program(), scratch_folder());
    cr_assert_eq(shell(command), 0, "%s", output);
    static const char *const way[] = {"--activation_offload --memory_budget 1K",
                                      "--activation_offload", ""};
    static const int status[] = {1, 0, 1};
    size_t bytes = 0;
    for (int i = 0; i < 3; i++) {
        char budget[60] = "";
        if (i > 0) {
            snprintf(budget, sizeof budget, "--memory_budget %zuB", bytes);
        }
        snprintf(command, sizeof command,
                 TINY "--n_layer 6 --device gpu --eval_fraction 0 --measure_only "
                      "--gradient_checkpointing %s %s",
                 way[i], budget);
        cr_assert_eq(train(command), status[i], "%s: %s", command, output);
        const char *takes = strstr(output, "one step takes ");
        if (i == 0) {
            cr_assert(takes != NULL && sscanf(takes, "one step takes %zu bytes", &bytes) == 1);
        }
    }
    scratch_remove();
}
