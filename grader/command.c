/* Programs run without a shell. The contract is in command.h. */
#define _GNU_SOURCE
#include "grader/command.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/base.h"

extern char **environ;

/* All that comes, to be freed. */
static char *command_read(int from) {
    char *text = NULL, part[4096];
    size_t size;
    FILE *to = open_memstream(&text, &size);
    CHECK(to != NULL, "no memory for what a program prints");
    for (ssize_t n; (n = read(from, part, sizeof part)) != 0;) {
        if (n > 0) {
            fwrite(part, 1, (size_t)n, to);
        } else if (errno != EINTR) {
            break;
        }
    }
    fclose(to);
    return text;
}

static bool command_wait(pid_t child) {
    int status;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            return false;
        }
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool command_run(const char *const argv[], char **output) {
    int ends[2] = {-1, -1};
    if (output != NULL && pipe2(ends, O_CLOEXEC) != 0) {
        return false;
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (output != NULL) {
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    }
    pid_t child;
    bool started = posix_spawnp(&child, argv[0], &actions, NULL, (char *const *)argv, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    if (output != NULL) {
        close(ends[1]);
        *output = command_read(ends[0]);
        close(ends[0]);
    }
    return started && command_wait(child);
}

bool command_sha256(const char *path, char hex[65]) {
    char *text;
    bool good = command_run((const char *const[]){"sha256sum", "--", path, NULL}, &text);
    /* A name with a backslash or a newline in it is printed with a backslash before the sum. */
    const char *sum = text[0] == '\\' ? text + 1 : text;
    good = good && strspn(sum, "0123456789abcdef") == 64;
    snprintf(hex, 65, "%.64s", good ? sum : "");
    free(text);
    return good;
}

bool command_remove(const char *folder) {
    return command_run((const char *const[]){"rm", "-rf", "--", folder, NULL}, NULL);
}

void command_quote(FILE *to, const char *word) {
    fputc('\'', to);
    for (; *word != '\0'; word++) {
        fputs(*word == '\'' ? "'\\''" : (const char[]){*word, '\0'}, to);
    }
    fputc('\'', to);
}
