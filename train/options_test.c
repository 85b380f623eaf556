#include "train/options.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* Parses one line of words; the outputs go to `text`. */
static ParseResult parse(const char *line, TrainOptions *options, char *text, size_t bytes) {
    static char copy[512], program[] = "train"; /* the options point into it */
    char *arguments[32];
    int count = 0;
    arguments[count++] = program;
    strcpy(copy, line);
    for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " ")) {
        arguments[count++] = word;
    }
    arguments[count] = NULL;
    memset(text, 0, bytes);
    FILE *stream = fmemopen(text, bytes, "w");
    ParseResult result = options_parse(count, arguments, options, stream, stream);
    fclose(stream);
    return result;
}

Test(options, have_defaults) {
    TrainOptions options;
    char text[64];
    cr_assert_eq(parse("", &options, text, sizeof text), PARSE_RUN);
    cr_assert(options.config.L == 4 && options.config.C == 128 && options.config.V == 256);
    cr_assert(options.B == 8 && options.accumulation == 1 && options.budget == 0);
    cr_assert_float_eq(options.learning_rate, 1e-3, 0);
    cr_assert_str_eq(options.data, "common/data/kit.txt");
    cr_assert_null(options.output_dir);
}

Test(options, are_read) {
    TrainOptions o;
    char text[64];
    const char *line = "--n_layer 2 --n_head 3 --n_embd 12 --dropout 0.25 --attention flash "
                       "--per_device_train_batch_size=3 --learning_rate 1e-4 --seed 7 --fp16 "
                       "--lr_scheduler_type linear --memory_budget 1000B --output_dir out";
    cr_assert_eq(parse(line, &o, text, sizeof text), PARSE_RUN, "%s", text);
    cr_assert(o.config.L == 2 && o.config.NH == 3 && o.config.C == 12 && o.B == 3);
    cr_assert(o.config.dropout == 0.25f && o.config.attention == ATTENTION_FLASH);
    cr_assert(o.fp16 && o.config.precision == F16 && o.seed == 7 && o.decay == DECAY_LINEAR);
    cr_assert(o.budget == 1000 && strcmp(o.output_dir, "out") == 0);
}

/* Segments of one block unless told otherwise; none without checkpointing. */
Test(options, checkpointing_is_settled) {
    static const struct {
        const char *line;
        ParseResult result;
        int segment;
        bool attention_only;
    } cases[] = {{"", PARSE_RUN, 0, false},
                 {"--gradient_checkpointing", PARSE_RUN, 1, false},
                 {"--gradient_checkpointing --checkpoint_segment 3", PARSE_RUN, 3, false},
                 {"--gradient_checkpointing --checkpoint_attention", PARSE_RUN, 0, true},
                 {"--gradient_checkpointing --checkpoint_segment 3 --checkpoint_attention",
                  PARSE_RUN, 3, true},
                 {"--checkpoint_attention", PARSE_ERROR, 0, true},
                 {"--checkpoint_segment 3", PARSE_ERROR, 3, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TrainOptions o;
        char text[128];
        cr_assert_eq(parse(cases[i].line, &o, text, sizeof text), cases[i].result, "%s: %s",
                     cases[i].line, text);
        cr_assert(o.checkpoint.segment == cases[i].segment &&
                      o.checkpoint.attention_only == cases[i].attention_only,
                  "%s", cases[i].line);
    }
}

Test(options, are_held_against_the_model) {
    static const struct {
        const char *line, *want;
    } cases[] = {{"--block_size 129", "longer than n_positions"},
                 {"--block_size 128 --per_device_train_batch_size 8388609", "more than 2^30"},
                 {"--block_size 1 --gradient_checkpointing --checkpoint_segment 5", "has 4 blocks"},
                 {"--block_size 1 --gradient_checkpointing --checkpoint_attention "
                  "--attention flash",
                  "keeps no probabilities"},
                 {"--block_size 128 --per_device_train_batch_size 8388608", NULL},
                 {"--block_size 1 --gradient_checkpointing --checkpoint_segment 4", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TrainOptions o;
        char text[128], error[ERROR_BYTES] = "";
        cr_assert_eq(parse(cases[i].line, &o, text, sizeof text), PARSE_RUN, "%s", text);
        int result = options_check_model(&o, error);
        cr_assert(result == (cases[i].want != NULL ? -1 : 0), "%s: %s", cases[i].line, error);
        cr_assert(cases[i].want == NULL || strstr(error, cases[i].want), "%s", error);
    }
}

Test(options, a_loss_scale_is_that_of_fp16) {
    static const struct {
        const char *line, *want;
    } cases[] = {{"--fp16 --initial_scale_power 24 --loss_scale_window 4", NULL},
                 {"--initial_scale_power 24", "--initial_scale_power needs --fp16"},
                 {"--bf16 --loss_scale_window 4", "--loss_scale_window needs --fp16"},
                 {"--fp16 --initial_scale_power 121", "a whole number from 1 to 120"},
                 {"--fp16 --initial_scale_power 24 --resume_from_checkpoint a", "its own scale"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TrainOptions o;
        char text[256];
        cr_assert_eq(parse(cases[i].line, &o, text, sizeof text),
                     cases[i].want != NULL ? PARSE_ERROR : PARSE_RUN, "%s", cases[i].line);
        cr_assert(cases[i].want == NULL || strstr(text, cases[i].want), "%s", text);
    }
}

Test(options, sizes_have_units) {
    static const struct {
        const char *text;
        size_t bytes;
    } sizes[] = {{"300", 300u << 20}, {"300M", 300u << 20}, {"2G", 2ull << 30},
                 {"1K", 1024},        {"0.5K", 512},        {"77B", 77}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        TrainOptions o;
        char line[64], text[64];
        snprintf(line, sizeof line, "--memory_budget %s", sizes[i].text);
        cr_assert_eq(parse(line, &o, text, sizeof text), PARSE_RUN, "%s", text);
        cr_assert_eq(o.budget, sizes[i].bytes, "%s: %zu", sizes[i].text, o.budget);
    }
}

Test(options, help_names_every_group) {
    static char text[16384];
    TrainOptions o;
    cr_assert_eq(parse("--help", &o, text, sizeof text), PARSE_HELP);
    const char *const words[] = {"Usage:",      "--gradient_accumulation_steps K", "(lab 03)",
                                 "--data FILE", "--resume_from_checkpoint DIR",    "Exit status:"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        cr_assert_not_null(strstr(text, words[i]), "%s", words[i]);
    }
    for (const char *line = text; line != NULL; line = strchr(line + 1, '\n')) {
        cr_assert(strcspn(line + 1, "\n") <= 100, "a line of the help is too long:%.101s", line);
    }
}
