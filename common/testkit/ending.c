/* Code that must end the program, run in a child process for a test. The contract is in
   ending.h. */
#define _GNU_SOURCE
#include "common/testkit/ending.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CAME_BACK = 99 };

void expect_ending(void (*body)(void), int status, const char *says) {
    int messages = memfd_create("stderr", MFD_CLOEXEC);
    pid_t child = fork();
    if (child == 0) {
        dup2(messages, STDERR_FILENO);
        body();
        _exit(CAME_BACK);
    }
    int ended;
    waitpid(child, &ended, 0);
    char said[4096] = "";
    pread(messages, said, sizeof said - 1, 0);
    close(messages);
    int got = WIFEXITED(ended) ? WEXITSTATUS(ended) : -WTERMSIG(ended);
    cr_assert_neq(got, CAME_BACK, "it came back");
    cr_assert_eq(got, status, "status %d, should be %d: %s", got, status, said);
    cr_assert_not_null(strstr(said, says), "\"%s\" is not in \"%s\"", says, said);
}
