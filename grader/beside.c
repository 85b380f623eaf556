/**
 * @file beside.c
 * @brief `beside PROGRAM HOW COMMAND...`: runs a command, and beside it a program that it talks to.
 * @ingroup grader
 *
 * As the judge starts a probe that has a program beside it (check_run_beside()), but without a
 * sandbox: for a debugger, and for a lab's own table. Descriptor WIRE_BESIDE of both is an end of a
 * socket. HOW is "home", or a folder with the tables `beside-in` and `beside-out`.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/lab.h"
#include "grader/wire.h"
#include "kernels/base.h"

static void open_as(const char *folder, const char *name, int descriptor) {
    char path[4096];
    CHECK(snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path, "%s", folder);
    int file = open(path, O_RDWR);
    CHECK(file >= 0 && dup2(file, descriptor) == descriptor, "cannot open %s", path);
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: %s PROGRAM home|FOLDER COMMAND...\n", argv[0]);
        return EXIT_USAGE;
    }
    int end[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, end) == 0, "no socket");
    pid_t child = fork();
    CHECK(child >= 0, "no process");
    int mine = child == 0 ? end[0] : end[1];
    if (mine != WIRE_BESIDE) {
        CHECK(dup2(mine, WIRE_BESIDE) == WIRE_BESIDE, "no descriptor");
    }
    fcntl(WIRE_BESIDE, F_SETFD, 0);
    bool home = strcmp(argv[2], "home") == 0;
    if (child == 0 && !home) {
        open_as(argv[2], "beside-in", WIRE_IN);
        open_as(argv[2], "beside-out", WIRE_OUT);
    }
    if (child == 0) {
        execl(argv[1], argv[1], home ? "home" : "tables", (char *)NULL);
    } else {
        execvp(argv[3], argv + 3);
    }
    fprintf(stderr, "beside: cannot start %s\n", child == 0 ? argv[1] : argv[3]);
    return EXIT_RUN;
}
