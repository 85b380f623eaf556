/* Optimizers of lab 07 in the program: resumed, combined with other labs, chosen by --fit. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "common/testkit/program.h"
#include "common/testkit/scratch.h"

/* Matrices long enough for codes of a byte. */
#define WIDE                                                                                       \
    "--data $S/text.txt --n_layer 2 --n_head 2 --n_embd 40 --n_positions 16 "                      \
    "--per_device_train_batch_size 2 --eval_fraction 0 --seed 3 "
#define ALL "--fp16 --gradient_checkpointing --gradient_accumulation_steps 2 --dropout 0.1 "
#define GPU "--device gpu "

static const char *const ways[] = {"--optim adamw_8bit ",           "--optim adafactor ",
                                   "--optim adamw_8bit " ALL,       "--optim adafactor " ALL,
                                   "--optim adamw_8bit " GPU,       "--optim adafactor " GPU,
                                   "--optim adamw_8bit --bf16 " GPU};
enum { WAYS = sizeof ways / sizeof *ways };

Test(optim, resumed_is_uninterrupted_bit_for_bit, .timeout = 300) {
    static const int stops[] = {3, 0};
    char options[400];
    text_file();
    for (int i = 0; i < WAYS; i++) {
        snprintf(options, sizeof options, WIDE "%s", ways[i]);
        expect_resumed_is_whole(options, "", 6, stops);
    }
    scratch_remove();
}

Test(optim, bytes_are_the_predicted_ones, .timeout = 300) {
    char options[400];
    text_file();
    for (int i = 0; i < WAYS; i++) {
        snprintf(options, sizeof options, WIDE "%s", ways[i]);
        expect_predicted_bytes(options);
    }
    scratch_remove();
}

/* In a budget that AdamW's states alone exceed. */
Test(optim, fit_chooses_the_optimizer_that_makes_room, .timeout = 120) {
    text_file();
    cr_assert_eq(train(WIDE "--fit 4 --effective_batch 4 --optim auto --max_steps 2"), 0, "%s",
                 output);
    cr_assert_not_null(strstr(output, "Plan:"), "%s", output);
    cr_assert_null(strstr(output, "adamw_8bit"), "there is room for AdamW: %s", output);
    cr_assert_eq(train(WIDE "--fit 650000B --effective_batch 4 --max_steps 2"), 2, "%s", output);
    cr_assert_eq(train(WIDE "--fit 650000B --effective_batch 4 --optim auto --max_steps 2"), 0,
                 "%s", output);
    cr_assert(strstr(output, "adafactor") != NULL || strstr(output, "adamw_8bit") != NULL, "%s",
              output);
    scratch_remove();
}
