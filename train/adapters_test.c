/* Adapters of lab 10 in the program: resumed, combined with other labs, read, written, merged. */
#include "train/adapters.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/testkit/program.h"
#include "common/testkit/scratch.h"

#define THIN                                                                                       \
    TINY "--lora_r 3 --lora_target_modules c_attn,mlp.c_proj --lora_alpha 7 --lora_dropout 0.2 "
#define ALL "--gradient_checkpointing --gradient_accumulation_steps 2 --dropout 0.1 "

static const char *const ways[] = {
    "",
    "--dropout 0.1 --attention flash ",
    ALL,
    ALL "--fp16 ",
    "--bf16 --gradient_checkpointing --checkpoint_attention ",
    "--gradient_checkpointing --checkpoint_segment 2 ",
    "--device gpu ",
    "--device gpu " ALL "--fp16 ",
    "--optim adamw_8bit --lora_r 100 --lora_alpha 99 ", /* codes of A or of B */
    "--optim adafactor --fp16 ",
    "--optim adafactor --device gpu ",
    ("--optim adamw_8bit --bf16 --lora_r 300 --device gpu " ALL),
};
enum { WAYS = sizeof ways / sizeof *ways };

Test(adapters, resumed_is_uninterrupted_bit_for_bit, .timeout = 300) {
    static const int stops[] = {3, 0};
    char options[400];
    text_file();
    for (int i = 0; i < WAYS; i++) {
        snprintf(options, sizeof options, THIN "%s", ways[i]);
        expect_resumed_is_whole(options, "", 6, stops);
        /* frozen: the model of the sixth step is that of the third */
        expect_same_files("whole/checkpoint-3/model.safetensors",
                          "again/checkpoint-6/model.safetensors");
    }
    scratch_remove();
}

Test(adapters, bytes_are_the_predicted_ones, .timeout = 300) {
    char options[400];
    text_file();
    for (int i = 0; i < WAYS; i++) {
        snprintf(options, sizeof options, THIN "%s", ways[i]);
        expect_predicted_bytes(options);
    }
    scratch_remove();
}

/* With blocks that run again, the masks of the branches are those of the first run. */
Test(adapters, checkpointed_is_plain_bit_for_bit, .timeout = 120) {
    text_file();
    cr_assert_eq(train(THIN DROPOUT "--max_steps 4 --output_dir $S/a"), 0, "%s", output);
    cr_assert_eq(train(THIN DROPOUT "--max_steps 4 --gradient_checkpointing --output_dir $S/b"), 0,
                 "%s", output);
    expect_same_files("a/checkpoint-4", "b/checkpoint-4");
    scratch_remove();
}

/* The first step has the loss of the model that the adapters stand beside. */
Test(adapters, first_loss_is_the_models, .timeout = 60) {
    static char first[sizeof output];
    text_file();
    cr_assert_eq(train(TINY "--max_steps 1 --logging_steps 1 | grep -o 'loss [0-9.]*' | head -1"),
                 0, "%s", output);
    snprintf(first, sizeof first, "%s", output);
    cr_assert_eq(train(THIN "--max_steps 1 --logging_steps 1 | grep -o 'loss [0-9.]*' | head -1"),
                 0, "%s", output);
    cr_expect_str_eq(first, output);
    scratch_remove();
}

/* The numbers after `word` in the output. */
static double number_after(const char *word) {
    const char *at = strstr(output, word);
    return at != NULL ? atof(at + strlen(word)) : (double)NAN;
}

Test(adapters, merged_model_needs_no_adapter, .timeout = 60) {
    text_file();
    cr_assert_eq(train(THIN "--learning_rate 0.05 --max_steps 30 --output_dir $S/o --merge"), 0,
                 "%s", output);
    double merged = number_after("Merged:          validation loss ");
    double beside = number_after("beside its adapters ");
    cr_assert(fabs(merged - beside) <= 1e-5 * beside, "%s", output);
    cr_assert_eq(train(TINY "--model_name_or_path $S/o/merged --max_steps 1 --learning_rate 0"), 0,
                 "%s", output);
    double again = number_after("Validation loss: ");
    cr_expect(fabs(again - beside) <= 1e-4 * beside, "%g, %g", again, beside);
    scratch_remove();
}

/* An adapter that was saved is one to start from, and a run that resumes knows its own. */
Test(adapters, a_saved_adapter_is_one_to_start_from, .timeout = 60) {
    text_file();
    cr_assert_eq(train(THIN "--learning_rate 0.05 --max_steps 20 --output_dir $S/o"), 0, "%s",
                 output);
    double loss = number_after("Validation loss: ");
    cr_assert_eq(train(TINY "--model_name_or_path $S/o/checkpoint-20 --adapter_name_or_path "
                            "$S/o/checkpoint-20 --max_steps 1 --learning_rate 0"),
                 0, "%s", output);
    cr_expect(fabs(number_after("Validation loss: ") - loss) < 1e-4, "%s", output);
    cr_assert_eq(train(TINY "--resume_from_checkpoint $S/o/checkpoint-20 --max_steps 21"), 0, "%s",
                 output);
    cr_expect_not_null(strstr(output, "Adapters: rank 3, alpha 7"));
    scratch_remove();
}

/* ---- bad input ------------------------------------------------------------------------------- */

typedef struct BadAdapter {
    const char *prepare, *arguments, *want;
} BadAdapter;

#define START TINY "--max_steps 1 --model_name_or_path $S/a --adapter_name_or_path $S/a "
#define EDIT(what) "sed -i '" what "' $S/a/adapter_config.json"

static const BadAdapter bad_adapters[] = {
    {"", "--lora_target_modules c_attn", "--lora_target_modules needs --lora_r"},
    {"", "--lora_alpha 3", "--lora_alpha needs --lora_r"},
    {"", "--lora_dropout 0.5", "--lora_dropout needs --lora_r"},
    {"", "--lora_r 0", "--lora_r: '0' is not a whole number from 1"},
    {"", "--lora_r 2 --lora_alpha 0", "--lora_alpha: '0' is not a number"},
    {"", "--lora_r 2 --lora_dropout 1", "--lora_dropout: '1' is not a number"},
    {"", "--lora_r 2 --lora_target_modules q_proj", "'q_proj' stands for no linear layer"},
    {"", "--lora_r 2 --lora_target_modules c_attn,,c_proj", "'' stands for no linear layer"},
    {"", "--lora_r 2 --lora_target_modules c_attn,proj", "'proj' stands for no linear layer"},
    {"", "--lora_r 2 --adapter_name_or_path $S/a", "exclude each other"},
    {"", "--merge --output_dir $S/o", "--merge needs --lora_r"},
    {"", "--lora_r 2 --merge", "--merge needs --output_dir"},
    {"", "--lora_r 2 --fit 20", "exclude each other"},
    {"", TINY "--max_steps 9 --fused_norm --resume_from_checkpoint $S/a",
     "--fused_norm: the checkpoint has adapters"},
    {"", TINY "--max_steps 9 --optim adafactor --resume_from_checkpoint $S/a",
     "was saved by another optimizer"},
    {"", START "--resume_from_checkpoint $S/a", "exclude each other"},
    {"rm $S/a/adapter_config.json", START, "adapter_config.json: cannot read"},
    {"rm $S/a/adapter_model.safetensors", START, "adapter_model.safetensors: No such file"},
    {": > $S/a/adapter_config.json", START, "adapter_config.json: not a JSON object"},
    {EDIT("s/LORA/IA3/"), START, "peft_type is not \"LORA\""},
    {EDIT("s/attn.c_attn/q_proj/"), START, "target_modules has a name that stands for no layer"},
    {EDIT("s/\"r\": 3/\"r\": 4/"), START, "differs in shape from the model"},
    {EDIT("s/\"r\": 3/\"r\": -3/"), START, "r is not a whole number"},
    {EDIT("s/mlp.c_proj/mlp.c_fc/"), START, "c_fc.lora_A.weight\": is missing"},
    {EDIT("s/\"none\"/\"all\"/"), START, "bias is not \"none\""},
    {"truncate -s 100 $S/a/adapter_model.safetensors", START, "cut off in its header"},
    {"truncate -s -1 $S/a/adapter_model.safetensors", START, "end past the end of the file"},
    {"cp $S/a/model.safetensors $S/a/adapter_model.safetensors", START, "is missing"},
    {"printf '\\000\\000\\300\\177' | dd of=$S/a/adapter_model.safetensors bs=1 conv=notrunc "
     "status=none seek=$(($(stat -c %s $S/a/adapter_model.safetensors) - 4))",
     START, "has a number that is not finite"},
    {"", TINY "--max_steps 9 --lora_r 5 --resume_from_checkpoint $S/a",
     "was saved with another adapter"},
    {"rm $S/a/adapter_config.json", TINY "--max_steps 9 --lora_r 3 --resume_from_checkpoint $S/a",
     "was saved without an adapter"},
};

Test(adapters, bad_input_gives_one_line_and_status_2, .timeout = 300) {
    text_file();
    cr_assert_eq(train(THIN "--max_steps 2 --output_dir $S/saved"), 0, "%s", output);
    for (size_t i = 0; i < sizeof bad_adapters / sizeof *bad_adapters; i++) {
        const BadAdapter *b = &bad_adapters[i];
        char command[1600];
        snprintf(command, sizeof command,
                 "S=%s; rm -rf $S/a $S/o; cp -r $S/saved/checkpoint-2 $S/a; %s", scratch_folder(),
                 b->prepare);
        cr_assert_eq(shell(command), 0, "%s: %s", command, output);
        snprintf(command, sizeof command, "S=%s; %s --data $S/text.txt %s 2>&1 > /dev/null",
                 scratch_folder(), train_program(), b->arguments);
        int status = shell(command);
        const char *end = strchr(output, '\n');
        cr_expect(status == 2 && end != NULL && end[1] == '\0' && strstr(output, b->want) != NULL,
                  "train %s\n  status %d; wanted \"%s\", got:\n%s", b->arguments, status, b->want,
                  output);
    }
    scratch_remove();
}
