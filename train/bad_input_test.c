/* Bad input gives one line and a status, and leaves nothing half-written. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/testkit/program.h"
#include "common/testkit/scratch.h"

typedef struct BadInput {
    const char *prepare;   /* a shell command, or NULL */
    const char *arguments; /* of train */
    int status;
    const char *want; /* in the line that says why */
} BadInput;

/* A checkpoint to spoil. */
#define SAVED "cp -r $S/saved $S/c; "
#define RESUME TINY DROPOUT "--max_steps 3 --resume_from_checkpoint $S/c/checkpoint-2"
#define BUDGET TINY "--max_steps 1 --eval_fraction 0 --memory_budget "

static const BadInput bad[] = {
    /* options */
    {NULL, "--no_such_option", 2, "unknown or ambiguous option --no_such_option"},
    {NULL, "--n_", 2, "unknown or ambiguous option --n_"},
    {NULL, "-x", 2, "unknown or ambiguous option -x"},
    {NULL, "--fp16=1", 2, "unknown or ambiguous option --fp16=1"},
    {NULL, "--max_steps", 2, "--max_steps needs a value"},
    {NULL, "stray", 2, "unexpected argument 'stray'"},
    {NULL, "--max_steps 3x", 2, "--max_steps: '3x' is not a whole number"},
    {NULL, "--max_steps -1", 2, "--max_steps: '-1' is not a whole number from 0"},
    {NULL, "--max_steps 99999999999999999999", 2, "is not a whole number"},
    {NULL, "--max_steps ''", 2, "--max_steps must not be empty"},
    {NULL, "--n_layer 0", 2, "--n_layer: '0' is not a whole number from 1"},
    {NULL, "--n_layer 4097", 2, "n_layer = 4097"},
    {NULL, "--n_head 3", 2, "n_head = 3: must divide n_embd"},
    {NULL, "--n_embd 2147483647", 2, "n_embd = 2147483647"},
    {NULL, "--n_positions 1e3", 2, "--n_positions: '1e3' is not a whole number"},
    {NULL, "--vocab_size 255", 2, "--vocab_size: '255' is not a whole number from 256"},
    {NULL, "--dropout 1", 2, "dropout = 1"},
    {NULL, "--dropout nan", 2, "--dropout: 'nan' is not a number"},
    {NULL, "--dropout -0.1", 2, "--dropout: '-0.1' is not a number from 0"},
    {NULL, "--learning_rate inf", 2, "--learning_rate: 'inf' is not a number"},
    {NULL, "--learning_rate", 2, "--learning_rate needs a value"},
    {NULL, "--adam_beta1 1", 2, "--adam_beta1: '1' is not a number"},
    {NULL, "--attention fast", 2, "--attention: 'fast' is not plain|flash"},
    {NULL, "--attention pla", 2, "--attention: 'pla' is not plain|flash"},
    {NULL, "--device tpu", 2, "--device: 'tpu' is not cpu|gpu"},
    {NULL, "--optim sgd", 2, "--optim: 'sgd' is not adamw|adafactor|adamw_8bit|auto"},
    {NULL, "--seed -4", 2, "--seed: '-4' is not a whole number"},
    {NULL, "--eval_fraction 1", 2, "--eval_fraction: '1' is not a number from 0 to 0.9"},
    {NULL, "--memory_budget 0", 2, "--memory_budget: '0' is not a size"},
    {NULL, "--memory_budget 5X", 2, "--memory_budget: '5X' is not a size"},
    {NULL, "--memory_budget 5MB", 2, "--memory_budget: '5MB' is not a size"},
    {NULL, "--memory_budget 1e30G", 2, "--memory_budget: '1e30G' is not a size"},
    {NULL, "--data ''", 2, "--data must not be empty"},
    {NULL, "--cuda_graph", 2, "--cuda_graph needs --device gpu: a CPU launches nothing"},
    {NULL, "--check_launches", 2, "--check_launches needs --device gpu: a CPU launches nothing"},
    {NULL, "--cuda_graph --device gpu --check_launches", 2,
     "--cuda_graph and --check_launches exclude each other: what a graph launches does not wait"},
    {NULL, "--cuda_graph --device gpu --check_memory", 2,
     "--cuda_graph and --check_memory exclude"},
    {NULL, "--cuda_graph --device gpu --nproc_per_node 2", 2,
     "--cuda_graph and --nproc_per_node exclude each other: what ranks send"},
    {NULL, "--nproc_per_node 65 --device gpu", 2,
     "--nproc_per_node 65: up to 64 ranks train in one process; more only in a dry run"},
    {NULL, "--cuda_graph --device gpu --optim adafactor", 2,
     "--cuda_graph and --optim exclude each other"},
    {NULL, "--fused_head --lora_r 4", 2, "--fused_head and --lora_r exclude each other"},
    {NULL, "--fused_norm --fit 100M", 2, "--fit and --fused_norm exclude each other"},
    {NULL, "--fp16 --bf16", 2, "--fp16 and --bf16 exclude each other"},
    {NULL, "--dataloader_num_workers 17", 2, "'17' is not a whole number from 0 to 16"},
    {NULL, "--dataloader_pin_memory yes", 2, "'yes' is not false|true"},
    {NULL, "--dataloader_num_workers 1", 2, "--dataloader_num_workers needs --device gpu"},
    {NULL, "--dataloader_pin_memory false", 2, "false needs --dataloader_num_workers"},
    {NULL, "--gradient_checkpointing --activation_offload", 2,
     "--activation_offload needs --device gpu"},
    {NULL, "--device gpu --activation_offload", 2, "needs --gradient_checkpointing"},
    {NULL, "--device gpu --activation_offload --gradient_checkpointing --checkpoint_attention", 2,
     "--activation_offload and --checkpoint_attention exclude each other"},
    {NULL, "--device gpu --fit 20 --dataloader_num_workers 1", 2,
     "--fit and --dataloader_num_workers exclude each other"},
    {NULL, "--device gpu --measure_only --dataloader_num_workers 1", 2,
     "--measure_only and --dataloader_num_workers exclude each other: it counts"},
    {NULL, "--block_size 200", 2, "--block_size: sequences are longer than n_positions"},
    {NULL, "--model_name_or_path a --resume_from_checkpoint b", 2, "exclude each other"},
    {NULL, "--resume_from_checkpoint latest", 2, "latest needs --output_dir"},
    {NULL, TINY "--per_device_train_batch_size 2000000000", 2, "more than 2^30 tokens"},
    /* options that need each other, or exclude each other */
    {NULL, "--gradient_accumulation_steps 0", 2, "'0' is not a whole number from 1"},
    {NULL, "--checkpoint_segment 2", 2, "--checkpoint_segment needs --gradient_checkpointing"},
    {NULL, "--checkpoint_attention", 2, "--checkpoint_attention needs --gradient_checkpointing"},
    {NULL, "--gradient_checkpointing --checkpoint_segment 0", 2, "'0' is not a whole number"},
    {NULL, "--gradient_checkpointing --checkpoint_segment 5", 2,
     "--checkpoint_segment 5: the model has 4 blocks"},
    {NULL, "--gradient_checkpointing --checkpoint_attention --attention flash", 2,
     "flash attention keeps no probabilities"},
    {NULL, "--predict_only=1", 2, "unknown or ambiguous option --predict_only=1"},
    {NULL, "--predict_only --measure_only", 2, "exclude each other"},
    {NULL, "--predict_only --block_size 200", 2, "sequences are longer"},
    {NULL, "--optim auto", 2, "--optim auto needs --fit"},
    /* ranks: said once for all of them */
    {NULL, "--zero 4 --nproc_per_node 4", 2, "--zero: '4' is not a whole number from 1 to 3"},
    {NULL, "--tensor 3 --n_head 4 --nproc_per_node 3", 2, "--tensor 3: must divide n_head = 4"},
    {NULL, "--pipeline 5 --n_layer 4 --nproc_per_node 5", 2,
     "--pipeline 5: the model has 4 blocks, each stage needs one"},
    {NULL, "--ddp", 2, "--ddp needs several ranks"},
    {NULL, "--zero 2", 2, "--zero needs several ranks"},
    {NULL, "--offload_optimizer", 2,
     "--offload_optimizer needs --zero: it moves the states of a rank's shard"},
    {NULL, "--ddp --offload_optimizer --nproc_per_node 2", 2, "--offload_optimizer needs --zero"},
    {NULL, "--zero_prefetch", 2, "--zero_prefetch needs --zero 3: up to stage 2 weights are whole"},
    {NULL, "--zero 2 --zero_prefetch --nproc_per_node 2", 2, "--zero_prefetch needs --zero 3"},
    {NULL, "--tensor 2", 2, "--tensor 2 needs as many ranks"},
    {NULL, "--tensor 2 --nproc_per_node 3", 2, "must divide the number of ranks, 3"},
    {NULL, "--pipeline 2 --nproc_per_node 3", 2, "must divide the number of ranks, 3"},
    {NULL, "--ddp --zero 1 --nproc_per_node 2", 2, "--ddp and --zero exclude each other"},
    {NULL, "--zero 1 --tensor 2 --nproc_per_node 2", 2, "--zero and --tensor exclude each other"},
    {NULL, "--pipeline 2 --tensor 2 --nproc_per_node 4", 2,
     "--pipeline and --tensor exclude each other"},
    {NULL, "--pipeline 2 --nproc_per_node 2 --generate 5", 2,
     "--pipeline and --generate exclude each other: no rank has the whole model: resume without "
     "--pipeline"},
    {NULL, "--tensor 2 --nproc_per_node 2 --lora_r 4", 2,
     "--tensor and --lora_r exclude each other: an adapter"},
    {NULL, "--tensor 2 --nproc_per_node 2 --fused_head", 2,
     "--tensor and --fused_head exclude each other"},
    {SAVED "truncate -s 100 $S/c/checkpoint-2/model.safetensors",
     RESUME " --tensor 2 --nproc_per_node 2", 2, "model.safetensors:"},
    /* texts */
    {NULL, "--data $S/missing", 2, "missing: No such file or directory"},
    {NULL, "--data $S", 2, "not a regular file"},
    {NULL, "--data /dev/zero", 2, "/dev/zero: not a regular file"},
    {": > $S/empty", "--data $S/empty", 2, "the file is empty"},
    {"printf a > $S/one", "--data $S/one", 2, "1 bytes are too few"},
    {"printf abc > $S/one", "--data $S/one --n_positions 2", 2, "3 bytes are too few"},
    {"truncate -s 5G $S/large", "--data $S/large", 2, "5368709120 bytes are too many"},
    /* budgets; BYTES is what the run needs */
    {NULL, BUDGET "0.1", 1, "out of memory: 0."},
    {NULL, BUDGET "$((BYTES - 1))B", 1, "short by 1 bytes"},
    {NULL, BUDGET "1B", 1, "out of memory"},
    /* output folders */
    {NULL, TINY "--max_steps 1 --output_dir /dev/null", 2, "/dev/null: cannot create folder"},
    {": > $S/file", TINY "--max_steps 1 --output_dir $S/file/x", 2,
     "file/x: cannot create folder: Not a directory"},
    {NULL, TINY "--max_steps 1 --output_dir /proc/nowhere", 2, "cannot create folder"},
    {"mkdir -p $S/o/metrics.jsonl", TINY "--max_steps 1 --output_dir $S/o", 1,
     "metrics.jsonl: cannot"},
    {NULL, TINY "--max_steps 1 --metrics $S/none/m", 1, "none/m: cannot write: No such file"},
    {NULL, TINY "--predict_only --metrics $S/none/m", 1, "none/m: cannot write: No such file"},
    {NULL, TINY "--measure_only --metrics $S/none/m", 1, "none/m: cannot write: No such file"},
    {"mkdir -p $S/o; : > $S/o/checkpoint-1", TINY "--max_steps 1 --output_dir $S/o", 1,
     "checkpoint-1: cannot give the finished checkpoint this name: Not a directory"},
    {NULL, TINY "--max_steps 1 > /dev/full", 1, "standard output: cannot write: No space left"},
    {NULL, TINY "--predict_only > /dev/full", 1, "standard output: cannot write: No space left"},
    {NULL, "--help > /dev/full", 1, "standard output: cannot write: "},
    /* checkpoints and models from elsewhere */
    {NULL, TINY "--resume_from_checkpoint $S/none", 2, "none/config.json: cannot read"},
    {"mkdir -p $S/o", TINY "--resume_from_checkpoint latest --output_dir $S/o", 2,
     "no checkpoint-<step> to resume from"},
    {NULL, "--model_name_or_path $S/none", 2, "none/config.json: cannot read"},
    {SAVED "rm $S/c/checkpoint-2/model.safetensors", RESUME, 2, "model.safetensors: No such file"},
    {SAVED "rm $S/c/checkpoint-2/optimizer.safetensors", RESUME, 2,
     "optimizer.safetensors: No such"},
    {SAVED "rm $S/c/checkpoint-2/trainer_state.json", RESUME, 2, "trainer_state.json: cannot read"},
    {SAVED ": > $S/c/checkpoint-2/config.json", RESUME, 2, "config.json: not a JSON object"},
    {SAVED "sed -i s/gpt2/gptj/ $S/c/checkpoint-2/config.json", RESUME, 2, "is not \"gpt2\""},
    {SAVED "sed -i 's/\"n_head\": 2/\"n_head\": 3/' $S/c/checkpoint-2/config.json", RESUME, 2,
     "n_head = 3: must divide"},
    {SAVED "sed -i 's/\"n_embd\": 16/\"n_embd\": 32/' $S/c/checkpoint-2/config.json", RESUME, 2,
     "differs in shape from the model"},
    {SAVED "truncate -s 5 $S/c/checkpoint-2/model.safetensors", RESUME, 2, "too short"},
    {SAVED "truncate -s 100 $S/c/checkpoint-2/model.safetensors", RESUME, 2,
     "cut off in its header"},
    {SAVED "truncate -s -1 $S/c/checkpoint-2/model.safetensors", RESUME, 2,
     "end past the end of the file"},
    {SAVED "printf '\\377\\377\\377\\377\\377\\003' | dd of=$S/c/checkpoint-2/model.safetensors "
           "conv=notrunc status=none",
     RESUME, 2, "not a safetensors file"},
    {SAVED "printf 'xx' | dd of=$S/c/checkpoint-2/model.safetensors bs=1 seek=8 conv=notrunc "
           "status=none",
     RESUME, 2, "not a JSON object"},
    {SAVED "sed -i s/transformer.wpe/transformer.wpx/ $S/c/checkpoint-2/model.safetensors", RESUME,
     2, "a tensor that the model does not have"},
    {SAVED "printf '\\000\\000\\300\\177' | dd of=$S/c/checkpoint-2/model.safetensors bs=1 "
           "seek=$(($(stat -c %s $S/c/checkpoint-2/model.safetensors) - 4)) conv=notrunc "
           "status=none",
     RESUME, 2, "has a number that is not finite"},
    {SAVED "cp $S/c/checkpoint-2/model.safetensors $S/c/checkpoint-2/optimizer.safetensors", RESUME,
     2, "no step count in its metadata"},
    {SAVED ":", RESUME " --optim adafactor", 2,
     "was saved by another optimizer: adamw there, adafactor here"},
    {SAVED ":", RESUME " --optim adamw_8bit", 2, "was saved by another optimizer"},
    {SAVED "echo '{}' > $S/c/checkpoint-2/trainer_state.json", RESUME, 2, "not a trainer state"},
    {SAVED "sed -i 's/\"row\": \"0/\"row\": \"f/' $S/c/checkpoint-2/trainer_state.json", RESUME, 2,
     "was saved with another text"},
    {SAVED "echo more >> $S/text.txt", RESUME, 2, "was saved with another text"},
    {SAVED "true", RESUME " --gradient_checkpointing --checkpoint_segment 3", 2,
     "--checkpoint_segment 3: the model has 2 blocks"},
    {SAVED "true", RESUME " --seed 1", 2, "was saved with another text, sequence length, seed"},
    {SAVED "chmod 000 $S/c/checkpoint-2/model.safetensors; [ $(id -u) != 0 ] || rm "
           "$S/c/checkpoint-2/model.safetensors",
     RESUME, 2, "checkpoint-2/model.safetensors: "},
};

static size_t bytes_needed(void) {
    cr_assert_eq(train(TINY "--max_steps 1 --eval_fraction 0 --metrics $S/needs"), 0, "%s", output);
    char command[256];
    snprintf(command, sizeof command, "tail -n 1 %s/needs", scratch_folder());
    shell(command);
    json_error_t error;
    json_t *json = json_loads(output, 0, &error);
    size_t bytes = (size_t)json_integer_value(json_object_get(json, "memory_peak"));
    json_decref(json);
    return bytes;
}

static void check_bad(const BadInput *b, size_t bytes) {
    char prepare[1024], arguments[1024];
    snprintf(prepare, sizeof prepare, "S=%s; rm -rf $S/c $S/o; %s", scratch_folder(),
             b->prepare != NULL ? b->prepare : "true");
    cr_assert_eq(shell(prepare), 0, "%s: %s", prepare, output);
    snprintf(arguments, sizeof arguments, "%s", b->arguments);
    char *redirect = strstr(arguments, "> /dev/full");
    if (redirect != NULL) {
        *redirect = '\0';
    }
    char command[1600];
    snprintf(command, sizeof command, "S=%s; BYTES=%zu; %s --data $S/text.txt %s %s",
             scratch_folder(), bytes, train_program(), arguments,
             redirect != NULL ? "2>&1 > /dev/full" : "2>&1 > /dev/null");
    int status = shell(command);
    size_t lines = 0;
    for (const char *c = output; *c != '\0'; c++) {
        lines += *c == '\n';
    }
    bool told = strstr(output, b->want) != NULL;
    bool short_enough = lines == 1 || (lines == 2 && strstr(output, "out of memory") != NULL);
    cr_expect(status == b->status && told && short_enough,
              "train %s\n  status %d, wanted %d; wanted \"%s\", got:\n%s", b->arguments, status,
              b->status, b->want, output);
}

Test(run, bad_input_gives_one_line_and_a_status, .timeout = 300) {
    unsetenv("ONEDNN_MAX_CPU_ISA");
    unsetenv("OPENBLAS_CORETYPE");
    text_file();
    size_t bytes = bytes_needed();
    cr_assert_eq(train(TINY DROPOUT "--max_steps 2 --output_dir $S/saved"), 0, "%s", output);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        text_file(); /* one of the cases appends to it */
        check_bad(&bad[i], bytes);
    }
    cr_assert(sizeof bad / sizeof *bad >= 60);
    scratch_remove();
}

/* The same program as a student has it after lab 02. */
Test(run, says_which_lab_is_missing) {
    static const char *const cases[][2] = {
        {"--gradient_accumulation_steps 2",
         "needs lab 03 (03_accumulate/accumulate.c is not here)"},
        {"--gradient_checkpointing", "needs lab 04 (04_checkpoint/checkpoint.c is not here)"},
        {"--fp16 --predict_only", "needs lab 05 (05_fp16/scaler.c is not here)"},
        {"--bf16 --gradient_checkpointing", "needs lab 05 (05_fp16/scaler.c is not here)"},
        {"--bf16 --device gpu", "needs lab 05 (05_fp16/cast.cu is not here)"},
    };
    char program[512], command[512 + 128];
    snprintf(program, sizeof program, "%s-02", train_program());
    if (access(program, X_OK) != 0) {
        cr_skip("%s is not here", program);
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(command, sizeof command, "%s %s", program, cases[i][0]);
        cr_expect_eq(shell(command), 2, "%s: %s", command, output);
        cr_expect_str_eq(last_line(), cases[i][1]);
    }
    snprintf(command, sizeof command, "%s " TINY "--max_steps 1", program);
    cr_expect_eq(shell(command), 0, "%s", output);
}

Test(run, the_budget_fits_to_the_byte) {
    char arguments[256];
    text_file();
    snprintf(arguments, sizeof arguments, BUDGET "%zuB", bytes_needed());
    cr_assert_eq(train(arguments), 0, "%s", output);
    scratch_remove();
}

/* A disk that is full: in the middle of a line, of a checkpoint, at once. */
Test(run, a_full_disk_leaves_nothing_half_written, .timeout = 60) {
    char command[512];
    text_file();
    snprintf(command, sizeof command, "mkdir %s/disk && mount -t tmpfs -o size=400k none %s/disk",
             scratch_folder(), scratch_folder());
    if (shell(command) != 0) {
        cr_skip("no tmpfs can be mounted here");
    }
    int status = train(TINY "--max_steps 40 --save_steps 5 --output_dir $S/disk/run");
    const char *line = last_line();
    cr_assert(status == 1 && strstr(line, "No space left on device"), "status %d: %s", status,
              line);
    /* The newest checkpoint that is there loads. */
    status = train(TINY "--max_steps 1 --resume_from_checkpoint $(ls -d $S/disk/run/checkpoint-* | "
                        "sort -V | tail -n 1)");
    cr_assert_eq(status, 0, "%s", output);
    snprintf(command, sizeof command, "ls -A %s/disk/run", scratch_folder());
    shell(command);
    cr_assert_null(strstr(output, "unfinished"), "%s", output);
    cr_assert_null(strstr(output, ".part"), "%s", output);
    snprintf(command, sizeof command, "umount %s/disk", scratch_folder());
    shell(command);
    scratch_remove();
}
