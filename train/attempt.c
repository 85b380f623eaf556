/* A part of a program that may end it, in a child. The contract is in attempt.h. */
#include "train/attempt.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/lab.h"
#include "kernels/base.h"

/* Where a child writes its result for its parent to see. */
static void *shared_new(size_t bytes) {
    void *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED, "no memory for %zu bytes", bytes);
    return shared;
}

static int wait_for(pid_t child) {
    int status;
    while (waitpid(child, &status, 0) < 0) {
        CHECK(errno == EINTR, "a child that is not there");
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_RUN;
}

static void copy_all(FILE *from, FILE *to) {
    char part[4096];
    size_t got;
    rewind(from);
    while ((got = fread(part, 1, sizeof part, from)) > 0) {
        fwrite(part, 1, got, to);
    }
}

static void first_line(FILE *from, char *line, int bytes) {
    rewind(from);
    if (fgets(line, bytes, from) != NULL) {
        line[strcspn(line, "\n")] = '\0';
    }
}

Attempt attempt(void (*run)(void *context, void *result), void *context, void *result,
                size_t bytes) {
    Attempt attempt = {0};
    void *shared = shared_new(bytes);
    FILE *errors = tmpfile();
    CHECK(errors != NULL, "no temporary file");
    fflush(stdout); /* or the child would write it too */
    pid_t child = fork();
    CHECK(child >= 0, "no process for an attempt");
    if (child == 0) {
        dup2(fileno(errors), STDERR_FILENO);
        run(context, shared);
        fflush(stdout);
        _exit(0); /* what is to be done at the parent's end is the parent's */
    }
    int status = wait_for(child);
    first_line(errors, attempt.said, sizeof attempt.said);
    attempt.done = status == 0;
    attempt.todo = status == EXIT_TODO || status == EXIT_USAGE;
    memset(result, 0, bytes);
    if (attempt.done) {
        memcpy(result, shared, bytes);
    } else if (!attempt.todo) {
        attempt.status = status;
        copy_all(errors, stderr);
    }
    fclose(errors);
    munmap(shared, bytes);
    return attempt;
}
