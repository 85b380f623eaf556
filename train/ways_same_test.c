/* Every way to share a model, with what labs 03, 04, 05 and 07 add, is one process that learns from
   the same window, but for rounding: the mathematics is the same, sums are added up in another
   order. And ZeRO takes what lab 12's page says, to the byte. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/safetensors.h"
#include "common/testkit/program.h"
#include "common/testkit/scratch.h"
#include "kernels/tensors.h"
#include "labs/12_zero/contract.h"

/* A large epsilon: an update depends on the gradient's size, and rounding decides nowhere alone. */
#define SHAPE                                                                                      \
    " --n_layer 3 --n_head 6 --n_embd 48 --n_positions 16 --per_device_train_batch_size 2 "        \
    "--max_steps 3 --adam_epsilon 0.01 --data $S/text.txt "

/* How ranks share a model, and how many micro-batches learn beside each other. */
typedef struct SharedWay {
    const char *options;
    int replicas;
} SharedWay;

static const SharedWay ways[] = {
    {"--nproc_per_node 3 --ddp", 3},
    {"--nproc_per_node 3 --zero 1", 3},
    {"--nproc_per_node 3 --zero 2", 3},
    {"--nproc_per_node 3 --zero 3", 3},
    {"--nproc_per_node 2 --zero 3 --zero_prefetch --offload_optimizer", 2},
    {"--nproc_per_node 3 --pipeline 3", 1},
    {"--nproc_per_node 4 --pipeline 2", 2},
    {"--nproc_per_node 3 --tensor 3", 1},
    {"--nproc_per_node 4 --tensor 2", 2},
};

/* Techniques of other labs: options, micro-batches of a window on a rank, how near weights come. */
typedef struct OtherLab {
    const char *options;
    int micros;
    double most;
} OtherLab;

static const OtherLab other_labs[] = {
    {"", 1, 1e-4},
    {"--documents", 3, 1e-4},
    {"--gradient_checkpointing --checkpoint_segment 2", 2, 1e-4},
    {"--fp16 --initial_scale_power 8", 2, 4e-3},
    {"--bf16 --gradient_checkpointing", 1, 2e-2},
    {"--optim adafactor", 2, 1e-3},
    {"--optim adamw_8bit", 2, 2e-3},
};

enum { WAYS = sizeof ways / sizeof *ways, LABS = sizeof other_labs / sizeof *other_labs };

/* Shards have no sums of rows and columns; 256 codes of a slice share another scale than those of
   the whole. */
static bool is_apart(const SharedWay *way, const OtherLab *lab) {
    return (strstr(way->options, "--zero") != NULL && strstr(lab->options, "adafactor") != NULL) ||
           (strstr(way->options, "--tensor") != NULL && strstr(lab->options, "8bit") != NULL);
}

static void run_into(const char *folder, const char *way, const OtherLab *lab, int micros) {
    char line[600];
    snprintf(line, sizeof line, SHAPE "%s %s --gradient_accumulation_steps %d --output_dir $S/%s",
             way, lab->options, micros, folder);
    cr_assert_eq(train(line), 0, "%s%s", line, output);
}

/* The gradient of a key's bias is 0, so what moves it is rounding alone. */
static bool is_noise(const char *name, size_t i, size_t C) {
    return strstr(name, "c_attn.bias") != NULL && C <= i && i < 2 * C;
}

static void expect_near(const char *what, const char *a, const char *b, double most) {
    SafeFile *one = safetensors_open(scratch_path(a)), *other = safetensors_open(scratch_path(b));
    cr_assert(one != NULL && other != NULL, "%s", what);
    for (size_t t = 0; t < safetensors_count(one); t++) {
        const SafeTensor *x = safetensors_at(one, t), *y = safetensors_find(other, x->name);
        size_t n = x->bytes / sizeof(float);
        cr_assert(y != NULL && x->bytes == y->bytes, "%s: %s", what, x->name);
        for (size_t i = 0; i < n; i++) {
            double p = (double)((const float *)x->data)[i], q = (double)((const float *)y->data)[i];
            cr_assert(is_noise(x->name, i, n / 3) || fabs(p - q) <= most * (1e-2 + fabs(q)),
                      "%s: %s[%zu] is %.9g, and %.9g in one process", what, x->name, i, p, q);
        }
    }
    safetensors_close(one);
    safetensors_close(other);
}

static void expect_one_process(const OtherLab *lab) {
    static const char model[] = "checkpoint-3/model.safetensors";
    text_file();
    for (int replicas = 1; replicas <= 3; replicas++) {
        run_into("alone", "", lab, replicas * lab->micros);
        for (int w = 0; w < WAYS; w++) {
            char what[300], alone[100], shared[100];
            if (ways[w].replicas == replicas && !is_apart(&ways[w], lab)) {
                snprintf(what, sizeof what, "%s %s", ways[w].options, lab->options);
                snprintf(alone, sizeof alone, "alone/%s", model);
                snprintf(shared, sizeof shared, "shared/%s", model);
                run_into("shared", ways[w].options, lab, lab->micros);
                expect_near(what, shared, alone, lab->most);
            }
        }
    }
    scratch_remove();
}

Test(ways_same, as_one_process, .timeout = 200) {
    expect_one_process(&other_labs[0]);
    expect_one_process(&other_labs[1]);
}

Test(ways_same, as_one_process_that_runs_blocks_again, .timeout = 200) {
    expect_one_process(&other_labs[2]);
}

Test(ways_same, as_one_process_in_half, .timeout = 200) {
    expect_one_process(&other_labs[3]);
    expect_one_process(&other_labs[4]);
}

Test(ways_same, as_one_process_with_each_optimizer, .timeout = 200) {
    expect_one_process(&other_labs[5]);
    expect_one_process(&other_labs[6]);
    cr_assert_eq(LABS, 7);
}

/* ---- bytes of the default model -------------------------------------------------------------- */

enum { RANKS = 4, PARAMETERS = 842496, BLOCK = 198272 };

/* Numbers in the units of the default model beyond its parameters: of a block, and of all. */
static size_t cut_of_block(const ModelConfig *config) {
    return shard_gathered(config, 3, RANKS).bytes[MEMORY_WEIGHTS] / sizeof(float) - BLOCK;
}

static size_t cut_of_all(const ModelConfig *config) {
    return shard_states(config, 3, RANKS, 0).bytes[MEMORY_WEIGHTS] / sizeof(float) * RANKS -
           PARAMETERS;
}

/* Lab 12's page: 16 bytes of a parameter, of which each stage shares more. */
Test(ways_same, zero_takes_what_its_page_says) {
    static const size_t bytes[] = {13479936, 8424960, 5897472, 3369984};
    const ModelConfig config = {.V = 256, .T = 128, .L = 4, .NH = 4, .C = 128};
    size_t cut = cut_of_all(&config);
    cr_assert_eq(16 * (size_t)PARAMETERS, bytes[0]);
    cr_assert_lt(cut, 5 * RANKS * TENSOR_BLOCK + (2 + 4 * 12) * TENSOR_BLOCK);
    for (int stage = 1; stage <= 3; stage++) {
        size_t all = 0, whole = stage == 1 ? 8 * RANKS : stage == 2 ? 4 * RANKS + 4 : 8;
        for (int rank = 0; rank < RANKS; rank++) {
            MemoryUse stays = shard_states(&config, stage, RANKS, rank);
            all += memory_total(&stays);
        }
        cr_assert_eq(all, RANKS * bytes[stage] + cut * whole, "stage %d: %zu bytes of all ranks",
                     stage, all);
    }
    cr_assert_eq(4 * (BLOCK + cut_of_block(&config)),
                 shard_gathered(&config, 3, RANKS).bytes[MEMORY_WEIGHTS]);
    cr_assert_eq(4 * (size_t)BLOCK, 793088);
}

/* The largest total of any rank that a run of a stage takes. */
static size_t predicted(int stage, char line[400]) {
    static const char shape[] =
        "--nproc_per_node 4 --per_device_train_batch_size 1 --block_size 16 "
        "--max_steps 1 --eval_fraction 0 --data $S/text.txt";
    snprintf(line, 400, stage == 0 ? "%s --ddp" : "%s --zero %d", shape, stage);
    char ask[500];
    snprintf(ask, sizeof ask, "%s --predict_only --metrics $S/metrics.jsonl", line);
    cr_assert_eq(train(ask), 0, "%s", output);
    const char *most = strstr(output, "takes most: "), *total = strstr(output, "total");
    const char *mib = total != NULL ? strstr(total, "MiB") : NULL;
    cr_assert_not_null(mib, "%s", output);
    return strtoul(most != NULL ? most + strlen("takes most: ") : mib + strlen("MiB"), NULL, 10);
}

/* Each stage trains in a budget in which the one before it does not. */
Test(ways_same, each_stage_fits_where_the_one_before_does_not, .timeout = 100) {
    text_file();
    for (int stage = 1; stage <= 3; stage++) {
        char less[400], more[400], line[500];
        size_t bytes = predicted(stage, less);
        cr_assert_lt(bytes, predicted(stage - 1, more), "stage %d takes no less", stage);
        snprintf(line, sizeof line, "%s --memory_budget %zuB", less, bytes);
        cr_assert_eq(train(line), 0, "%s\n%s", line, output);
        snprintf(line, sizeof line, "%s --memory_budget %zuB", more, bytes);
        cr_assert_eq(train(line), 1, "%s\n%s", line, output);
        cr_assert_not_null(strstr(output, "out of memory"), "%s", output);
    }
    scratch_remove();
}
