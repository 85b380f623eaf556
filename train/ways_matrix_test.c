/* Ways to share a model x what labs 03, 04, 05 and 07 add x numbers of ranks. Each runs, takes and
   sends the bytes that its formulas say, and ZeRO's checkpoints are those of --ddp. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/safetensors.h"
#include "common/testkit/program.h"
#include "common/testkit/scratch.h"

#define SHAPE                                                                                      \
    " --n_layer 3 --n_head 6 --n_embd 24 --n_positions 16 --per_device_train_batch_size 2 "

/* Of other labs, in a run. */
static const char *const techniques[] = {
    "",
    "--gradient_accumulation_steps 3",
    "--gradient_checkpointing --checkpoint_segment 2",
    "--fp16 --initial_scale_power 8 --gradient_accumulation_steps 2",
    "--bf16 --gradient_checkpointing",
    "--gradient_checkpointing --checkpoint_attention --gradient_accumulation_steps 3",
    "--optim adamw_8bit --n_embd 48 --gradient_accumulation_steps 2 --fp16 --initial_scale_power 8",
    "--optim adafactor --gradient_checkpointing",
    "--optim adafactor --bf16 --gradient_accumulation_steps 2",
};

enum { TECHNIQUES = sizeof techniques / sizeof *techniques };

/* Runs three updates into a folder; nothing that is counted differs from what is predicted. */
static void run_into(const char *folder, int ranks, const char *way, const char *technique) {
    char line[600];
    snprintf(line, sizeof line,
             SHAPE "--max_steps 3 --nproc_per_node %d %s %s --data $S/text.txt --output_dir $S/%s",
             ranks, way, technique, folder);
    cr_assert_eq(train(line), 0, "%s%s", line, output);
    cr_assert_null(strstr(output, "differs"), "%s%s", line, output);
    cr_assert_not_null(strstr(output, "Sent to others:"), "%s%s", line, output);
}

/* With every technique, and number of ranks. */
static void run_all(const char *way, int least) {
    text_file();
    for (int ranks = least; ranks <= 4; ranks += least) {
        for (int t = 0; t < TECHNIQUES; t++) {
            run_into("a", ranks, way, techniques[t]);
        }
    }
    scratch_remove();
}

/* Stages 2 and 3 give gradients away after each micro-batch: they add up sums over ranks, where the
   others sum what each rank has added up. So with accumulation only the bytes are compared. */
static void same_as_ddp(const char *way) {
    bool gives_away = strcmp(way, "--zero 1") != 0;
    text_file();
    for (int ranks = 2; ranks <= 4; ranks++) {
        for (int t = 0; t < TECHNIQUES; t++) {
            if (strstr(techniques[t], "adafactor") != NULL) {
                continue; /* ZeRO cuts at blocks of 256 numbers, and refuses it */
            }
            run_into("a", ranks, "--ddp", techniques[t]);
            run_into("b", ranks, way, techniques[t]);
            if (!gives_away || strstr(techniques[t], "accumulation") == NULL) {
                expect_same_files("a/checkpoint-3", "b/checkpoint-3");
            }
            scratch_remove();
            text_file();
        }
    }
    scratch_remove();
}

Test(ways, zero_1_has_the_bits_of_ddp, .timeout = 300) {
    same_as_ddp("--zero 1");
}

Test(ways, zero_2_has_the_bits_of_ddp, .timeout = 300) {
    same_as_ddp("--zero 2");
}

Test(ways, zero_3_has_the_bits_of_ddp, .timeout = 300) {
    same_as_ddp("--zero 3");
}

/* One technique each: the others are those of stage 3. */
Test(ways, zero_3_with_the_next_unit_on_its_way, .timeout = 300) {
    same_as_ddp("--zero 3 --zero_prefetch");
}

Test(ways, zero_with_states_in_host_memory, .timeout = 300) {
    same_as_ddp("--zero 1 --offload_optimizer");
    same_as_ddp("--zero 3 --zero_prefetch --offload_optimizer");
}

/* The budget of a run with offload has no room for the states. */
Test(ways, states_in_host_memory_fit_where_they_do_not_fit, .timeout = 100) {
    static const char way[] = SHAPE "--max_steps 1 --nproc_per_node 2 --zero 2 --data $S/text.txt ";
    char line[400];
    text_file();
    snprintf(line, sizeof line, "%s--offload_optimizer --predict_only", way);
    cr_assert_eq(train(line), 0, "%s", output);
    const char *total = strstr(output, "total"), *mib = total ? strstr(total, "MiB") : NULL;
    cr_assert_not_null(mib, "%s", output);
    size_t bytes = strtoul(mib + strlen("MiB"), NULL, 10); /* the same on every rank */
    snprintf(line, sizeof line, "%s--memory_budget %zuB --offload_optimizer", way, bytes);
    cr_assert_eq(train(line), 0, "%s", output);
    snprintf(line, sizeof line, "%s--memory_budget %zuB", way, bytes);
    cr_assert_eq(train(line), 1, "%s", output);
    cr_assert_not_null(strstr(output, "out of memory"), "%s", output);
    scratch_remove();
}

/* Two updates and two more are four. */
static void goes_on(const char *precision) {
    static const char way[] = SHAPE "--nproc_per_node 3 --zero 2 --offload_optimizer "
                                    "--gradient_accumulation_steps 2 --data $S/text.txt "
                                    "--lr_scheduler_type constant ";
    static const char *const rest[] = {"--max_steps 4 --output_dir $S/a",
                                       "--max_steps 2 --output_dir $S/b",
                                       ("--max_steps 4 --output_dir $S/b "
                                        "--resume_from_checkpoint latest")};
    char line[400];
    text_file();
    for (int i = 0; i < 3; i++) {
        snprintf(line, sizeof line, "%s%s %s", way, precision, rest[i]);
        cr_assert_eq(train(line), 0, "%s", output);
    }
    expect_same_files("a/checkpoint-4", "b/checkpoint-4");
    scratch_remove();
}

Test(ways, a_run_with_offload_goes_on_bit_for_bit, .timeout = 100) {
    goes_on("");
    goes_on("--fp16");
}

Test(ways, replicas_take_and_send_what_is_predicted, .timeout = 300) {
    run_all("--ddp", 2);
}

Test(ways, pipelines_take_and_send_what_is_predicted, .timeout = 300) {
    run_all("--pipeline 2", 2);
    run_all("--pipeline 3", 3);
}

Test(ways, slices_take_and_send_what_is_predicted, .timeout = 300) {
    run_all("--tensor 2", 2);
    run_all("--tensor 3", 3);
}

/* The last window of an epoch has what is left, and messages grow with it. */
Test(ways, a_window_that_is_not_full_sends_less, .timeout = 100) {
    static const char *const cut[] = {"--pipeline 2", "--tensor 2"};
    char line[400];
    text_file();
    for (int i = 0; i < 2; i++) {
        snprintf(line, sizeof line,
                 SHAPE "--per_device_train_batch_size 200 --num_train_epochs 1 --nproc_per_node 2 "
                       "--data $S/text.txt %s",
                 cut[i]);
        cr_assert_eq(train(line), 0, "%s%s", line, output);
        cr_assert_null(strstr(output, "differs"), "%s%s", line, output);
        cr_assert_not_null(strstr(output, "in an update whose window is full"), "%s", output);
    }
    scratch_remove();
}

/* ---- going on from a save -------------------------------------------------------------------- */

/* Tensors of WIDE models are long enough for codes of a byte. */
#define WIDE " --n_embd 48 "
#define FILES " --data $S/text.txt --dropout 0.1 --documents "

static const char *const ways[] = {
    "--nproc_per_node 2 --tensor 2 --optim adafactor",
    "--nproc_per_node 2 --tensor 2 --optim adamw_8bit" WIDE,
    "--nproc_per_node 3 --tensor 3 --optim adamw_8bit --bf16" WIDE,
    "--nproc_per_node 4 --tensor 2 --optim adafactor --bf16",
    "--nproc_per_node 4 --tensor 2 --optim adamw_8bit --fp16 --device gpu" WIDE,
    "--nproc_per_node 2 --tensor 2 --optim adafactor --device gpu",
    "--nproc_per_node 2 --pipeline 2 --optim adafactor",
    "--nproc_per_node 4 --pipeline 2 --optim adamw_8bit" WIDE,
    "--nproc_per_node 2 --ddp --optim adafactor",
    "--nproc_per_node 2 --zero 3 --optim adamw_8bit" WIDE,
};

Test(ways, with_each_optimizer_resumed_are_uninterrupted_bit_for_bit, .timeout = 300) {
    static const int stops[] = {2, 0};
    char options[500];
    text_file();
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        snprintf(options, sizeof options, SHAPE FILES "%s", ways[i]);
        expect_resumed_is_whole(options, "", 4, stops);
    }
    scratch_remove();
}

/* From $S/two, at step 2, into another folder, at step 3. @return exit status */
static int go_on(const char *folder, const char *with) {
    char line[600];
    snprintf(line, sizeof line,
             SHAPE FILES "--max_steps 3 --output_dir $S/%s %s "
                         "--resume_from_checkpoint $S/two/checkpoint-2",
             folder, with);
    return train(line);
}

static void expect_close(const char *a, const char *b, double most) {
    SafeFile *one = safetensors_open(scratch_path(a));
    SafeFile *other = safetensors_open(scratch_path(b));
    cr_assert(one != NULL && other != NULL);
    cr_assert_eq(safetensors_count(one), safetensors_count(other));
    for (size_t i = 0; i < safetensors_count(one); i++) {
        const SafeTensor *x = safetensors_at(one, i), *y = safetensors_find(other, x->name);
        cr_assert(y != NULL && x->bytes == y->bytes, "%s", x->name);
        if (strstr(x->name, "c_attn.bias") != NULL) {
            continue; /* the gradient of a key's bias is 0, so its update is made of rounding */
        }
        for (size_t k = 0; k < x->bytes / sizeof(float); k++) {
            double p = (double)((const float *)x->data)[k], q = (double)((const float *)y->data)[k];
            cr_assert(fabs(p - q) <= most * (1e-3 + fabs(q)), "%s[%zu]: %g and %g", x->name, k, p,
                      q);
        }
    }
    safetensors_close(one);
    safetensors_close(other);
}

/* Means of rows and columns are those of the whole: any number of slices goes on from them. */
Test(ways, factors_are_cut_anew, .timeout = 120) {
    text_file();
    cr_assert_eq(train(SHAPE FILES "--optim adafactor --nproc_per_node 2 --tensor 2 --max_steps 2 "
                                   "--output_dir $S/two"),
                 0, "%s", output);
    cr_assert_eq(go_on("one", "--optim adafactor"), 0, "%s", output);
    cr_assert_eq(go_on("three", "--optim adafactor --nproc_per_node 3 --tensor 3"), 0, "%s",
                 output);
    cr_assert_eq(go_on("stages", "--optim adafactor --nproc_per_node 2 --pipeline 2"), 0, "%s",
                 output);
    expect_close("one/checkpoint-3/model.safetensors", "three/checkpoint-3/model.safetensors",
                 1e-3);
    expect_close("one/checkpoint-3/optimizer.safetensors",
                 "three/checkpoint-3/optimizer.safetensors", 1e-3);
    expect_close("one/checkpoint-3/model.safetensors", "stages/checkpoint-3/model.safetensors",
                 1e-3);
    scratch_remove();
}

/* 256 codes share a scale: those of a slice are none of the whole, and none of another slice. */
Test(ways, codes_of_slices_are_not_cut_anew, .timeout = 120) {
    static const char *const others[] = {"", "--nproc_per_node 3 --tensor 3",
                                         "--nproc_per_node 2 --pipeline 2",
                                         "--nproc_per_node 2 --zero 1"};
    char with[200];
    text_file();
    cr_assert_eq(train(SHAPE FILES WIDE "--optim adamw_8bit --nproc_per_node 2 --tensor 2 "
                                        "--max_steps 2 --output_dir $S/two"),
                 0, "%s", output);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(with, sizeof with, WIDE "--optim adamw_8bit %s", others[i]);
        cr_assert_eq(go_on("other", with), 2, "%s", output);
        cr_assert_not_null(strstr(output, "was saved by another optimizer: adamw_8bit in "
                                          "slices of --tensor 2 there, adamw_8bit"),
                           "%s", output);
    }
    cr_assert_eq(go_on("four", WIDE "--optim adamw_8bit --nproc_per_node 4 --tensor 2"), 0, "%s",
                 output);
    scratch_remove();
}
