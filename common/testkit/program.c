/* Runs the program `train` for a test and keeps its output. The contract is in program.h. */
#include "common/testkit/program.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "common/testkit/scratch.h"

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

int shell(const char *command) {
    char line[2048];
    snprintf(line, sizeof line, "(%s) 2>&1", command);
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
