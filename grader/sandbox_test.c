#define _GNU_SOURCE
#include "grader/sandbox.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "grader/sandbox_layers.h"

/* Where the helper is compiled, and where a program may write. */
static char folder[64], program[80];

/* Milliseconds after a kill for what was killed to be seen gone. */
enum { A_SECOND = 1000000 };

static SandboxResult run_shell(const char *command, double seconds) {
    const char *const argv[] = {"/bin/sh", "-c", command, NULL};
    char kit[4096];
    const char *const readable[] = {getcwd(kit, sizeof kit), NULL};
    return sandbox_run(&(Sandbox){.argv = argv,
                                  .readable = readable,
                                  .folder = folder,
                                  .in = -1,
                                  .out = -1,
                                  .seconds = seconds,
                                  .cpu_seconds = seconds,
                                  .output = 10000,
                                  .may_execute = true});
}

/* The helper is compiled as a submission is: in the sandbox. */
static void compile_helper(void) {
    snprintf(folder, sizeof folder, "/tmp/sandbox_test_XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chmod(folder, 0755), 0);
    snprintf(program, sizeof program, "%s/inside", folder);
    char command[4400], kit[4096];
    snprintf(command, sizeof command,
             "gcc -w -pthread '%s'/grader/attacks/inside/inside.c -o inside",
             getcwd(kit, sizeof kit));
    SandboxResult result = run_shell(command, 120); /* other tests compile at the same time */
    cr_assert_eq(result.end, SANDBOX_EXIT, "%s%s", result.error, result.text);
    cr_assert_eq(result.status, 0, "%s", result.text);
    free(result.text);
}

static void remove_folder(void) {
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(sandbox, .init = compile_helper, .fini = remove_folder);

/* A probe's limits. */
static Sandbox small(void) {
    return (Sandbox){.in = -1, .out = -1, .seconds = 5, .cpu_seconds = 5, .output = 10000};
}

/* The helper at one task; path may be NULL. */
static SandboxResult inside(Sandbox sandbox, const char *task, const char *path) {
    const char *const argv[] = {program, task, path, NULL};
    sandbox.argv = argv;
    SandboxResult result = sandbox_run(&sandbox);
    cr_expect_eq(result.level, sandbox_level());
    cr_expect_not_null(result.text);
    return result;
}

/* It tried some things, and ended without success at any. */
static void all_refused(SandboxResult result) {
    cr_expect_eq(result.end, SANDBOX_EXIT, "%d %d %s", (int)result.end, result.status,
                 result.error);
    cr_expect_not_null(strstr(result.text, "refused"), "%s", result.text);
    cr_expect_null(strstr(result.text, "GOT THROUGH"), "%s", result.text);
    free(result.text);
}

/* At level 1 nothing has to be refused: a test of that says that it could not be done. */
static void needs_level_2(void) {
    if (sandbox_level() < 2) {
        cr_skip("the sandbox is %s", sandbox_describe());
    }
}

Test(sandbox, exit_status_is_seen) {
    SandboxResult result = inside(small(), "exit", NULL);
    cr_expect_eq(result.end, SANDBOX_EXIT);
    cr_expect_eq(result.status, 7);
    cr_expect(result.seconds > 0 && result.seconds < 5);
    cr_expect_gt(result.peak_bytes, 0);
    free(result.text);
}

Test(sandbox, signal_is_seen) {
    SandboxResult result = inside(small(), "abort", NULL);
    cr_expect_eq(result.end, SANDBOX_SIGNAL);
    cr_expect_eq(result.status, SIGABRT);
    free(result.text);
}

Test(sandbox, a_missing_program_is_an_error_of_the_sandbox) {
    Sandbox sandbox = small();
    sandbox.argv = (const char *const[]){"/nowhere/probe", NULL};
    SandboxResult result = sandbox_run(&sandbox);
    cr_expect_eq(result.end, SANDBOX_ERROR);
    cr_expect_not_null(strstr(result.error, "/nowhere/probe"), "%s", result.error);
    free(result.text);
}

Test(sandbox, wall_time_ends_what_ignores_signals) {
    Sandbox sandbox = small();
    sandbox.seconds = 0.3;
    SandboxResult result = inside(sandbox, "spin", NULL);
    cr_expect_eq(result.end, SANDBOX_TIMEOUT);
    cr_expect(result.seconds >= 0.3 && result.seconds < 3, "%g", result.seconds);
    free(result.text);
}

/* The words of a program whose time is over. */
static void expect_said(Sandbox sandbox, const char *task, const char *words) {
    SandboxResult result = inside(sandbox, task, NULL);
    cr_expect_eq(result.end, SANDBOX_TIMEOUT, "%s: %d", task, (int)result.end);
    cr_expect_str_eq(result.text, words, "%s: %s", task, result.text);
    free(result.text);
}

Test(sandbox, a_program_is_told_that_its_time_is_over) {
    Sandbox sandbox = small();
    sandbox.seconds = 1.5; /* a busy machine takes a while to begin */
    expect_said(sandbox, "spin and say", "over in the first\n");
    expect_said(sandbox, "wait and say", "over in another\n"); /* which is the one that computes */
    sandbox = small();
    sandbox.cpu_seconds = 0.2;
    expect_said(sandbox, "spin and say", "over in the first\n");
}

Test(sandbox, processor_time_is_limited) {
    Sandbox sandbox = small();
    sandbox.seconds = 20;
    sandbox.cpu_seconds = 0.2;
    SandboxResult result = inside(sandbox, "spin", NULL);
    cr_expect_eq(result.end, SANDBOX_TIMEOUT);
    cr_expect(result.cpu_seconds >= 0.2 && result.cpu_seconds < 3, "%g", result.cpu_seconds);
    free(result.text);
}

Test(sandbox, what_stops_itself_is_timed_out) {
    Sandbox sandbox = small();
    sandbox.seconds = 0.3;
    SandboxResult result = inside(sandbox, "stop", NULL);
    cr_expect_eq(result.end, SANDBOX_TIMEOUT);
    free(result.text);
}

Test(sandbox, output_is_cut) {
    SandboxResult result = inside(small(), "flood", NULL);
    cr_expect_eq(result.end, SANDBOX_FLOOD);
    cr_expect_eq(strlen(result.text), 10000);
    free(result.text);
}

Test(sandbox, a_terminal_is_not_steered) {
    SandboxResult result = inside(small(), "escape", NULL);
    cr_expect_str_eq(result.text, "?[2J?red ?? \t|\n");
    free(result.text);
}

Test(sandbox, a_probe_starts_no_process) {
    needs_level_2();
    all_refused(inside(small(), "programs", NULL));
}

Test(sandbox, a_probe_has_threads) {
    SandboxResult result = inside(small(), "thread", NULL);
    cr_expect_str_eq(result.text, "thread: 42\n");
    free(result.text);
}

/* The kernel counts no processes of root: where root cannot become another user,
   all would suffer. */
Test(sandbox, a_fork_bomb_ends) {
    if (geteuid() == 0 && strstr(sandbox_describe(), "same user") != NULL) {
        cr_skip("the sandbox is %s", sandbox_describe());
    }
    Sandbox sandbox = small();
    sandbox.may_execute = true;
    sandbox.seconds = 0.5;
    SandboxResult result = inside(sandbox, "bomb", NULL);
    cr_expect_neq(result.end, SANDBOX_ERROR, "%s", result.error);
    free(result.text);
}

Test(sandbox, a_daemon_does_not_outlive_its_program) {
    Sandbox sandbox = small();
    sandbox.may_execute = true;
    sandbox.folder = folder;
    char late[80], now[90];
    snprintf(late, sizeof late, "%s/late", folder);
    snprintf(now, sizeof now, "%s.now", late);
    SandboxResult result = inside(sandbox, "daemon", late);
    cr_expect_eq(result.end, SANDBOX_EXIT);
    close(open(now, O_WRONLY | O_CREAT, 0644));
    usleep(A_SECOND);
    cr_expect_neq(access(late, F_OK), 0, "it was still there to write");
    free(result.text);
}

/* As when the grader of a class is ended while a compiler runs. */
Test(sandbox, what_a_compiler_started_ends_with_the_caller) {
    const char *look = "sleep 0.3; pgrep -f '^sleep 71[.]125' >/dev/null";
    pid_t caller = fork();
    if (caller == 0) {
        run_shell("sleep 71.125 & sleep 71.125", 20);
        _exit(0);
    }
    int tries = 0;
    while (system(look) != 0 && tries < 50) {
        tries++;
    }
    cr_assert_lt(tries, 50, "it has not begun");
    cr_assert_eq(kill(caller, SIGKILL), 0);
    usleep(A_SECOND);
    cr_assert_neq(system(look), 0, "it goes on without its caller");
}

Test(sandbox, no_network) {
    needs_level_2();
    all_refused(inside(small(), "network", NULL));
}

Test(sandbox, parent_is_out_of_reach) {
    needs_level_2();
    all_refused(inside(small(), "parent", NULL));
}

Test(sandbox, rare_system_calls_are_refused) {
    needs_level_2();
    all_refused(inside(small(), "exotic", NULL));
}

Test(sandbox, nothing_is_written_outside) {
    needs_level_2();
    all_refused(inside(small(), "files", folder));
}

Test(sandbox, no_links_and_pipes_in_the_folder) {
    needs_level_2();
    Sandbox sandbox = small();
    sandbox.folder = folder;
    SandboxResult result = inside(sandbox, "files", folder);
    cr_expect_not_null(strstr(result.text, "GOT THROUGH create"), "%s", result.text);
    cr_expect_not_null(strstr(result.text, "refused symlink"), "%s", result.text);
    cr_expect_not_null(strstr(result.text, "refused fifo"), "%s", result.text);
    cr_expect_not_null(strstr(result.text, "refused /tmp"), "%s", result.text);
    free(result.text);
}

Test(sandbox, only_listed_files_are_read) {
    needs_level_2();
    char secret[80];
    snprintf(secret, sizeof secret, "%s/secret", folder);
    FILE *file = fopen(secret, "w");
    cr_assert_not_null(file);
    fclose(file);
    cr_assert_eq(chmod(secret, 0644), 0);
    all_refused(inside(small(), "read", secret));
    Sandbox sandbox = small();
    sandbox.readable = (const char *const[]){secret, NULL};
    SandboxResult result = inside(sandbox, "read", secret);
    cr_expect_not_null(strstr(result.text, "GOT THROUGH"), "%s", result.text);
    free(result.text);
}

Test(sandbox, memory_is_limited) {
    Sandbox sandbox = small();
    sandbox.memory = 256 << 20;
    all_refused(inside(sandbox, "memory", NULL));
}

Test(sandbox, memory_in_use_is_limited) {
    Sandbox sandbox = small();
    sandbox.resident = 64 << 20;
    sandbox.memory = (size_t)2 << 30; /* an end, should the limit fail */
    SandboxResult result = inside(sandbox, "fill", NULL);
    cr_expect_eq(result.end, SANDBOX_MEMORY, "%d", (int)result.end);
    cr_expect_gt(result.peak_bytes, 64 << 20);
    free(result.text);
}

Test(sandbox, peak_cannot_be_wiped) {
    SandboxResult result = inside(small(), "reset", NULL);
    cr_expect_gt(result.peak_bytes, 64 << 20);
    needs_level_2();
    all_refused(result);
}

Test(sandbox, peak_is_not_the_judges) {
    size_t bytes = 256 << 20;
    char *large = malloc(bytes);
    cr_assert_not_null(large);
    memset(large, 1, bytes);
    size_t peak = bytes;
    /* On a busy machine the program may be over before it was looked at: then all counts. */
    for (int i = 0; i < 5 && peak >= bytes / 8; i++) {
        SandboxResult result = inside(small(), "thread", NULL);
        peak = result.peak_bytes;
        free(result.text);
    }
    cr_expect(peak > 0 && peak < bytes / 8, "%zu", peak);
    cr_expect_eq(large[bytes / 2], 1);
    free(large);
}

Test(sandbox, no_descriptor_is_inherited) {
    int open_one = open("/dev/null", O_RDONLY);
    SandboxResult result = inside(small(), "descriptors", NULL);
    cr_expect_str_eq(result.text, "0 1 2 ");
    close(open_one);
    free(result.text);
}

Test(sandbox, two_descriptors_are_given) {
    Sandbox sandbox = small();
    sandbox.in = memfd_create("in", MFD_CLOEXEC);
    sandbox.out = memfd_create("out", MFD_CLOEXEC);
    cr_assert_eq(write(sandbox.in, "hello", 5), 5);
    cr_assert_eq(ftruncate(sandbox.out, 16), 0);
    lseek(sandbox.in, 0, SEEK_SET);
    SandboxResult result = inside(sandbox, "descriptors", NULL);
    cr_expect_str_eq(result.text, "0 1 2 3 4 ");
    free(result.text);
    result = inside(sandbox, "given", NULL);
    char back[16] = "";
    cr_expect_eq(pread(sandbox.out, back, sizeof back, 0), (ssize_t)sizeof back);
    cr_expect_str_eq(back, "hello");
    cr_expect_not_null(strstr(result.text, "refused grown"), "%s", result.text);
    close(sandbox.in);
    close(sandbox.out);
    free(result.text);
}

/* One end of a socket is given, and the other is not. */
Test(sandbox, a_socket_is_given) {
    int end[2];
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, end), 0);
    Sandbox sandbox = small();
    sandbox.beside = end[0];
    SandboxResult result = inside(sandbox, "descriptors", NULL);
    cr_expect_str_eq(result.text, "0 1 2 6 ");
    close(end[0]);
    close(end[1]);
    free(result.text);
}

Test(sandbox, a_pipe_for_events_is_given) {
    Sandbox sandbox = small();
    int events[2];
    cr_assert_eq(pipe2(events, O_CLOEXEC), 0);
    sandbox.events = events[1];
    SandboxResult result = inside(sandbox, "descriptors", NULL);
    cr_expect_str_eq(result.text, "0 1 2 5 ");
    close(events[0]);
    close(events[1]);
    free(result.text);
}

Test(sandbox, environment_is_a_list) {
    Sandbox sandbox = small();
    sandbox.environment = (const char *const[]){"OMP_NUM_THREADS=2", NULL};
    setenv("GRADE_SEED", "12345", 1);
    SandboxResult result = inside(sandbox, "environment", NULL);
    cr_expect_str_eq(result.text, "PATH=/usr/bin:/bin\nHOME=/\nLC_ALL=C\nOMP_NUM_THREADS=2\n");
    free(result.text);
}

/* Level 2 takes both: another user alone keeps no file apart that all may read. */
Test(sandbox, level_is_what_the_layers_add_up_to) {
    for (int i = 0; i < 8; i++) {
        Layers layers = {.other_user = i & 1, .filter = i & 2, .landlock = i & 4 ? 7 : 0};
        cr_expect_eq(layers_level(&layers), (i & 2) && (i & 4) ? 2 : 1, "layers %d", i);
    }
}

Test(sandbox, level_is_described) {
    const char *text = sandbox_describe();
    bool both =
        strstr(text, "no system call filter") == NULL && strstr(text, "no Landlock") == NULL;
    cr_expect_eq(sandbox_level(), both ? 2 : 1, "%s", text);
    cr_expect_eq(strncmp(text, both ? "2: limits, " : "1: limits, ", 11), 0, "%s", text);
}
