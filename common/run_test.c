/* The program as a user meets it: build/bin/train, started with good and bad input. */
#include "common/run.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/files.h"
#include "common/snapshot.h"
#include "grader/scratch.h"

/* A model that trains in no time. */
#define TINY " --n_layer 2 --n_head 2 --n_embd 16 --n_positions 16 --per_device_train_batch_size 2 "
#define DROPOUT " --dropout 0.1 --documents "

static char output[1 << 16];

static const char *train_program(void) {
    const char *program = getenv("TRAIN");
    return program != NULL ? program : "build/bin/train";
}

/* The text of the tests: lines with empty ones between, different everywhere. */
static const char *text_file(void) {
    static char text[6000];
    size_t length = 0;
    for (int i = 0; length < sizeof text - 64; i++) {
        length += (size_t)snprintf(text + length, 64, "line %d of the text, %d more%s", i,
                                   i * i % 97, i % 3 ? "\n" : "\n\n");
    }
    return scratch_file("text.txt", text, length);
}

/* Runs a shell command; keeps both of its outputs. @return its exit status, or -signal */
static int shell(const char *command) {
    char line[2048];
    snprintf(line, sizeof line, "(%s) 2>&1", command);
    FILE *pipe = popen(line, "r");
    size_t length = fread(output, 1, sizeof output - 1, pipe);
    output[length] = '\0';
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Runs train; ARGUMENTS may use $S for the test's folder. */
static int train(const char *arguments) {
    char command[1600];
    snprintf(command, sizeof command,
             "S=%s; OMP_NUM_THREADS=${THREADS:-2} %s --data $S/text.txt %s", scratch_folder(),
             train_program(), arguments);
    return shell(command);
}

/* The last line of the output. */
static const char *last_line(void) {
    size_t length = strlen(output);
    while (length > 0 && output[length - 1] == '\n') {
        output[--length] = '\0';
    }
    const char *newline = strrchr(output, '\n');
    return newline != NULL ? newline + 1 : output;
}

/* -------------------------------------------------------------------------- bad input */

typedef struct Bad {
    const char *prepare;   /* a shell command, or NULL */
    const char *arguments; /* of train */
    int status;
    const char *want; /* in the line that says why */
} Bad;

/* A checkpoint to spoil. */
#define SAVED "cp -r $S/saved $S/c; "
#define RESUME TINY DROPOUT "--max_steps 3 --resume_from_checkpoint $S/c/checkpoint-2"
#define BUDGET TINY "--max_steps 1 --eval_fraction 0 --memory_budget "

static const Bad bad[] = {
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
    {NULL, "--max_steps ''", 2, "--max_steps: '' is not a whole number"},
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
    {NULL, "--optim sgd", 2, "--optim: 'sgd' is not adamw|adafactor|adamw_8bit"},
    {NULL, "--seed -4", 2, "--seed: '-4' is not a whole number"},
    {NULL, "--eval_fraction 1", 2, "--eval_fraction: '1' is not a number from 0 to 0.9"},
    {NULL, "--memory_budget 0", 2, "--memory_budget: '0' is not a size"},
    {NULL, "--memory_budget 5X", 2, "--memory_budget: '5X' is not a size"},
    {NULL, "--memory_budget 5MB", 2, "--memory_budget: '5MB' is not a size"},
    {NULL, "--memory_budget 1e30G", 2, "--memory_budget: '1e30G' is not a size"},
    {NULL, "--data ''", 2, "--data: '' is not a text that is not empty"},
    {NULL, "--fp16 --bf16", 2, "--fp16 and --bf16 exclude each other"},
    {NULL, "--block_size 200", 2, "--block_size: sequences are longer than n_positions"},
    {NULL, "--model_name_or_path a --resume_from_checkpoint b", 2, "exclude each other"},
    {NULL, "--resume_from_checkpoint latest", 2, "latest needs --output_dir"},
    {NULL, TINY "--per_device_train_batch_size 2000000000", 2, "more than 2^30 tokens"},
    /* labs that are not here yet */
    {NULL, "--gradient_accumulation_steps 2", 2, "needs lab 03"},
    {NULL, "--gradient_checkpointing", 2, "needs lab 04"},
    {NULL, "--fp16", 2, "needs lab 05"},
    {NULL, "--bf16", 2, "needs lab 05"},
    {NULL, "--optim adafactor", 2, "needs lab 07"},
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
    {"mkdir -p $S/o; : > $S/o/checkpoint-1", TINY "--max_steps 1 --output_dir $S/o", 1,
     "checkpoint-1: a finished checkpoint cannot take this name: Not a directory"},
    {NULL, TINY "--max_steps 1 > /dev/full", 1, "standard output: cannot write: No space left"},
    /* checkpoints and models from elsewhere */
    {NULL, TINY "--resume_from_checkpoint $S/none", 2, "none/config.json: cannot read"},
    {"mkdir -p $S/o", TINY "--resume_from_checkpoint latest --output_dir $S/o", 2,
     "no checkpoint-<step> to go on from"},
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
     "has another shape than the model"},
    {SAVED "truncate -s 5 $S/c/checkpoint-2/model.safetensors", RESUME, 2, "too short"},
    {SAVED "truncate -s 100 $S/c/checkpoint-2/model.safetensors", RESUME, 2,
     "cut off in its header"},
    {SAVED "truncate -s -1 $S/c/checkpoint-2/model.safetensors", RESUME, 2, "end behind the file"},
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
    {SAVED "echo '{}' > $S/c/checkpoint-2/trainer_state.json", RESUME, 2, "not a trainer state"},
    {SAVED "sed -i 's/\"row\": \"0/\"row\": \"f/' $S/c/checkpoint-2/trainer_state.json", RESUME, 2,
     "was saved with another text"},
    {SAVED "echo more >> $S/text.txt", RESUME, 2, "was saved with another text"},
    {SAVED "true", RESUME " --seed 1", 2, "was saved with another text, sequence length, seed"},
    {SAVED "chmod 000 $S/c/checkpoint-2/model.safetensors; [ $(id -u) != 0 ] || rm "
           "$S/c/checkpoint-2/model.safetensors",
     RESUME, 2, "checkpoint-2/model.safetensors: "},
};

static size_t bytes_needed(void) {
    cr_assert_eq(train(TINY "--max_steps 1 --eval_fraction 0 --output_dir $S/needs"), 0, "%s",
                 output);
    char command[256];
    snprintf(command, sizeof command, "tail -n 1 %s/needs/metrics.jsonl", scratch_folder());
    shell(command);
    json_error_t error;
    json_t *json = json_loads(output, 0, &error);
    size_t bytes = (size_t)json_integer_value(json_object_get(json, "memory_peak"));
    json_decref(json);
    return bytes;
}

static void check_bad(const Bad *b, size_t bytes) {
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
    /* What is there is whole: the newest checkpoint loads. */
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

/* ------------------------------------------------------------------- same bits, resume */

/* Whether two checkpoints are the same, file for file. */
static void expect_same_checkpoint(const char *a, const char *b) {
    char command[512];
    snprintf(command, sizeof command, "diff -r %s/%s %s/%s", scratch_folder(), a, scratch_folder(),
             b);
    cr_assert_eq(shell(command), 0, "%s and %s differ: %s", a, b, output);
}

Test(run, same_seed_same_bits_with_one_and_two_threads, .timeout = 60) {
    text_file();
    for (int i = 0; i < 3; i++) {
        char line[256];
        snprintf(line, sizeof line, TINY DROPOUT "--max_steps 6 --output_dir $S/%c", 'a' + i);
        setenv("THREADS", i == 2 ? "1" : "2", 1);
        cr_assert_eq(train(line), 0, "%s", output);
    }
    expect_same_checkpoint("a/checkpoint-6", "b/checkpoint-6");
    expect_same_checkpoint("a/checkpoint-6", "c/checkpoint-6");
    scratch_remove();
}

/* Stopped in the middle of an epoch and across one; validation in between must not matter. */
Test(run, resumed_is_uninterrupted_bit_for_bit, .timeout = 120) {
    text_file();
    cr_assert_eq(train(TINY DROPOUT "--max_steps 120 --save_steps 1 --output_dir $S/whole"), 0,
                 "%s", output);
    static const int stops[] = {1, 7, 64, 119};
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        char line[512], name[64];
        snprintf(line, sizeof line,
                 TINY DROPOUT "--max_steps 120 --eval_steps 9 --output_dir $S/again%d "
                              "--resume_from_checkpoint $S/whole/checkpoint-%d",
                 stops[i], stops[i]);
        cr_assert_eq(train(line), 0, "%s", output);
        snprintf(name, sizeof name, "again%d/checkpoint-120", stops[i]);
        expect_same_checkpoint("whole/checkpoint-120", name);
    }
    scratch_remove();
}

Test(run, a_resumed_log_goes_on_where_it_was, .timeout = 60) {
    text_file();
    cr_assert_eq(train(TINY "--max_steps 9 --logging_steps 2 --save_steps 5 --output_dir $S/o"), 0);
    shell("true");
    char command[512];
    snprintf(command, sizeof command,
             "grep -v seconds %s/o/metrics.jsonl | cut -d, -f1-3 > %s/want", scratch_folder(),
             scratch_folder());
    shell(command);
    cr_assert_eq(train(TINY "--max_steps 9 --logging_steps 2 --output_dir $S/o "
                            "--resume_from_checkpoint $S/o/checkpoint-5"),
                 0, "%s", output);
    snprintf(command, sizeof command,
             "grep -v seconds %s/o/metrics.jsonl | cut -d, -f1-3 | diff %s/want -",
             scratch_folder(), scratch_folder());
    cr_assert_eq(shell(command), 0, "%s", output);
    scratch_remove();
}

Test(run, keeps_as_many_checkpoints_as_it_may, .timeout = 60) {
    text_file();
    cr_assert_eq(train(TINY "--max_steps 12 --save_steps 2 --save_total_limit 2 --output_dir $S/o"),
                 0);
    char command[256];
    snprintf(command, sizeof command, "ls %s/o | grep checkpoint | sort | tr '\\n' ' '",
             scratch_folder());
    shell(command);
    cr_assert_str_eq(output, "checkpoint-10 checkpoint-12 ");
    scratch_remove();
}

/* ------------------------------------------------------------------------------ kill -9 */

static pid_t start(const char *const *arguments) {
    pid_t child = fork();
    if (child == 0) {
        freopen("/dev/null", "w", stdout);
        execv(train_program(), (char *const *)arguments);
        _exit(127);
    }
    return child;
}

/* Until there is a first one: a slow build may take a while to start. */
static void wait_for_checkpoint(const char *folder) {
    for (int i = 0; i < 1000; i++) {
        char *latest = snapshot_latest(folder);
        free(latest);
        if (latest != NULL) {
            return;
        }
        usleep(10000);
    }
}

/* Killed at any moment while it saves after every step: what is found is whole. */
Test(run, kill_9_while_saving_leaves_a_loadable_state, .timeout = 300) {
    const char *folder = scratch_path("o");
    const char *arguments[] = {"train",     "--data",
                               text_file(), "--n_layer",
                               "2",         "--n_head",
                               "2",         "--n_embd",
                               "16",        "--n_positions",
                               "16",        "--max_steps",
                               "1000000",   "--save_steps",
                               "1",         "--save_total_limit",
                               "2",         "--logging_steps",
                               "1000000",   "--output_dir",
                               folder,      "--resume_from_checkpoint",
                               "latest",    NULL};
    enum { RESUME_AT = 21, KILLS = 50 };
    Rng rng = rng_new(8, RNG_DATA);
    long step = 0;
    for (int i = 0; i < KILLS; i++) {
        arguments[RESUME_AT] = i == 0 ? NULL : "--resume_from_checkpoint";
        pid_t child = start(arguments);
        wait_for_checkpoint(folder);
        usleep((useconds_t)rng_below(&rng, 120000));
        kill(child, SIGKILL);
        int status;
        waitpid(child, &status, 0);
        cr_assert(WIFSIGNALED(status), "train ended by itself with status %d, kill %d",
                  WEXITSTATUS(status), i);
        char *latest = snapshot_latest(folder);
        cr_assert_not_null(latest, "no checkpoint after kill %d", i);
        long reached = strtol(strrchr(latest, '-') + 1, NULL, 10);
        cr_assert(reached >= step, "back to %ld from %ld", reached, step);
        step = reached;
        free(latest);
    }
    cr_assert_eq(train("--n_layer 2 --n_head 2 --n_embd 16 --n_positions 16 --max_steps 1 "
                       "--output_dir $S/o --resume_from_checkpoint latest"),
                 0, "%s", output);
    char command[256];
    snprintf(command, sizeof command, "ls -A %s | grep unfinished", folder);
    cr_assert_neq(shell(command), 0, "left behind: %s", output);
    scratch_remove();
}

/* ------------------------------------------------------------------------------ outputs */

Test(run, writes_what_it_says, .timeout = 60) {
    text_file();
    cr_assert_eq(train(TINY "--max_steps 4 --logging_steps 1 --eval_steps 2 --output_dir $S/o "
                            "--profile --generate 20"),
                 0, "%s", output);
    const char *const words[] = {"step 4/4",        "Time:",
                                 "Samples/second:", "Memory occupied:",
                                 "unigram entropy", "Where the time goes",
                                 "matmul_backward", "The model goes on from",
                                 "o/memory.svg",    "o/memory.trace.json",
                                 "o/loss.svg"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        cr_assert_not_null(strstr(output, words[i]), "%s is missing in:\n%s", words[i], output);
    }
    cr_assert_null(strstr(output, "differs"), "predicted is not counted:\n%s", output);
    json_error_t error;
    json_t *trace = json_load_file(scratch_path("o/memory.trace.json"), 0, &error);
    cr_assert_not_null(trace, "%s", error.text);
    cr_assert(json_array_size(json_object_get(trace, "traceEvents")) > 50);
    json_decref(trace);
    FILE *svg = fopen(scratch_path("o/memory.svg"), "r");
    size_t length = fread(output, 1, sizeof output - 1, svg);
    fclose(svg);
    output[length] = '\0';
    cr_assert(strstr(output, "<svg") && strstr(output, "activations") && strstr(output, "peak"));
    scratch_remove();
}

/* A picture is a convenience: without gnuplot the run says so, and is good all the same. */
Test(run, without_gnuplot_there_are_no_pictures, .timeout = 60) {
    char command[512];
    text_file();
    snprintf(command, sizeof command,
             "PATH=/nowhere %s --data %s/text.txt" TINY "--max_steps 3 --output_dir %s/o",
             train_program(), scratch_folder(), scratch_folder());
    cr_assert_eq(shell(command), 0, "%s", output);
    cr_assert_not_null(strstr(output, "memory.svg: no picture, because gnuplot cannot be run"),
                       "%s", output);
    cr_assert_not_null(strstr(output, "memory.trace.json"), "%s", output);
    scratch_remove();
}

/* A learning rate that makes the loss NaN: data, not an error; the log stays JSON. */
Test(run, a_loss_that_is_nan_is_reported_as_it_is, .timeout = 60) {
    text_file();
    cr_assert_eq(train(TINY
                       "--max_steps 30 --logging_steps 1 --learning_rate 1e6 --max_grad_norm 0 "
                       "--weight_decay 1e6 --output_dir $S/o"),
                 0, "%s", output);
    cr_assert_not_null(strstr(output, "nan"), "%s", output);
    char command[256];
    snprintf(command, sizeof command, "grep -c null %s/o/metrics.jsonl", scratch_folder());
    cr_assert_eq(shell(command), 0);
    scratch_remove();
}
