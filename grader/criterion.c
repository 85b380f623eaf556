/* All that exists only because of Criterion. It has no way to run a test without a worker, and
   names things after processes: a socket in /tmp after the judge, shared memory after each worker.
   A judge that was killed leaves them there; where they are another user's, a judge whose process
   gets the same number cannot take the name, and ends. Then the rest is started again: the next
   process has another number. */
#define _GNU_SOURCE
#include "grader/criterion.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/lab.h"
#include "kernels/base.h"

enum { PATH = 4096, TAKEN = 100, TRIES = 100 };

const char *criterion_row(const Judge *judge, const char *check, char *path, int size) {
    CHECK(snprintf(path, (size_t)size, "%s/row-%s.json", judge->folder, check) < size,
          "the name of a row is too long: %s", check);
    return path;
}

/* Where the judge's stderr goes. */
static void said_path(const Judge *judge, char path[PATH]) {
    CHECK(snprintf(path, PATH, "%s/said", judge->folder) < PATH, "too long: %s", judge->folder);
}

char *criterion_fault(const Judge *judge) {
    char path[PATH], *line = NULL, *fault = NULL;
    size_t size = 0;
    said_path(judge, path);
    FILE *said = fopen(path, "r");
    while (said != NULL && getline(&line, &size, said) > 0) {
        if (strstr(line, ": CHECK(") != NULL) {
            free(fault);
            CHECK(asprintf(&fault, "a fault of the judge: %s", line) > 0, "no memory for a line");
        }
    }
    if (said != NULL) {
        fclose(said);
    }
    free(line);
    if (fault == NULL) {
        fault = strdup("a fault of the judge: it crashed, or had no time left");
    }
    CHECK(fault != NULL, "no memory for a sentence");
    return fault;
}

/* Criterion's pattern for the checks that have no row yet, to be freed; NULL if all have one. */
static char *filter_of(const Judge *judge, const char *const *checks, int count) {
    char *filter = NULL, path[PATH];
    size_t size;
    int left = 0;
    FILE *to = open_memstream(&filter, &size);
    CHECK(to != NULL, "no memory for the names of checks");
    for (int i = 0; i < count; i++) {
        if (access(criterion_row(judge, checks[i], path, sizeof path), F_OK) != 0) {
            fprintf(to, "%s%s", left++ > 0 ? "|" : "graded/@(", checks[i]);
        }
    }
    fprintf(to, ")");
    fclose(to);
    if (left == 0) {
        free(filter);
        return NULL;
    }
    return filter;
}

/* Takes away a socket of ours; false where another user has left one. */
static bool clear_socket(pid_t judge) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/criterion_%d.sock", (int)judge);
    return unlink(path) == 0 || errno == ENOENT;
}

__attribute__((noreturn)) static void become_judge(const Judge *judge, const char *filter,
                                                   pid_t grader) {
    char seconds[20], jobs[20], said[PATH];
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody would read what it finds */
    if (getppid() != grader) {        /* which died before that */
        _exit(EXIT_RUN);
    }
    if (!clear_socket(getpid())) {
        _exit(TAKEN);
    }
    snprintf(seconds, sizeof seconds, "%d", judge->seconds);
    snprintf(jobs, sizeof jobs, "-j%d", judge->jobs);
    setenv("GRADE_FOLDER", judge->folder, 1);
    setenv("GRADE_PROBE", judge->probe, 1);
    setenv("GRADE_SECONDS", seconds, 1); /* check_begin(): Criterion's own limit ends no sleep */
    said_path(judge, said);
    /* The table is made from the record; Criterion's own words would only repeat it. */
    if (freopen("/dev/null", "w", stdout) == NULL || freopen(said, "a", stderr) == NULL) {
        _exit(EXIT_RUN);
    }
    execl(judge->program, judge->program, jobs, "--filter", filter, (char *)NULL);
    _exit(EXIT_RUN);
}

/* Criterion aborts where it cannot have a name. A check that aborts does so in its worker. */
static bool name_is_taken(int status) {
    return (WIFEXITED(status) && WEXITSTATUS(status) == TAKEN) ||
           (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static int rows_left(const Judge *judge, const char *const *checks, int count) {
    char path[PATH];
    int rows = 0;
    for (int i = 0; i < count; i++) {
        rows += access(criterion_row(judge, checks[i], path, sizeof path), F_OK) == 0;
    }
    return rows;
}

/* Waits for the judge; at a terminal at which its author waits too, with a line that says how far
   it is. @return its status */
static int wait_for_judge(pid_t child, const Judge *judge, const char *const *checks, int count) {
    enum { PAUSE = 100 }; /* ms */
    int status = 0;
    bool shows = getenv("GRADE_AUTHOR_WAITS") != NULL && isatty(STDERR_FILENO);
    while (shows && waitpid(child, &status, WNOHANG) == 0) {
        fprintf(stderr, "  grading: %d of %d\r", rows_left(judge, checks, count), count);
        poll(NULL, 0, PAUSE);
    }
    if (shows) {
        fprintf(stderr, "\033[K");
        return status;
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

void criterion_run(const Judge *judge, const char *const *checks, int count) {
    char *filter;
    pid_t grader = getpid();
    int status = TAKEN << 8;
    for (int i = 0;
         i < TRIES && name_is_taken(status) && (filter = filter_of(judge, checks, count)) != NULL;
         i++) {
        pid_t child = fork();
        if (child == 0) {
            become_judge(judge, filter, grader);
        }
        free(filter);
        if (child < 0) {
            return;
        }
        status = wait_for_judge(child, judge, checks, count);
        clear_socket(child);
    }
}
