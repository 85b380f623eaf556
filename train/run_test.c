/* The program as a user meets it: build/bin/train, started and stopped in many ways. */
#include "train/run.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/rng.h"
#include "common/snapshot.h"
#include "common/testkit/program.h"
#include "common/testkit/scratch.h"

/* ---- same bits, resume ----------------------------------------------------------------------- */

Test(run, same_seed_same_bits_with_one_and_two_threads, .timeout = 60) {
    text_file();
    for (int i = 0; i < 3; i++) {
        char line[256];
        snprintf(line, sizeof line, TINY DROPOUT "--max_steps 6 --output_dir $S/%c", 'a' + i);
        setenv("THREADS", i == 2 ? "1" : "2", 1);
        cr_assert_eq(train(line), 0, "%s", output);
    }
    expect_same_files("a/checkpoint-6", "b/checkpoint-6");
    expect_same_files("a/checkpoint-6", "c/checkpoint-6");
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
        expect_same_files("whole/checkpoint-120", name);
    }
    scratch_remove();
}

Test(run, a_resumed_log_goes_on_where_it_was, .timeout = 60) {
    text_file();
    cr_assert_eq(train(TINY "--max_steps 9 --logging_steps 2 --save_steps 5 --output_dir $S/o"), 0);
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

/* ---- kill -9 --------------------------------------------------------------------------------- */

static pid_t start(const char *const *arguments) {
    pid_t child = fork();
    if (child == 0) {
        freopen("/dev/null", "w", stdout);
        execv(train_program(), (char *const *)arguments);
        _exit(127);
    }
    return child;
}

/* The step of the newest checkpoint; 0 where there is none. */
static long latest_step(const char *folder) {
    char *latest = snapshot_latest(folder);
    long step = latest != NULL ? strtol(strrchr(latest, '-') + 1, NULL, 10) : 0;
    free(latest);
    return step;
}

/* Until it saves: a slow build may take a while to start. */
static void wait_for_progress(const char *folder, long step) {
    for (int i = 0; i < 1000 && latest_step(folder) <= step; i++) {
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
        wait_for_progress(folder, step);
        usleep((useconds_t)rng_below(&rng, 120000));
        kill(child, SIGKILL);
        int status;
        waitpid(child, &status, 0);
        cr_assert(WIFSIGNALED(status), "train ended by itself with status %d, kill %d",
                  WEXITSTATUS(status), i);
        long reached = latest_step(folder);
        cr_assert(reached > step, "kill %d: at %ld, was at %ld", i, reached, step);
        step = reached;
    }
    cr_assert_eq(train("--n_layer 2 --n_head 2 --n_embd 16 --n_positions 16 --max_steps 1 "
                       "--output_dir $S/o --resume_from_checkpoint latest"),
                 0, "%s", output);
    char command[256];
    snprintf(command, sizeof command, "ls -A %s | grep unfinished", folder);
    cr_assert_neq(shell(command), 0, "left behind: %s", output);
    scratch_remove();
}

/* ---- outputs --------------------------------------------------------------------------------- */

Test(run, writes_what_it_says, .timeout = 60) {
    text_file();
    cr_assert_eq(train(TINY "--max_steps 4 --logging_steps 1 --eval_steps 2 --output_dir $S/o "
                            "--profile --generate 20"),
                 0, "%s", output);
    const char *const words[] = {"step 4/4",        "Time:",
                                 "Samples/second:", "Memory occupied:",
                                 "unigram entropy", "Where the time goes",
                                 "matmul_backward", "The model continues",
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

/* The peak of the window, and that of the same sequences at once: what a run of them counts. */
Test(run, windows_say_what_one_batch_would_take, .timeout = 60) {
    text_file();
    cr_assert_eq(train(TINY "--max_steps 2 --per_device_train_batch_size 6"), 0, "%s", output);
    cr_assert_null(strstr(output, "At once:"), "%s", output);
    const char *peak = strstr(output, "Memory occupied: ");
    double counted = peak != NULL ? atof(peak + strlen("Memory occupied: ")) : 0;
    char want[128];
    snprintf(want, sizeof want, "the same 6 sequences as one batch would take %.2f MiB\n", counted);
    cr_assert_eq(train(TINY "--max_steps 2 --per_device_train_batch_size 2 "
                            "--gradient_accumulation_steps 3"),
                 0, "%s", output);
    cr_assert_not_null(strstr(output, want), "%s is not in\n%s", want, output);
    scratch_remove();
}

/* A scale that begins too high falls, a step each time, and rises after good steps in a row. */
Test(run, a_scale_that_falls_and_rises_is_reported, .timeout = 60) {
    text_file();
    cr_assert_eq(train(TINY "--fp16 --initial_scale_power 40 --loss_scale_window 4 --max_steps 8 "
                            "--output_dir $S/o"),
                 0, "%s", output);
    const char *const lines[] = {
        "step 1  skipped: a gradient is not finite; the loss scale falls from 2^40 to 2^39\n",
        "step 4  the loss scale rises from 2^"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        cr_assert_not_null(strstr(output, lines[i]), "%s", output);
    }
    char command[256];
    snprintf(command, sizeof command,
             "grep -c '\"step\":4,\"loss_scale\":[0-9]*\\.0}' %s/o/metrics.jsonl",
             scratch_folder());
    cr_assert_eq(shell(command), 0, "%s", output);
    scratch_remove();
}

/* A picture is a convenience: without gnuplot the run says so, and succeeds anyway. */
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

/* Bets are compared with what the last object of the metrics says. */
Test(run, the_last_object_has_the_shape_and_what_was_seen, .timeout = 60) {
    text_file();
    cr_assert_eq(train(TINY "--max_steps 3 --per_device_train_batch_size 2 "
                            "--gradient_accumulation_steps 4 --gradient_checkpointing "
                            "--eval_fraction 0.2 --metrics $S/m"),
                 0, "%s", output);
    FILE *metrics = fopen(scratch_path("m"), "r");
    cr_assert_not_null(metrics);
    json_t *last = NULL, *line;
    while ((line = json_loadf(metrics, JSON_DISABLE_EOF_CHECK, NULL)) != NULL) {
        json_decref(last);
        last = line;
    }
    fclose(metrics);
    json_t *shape = json_object_get(last, "shape");
    json_int_t L = json_integer_value(json_object_get(shape, "L"));
    cr_expect_eq(json_integer_value(json_object_get(shape, "B")), 2);
    cr_expect_eq(json_integer_value(json_object_get(shape, "K")), 4);
    cr_expect_eq(json_integer_value(json_object_get(shape, "S")), 1);
    cr_expect_eq(json_integer_value(json_object_get(last, "updates")), 3);
    cr_expect_eq(json_integer_value(json_object_get(last, "skipped")), 0);
    /* All blocks once, and all but the last again, in each of 3 * 4 micro-batches. */
    cr_expect_eq(json_integer_value(json_object_get(last, "block_forwards")), 12 * (2 * L - 1));
    double first = json_real_value(json_object_get(last, "first_loss"));
    cr_expect(first > 5 && first < 6, "the first loss is near ln 256: %g", first);
    json_decref(last);
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

/* ---- threads that wait: kernels/threads.h ---------------------------------------------------- */

/* The settings that the OpenMP runtime has read, for `train` with these settings: how long its
   threads spin. A runtime is gcc's, in rounds of a loop, or clang's, in milliseconds. */
static void expect_spin(const char *settings, const char *rounds, const char *milliseconds) {
    char line[512], gcc[64], clang[64];
    snprintf(line, sizeof line,
             "env -u OMP_WAIT_POLICY -u GOMP_SPINCOUNT %s OMP_DISPLAY_ENV=verbose %s --help",
             settings, train_program());
    cr_assert_eq(shell(line), 0, "%s", output);
    snprintf(gcc, sizeof gcc, "GOMP_SPINCOUNT = '%s'", rounds);
    snprintf(clang, sizeof clang, "KMP_BLOCKTIME='%s'", milliseconds);
    cr_expect(strstr(output, gcc) != NULL || strstr(output, clang) != NULL,
              "with \"%s\": neither %s nor %s", settings, gcc, clang);
}

Test(run, threads_that_wait_soon_sleep_unless_the_user_says_otherwise) {
    expect_spin("", "1000", "0");
    expect_spin("OMP_WAIT_POLICY=active", "30000000000", "2147483647");
    expect_spin("GOMP_SPINCOUNT=77", "77", "200");
}

/* This program borrows the place of PATH as well, and its children get both. */
Test(run, the_environment_is_whole_again) {
    const char *path = getenv("PATH");
    cr_expect(path != NULL && strchr(path, '/') != NULL, "PATH is %s", path);
    cr_expect(getenv("OMP_WAIT_POLICY") != NULL || getenv("GOMP_SPINCOUNT") != NULL,
              "children would spin");
}
