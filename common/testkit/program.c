/* Runs the program `train` for a test and keeps its output. The contract is in program.h. */
#include "common/testkit/program.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "common/testkit/scratch.h"

enum { MOST_CPU_SECONDS = 1200 };

char output[1 << 16];

const char *train_program(void) {
    const char *program = getenv("TRAIN");
    return program != NULL ? program : "build/bin/train";
}

const char *text_file(void) {
    static char text[6000];
    size_t length = 0;
    for (int i = 0; length < sizeof text - 64; i++) {
        length += (size_t)snprintf(text + length, 64, "line %d of the text, %d more%s", i,
                                   i * i % 97, i % 3 ? "\n" : "\n\n");
    }
    return scratch_file("text.txt", text, length);
}

/* Where its time limit ends a test, the command goes on. So it holds no output of the tests, whose
   reader would wait for its end, and its time is limited too. */
int shell(const char *command) {
    char line[2048];
    snprintf(line, sizeof line, "exec 2>&1; ulimit -t %d; %s", MOST_CPU_SECONDS, command);
    FILE *pipe = popen(line, "r");
    size_t length = fread(output, 1, sizeof output - 1, pipe);
    output[length] = '\0';
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int train(const char *arguments) {
    char command[1600];
    snprintf(command, sizeof command,
             "S=%s; OMP_NUM_THREADS=${THREADS:-2} %s --data $S/text.txt %s", scratch_folder(),
             train_program(), arguments);
    return shell(command);
}

const char *last_line(void) {
    size_t length = strlen(output);
    while (length > 0 && output[length - 1] == '\n') {
        output[--length] = '\0';
    }
    const char *newline = strrchr(output, '\n');
    return newline != NULL ? newline + 1 : output;
}

void expect_same_files(const char *a, const char *b) {
    char command[512];
    snprintf(command, sizeof command, "diff -r %s/%s %s/%s", scratch_folder(), a, scratch_folder(),
             b);
    cr_assert_eq(shell(command), 0, "%s and %s differ: %s", a, b, output);
}

static void expect_trained(const char *options, const char *more) {
    char line[1024];
    snprintf(line, sizeof line, "%s %s", options, more);
    cr_assert_eq(train(line), 0, "%s: %s", line, output);
}

void expect_resumed_is_whole(const char *options, const char *again, int steps, const int *stops) {
    char more[600], a[64], b[64];
    snprintf(a, sizeof a, "whole/checkpoint-%d", steps);
    snprintf(b, sizeof b, "again/checkpoint-%d", steps);
    snprintf(more, sizeof more, "rm -rf %s/whole %s/again", scratch_folder(), scratch_folder());
    cr_assert_eq(shell(more), 0, "%s", output);
    snprintf(more, sizeof more, "--max_steps %d --save_steps 1 --output_dir $S/whole", steps);
    expect_trained(options, more);
    for (; *stops > 0; stops++) {
        snprintf(more, sizeof more,
                 "%s --max_steps %d --output_dir $S/again "
                 "--resume_from_checkpoint $S/whole/checkpoint-%d",
                 again, steps, *stops);
        expect_trained(options, more);
        expect_same_files(a, b);
    }
}

/* The last line of metrics that has both objects. */
static json_t *summary_of(const char *folder) {
    char path[300], line[4000];
    snprintf(path, sizeof path, "%s/%s/metrics.jsonl", scratch_folder(), folder);
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s", path);
    json_t *summary = NULL;
    while (fgets(line, sizeof line, file) != NULL) {
        json_t *json = json_loads(line, 0, NULL);
        if (json_object_get(json, "memory_by_kind") != NULL) {
            json_decref(summary);
            summary = json_incref(json);
        }
        json_decref(json);
    }
    fclose(file);
    cr_assert_not_null(summary, "%s has no summary", path);
    return summary;
}

void expect_predicted_bytes(const char *options) {
    expect_trained(options, "--max_steps 2 --eval_fraction 0 --output_dir $S/counted");
    json_t *summary = summary_of("counted");
    const json_t *predicted = json_object_get(summary, "predicted_by_kind");
    json_t *counted = json_object_get(summary, "memory_by_kind"), *bytes;
    const char *kind;
    json_object_foreach(counted, kind, bytes) {
        long long got = json_integer_value(bytes);
        long long want = json_integer_value(json_object_get(predicted, kind));
        cr_expect(got == want, "%s: %s: %lld bytes, predicted %lld", options, kind, got, want);
    }
    cr_expect(json_integer_value(json_object_get(counted, "weights")) > 0, "%s: no weights",
              options);
    json_decref(summary);
}
