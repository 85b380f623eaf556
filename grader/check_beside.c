/* A probe and a program of the kit beside it, which the submission cannot look into: both run in
   sandboxes of their own, and a socket is all that they share. The contract is in check.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "grader/check_state.h"
#include "grader/sandbox.h"
#include "kernels/base.h"

enum { PATH = 4096, OUTPUT = 4 << 10, GRACE = 20, OURS = 0, THEIRS = 1 };

/* Programs that go with a judge lie in its folder. */
static void find_programs(const Check *check, CheckBeside *beside) {
    char judge[PATH];
    ssize_t length = readlink("/proc/self/exe", judge, sizeof judge - 1);
    judge[length > 0 ? length : 0] = '\0';
    const char *name = strrchr(judge, '/');
    CHECK(name != NULL, "the judge does not know where it is");
    int folder = (int)(name - judge);
    int a = snprintf(beside->program, PATH, "%.*s/%s-%s", folder, judge, check->plan->lab,
                     beside->name);
    int b = snprintf(beside->starter, PATH, "%.*s/beside", folder, judge);
    CHECK(a < PATH && b < PATH, "the path of the judge is too long");
}

/* In a process of its own, which runs the program to its end. */
__attribute__((noreturn)) static void run_beside(const CheckBeside *beside, int in, int out,
                                                 int end, double seconds) {
    Sandbox sandbox = {.argv = (const char *const[]){beside->program, "tables", NULL},
                       .readable = (const char *const[]){beside->program, NULL},
                       .in = in,
                       .out = out,
                       .beside = end,
                       .seconds = seconds + GRACE, /* it ends when the probe does */
                       .cpu_seconds = 2 * seconds,
                       .memory = (size_t)2 << 30,
                       .output = OUTPUT};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    SandboxResult result = sandbox_run(&sandbox);
    _exit(result.end == SANDBOX_EXIT && result.status == 0 ? 0 : 1);
}

/* Whether it ended well. */
static bool wait_for(pid_t child) {
    int status = 1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status == 0;
}

/* The probe's run. Once its end of the socket is closed, the program beside it ends as well. */
static bool run_pair(Check *check, const char *probe_case, const int end[2], pid_t child,
                     double seconds) {
    close(end[OURS]);
    check->beside_end = end[THEIRS];
    bool good = check_run(check, probe_case, seconds);
    check->beside_end = 0;
    close(end[THEIRS]);
    if (!wait_for(child)) {
        check->state = ROW_GRADER_ERROR;
        snprintf(check->message, sizeof check->message, "the program beside the probe has failed");
        return false;
    }
    return good;
}

static bool leave_pair(Check *check, const char *folder, const char *probe_case, const Wire *in,
                       const Wire *out) {
    char path[PATH];
    CHECK(snprintf(path, PATH, "%s/beside-in", folder) < PATH && wire_save(in, path) &&
              snprintf(path, PATH, "%s/beside-out", folder) < PATH && wire_save(out, path),
          "cannot write %s", path);
    return check_run(check, probe_case, 0);
}

bool check_run_beside(Check *check, const char *name, const char *probe_case, const Wire *in,
                      Wire *out, double seconds) {
    CheckBeside beside = {.name = name};
    char its_case[100]; /* of the probe of that name */
    CHECK(snprintf(its_case, sizeof its_case, "%s/%s", name, probe_case) < (int)sizeof its_case,
          "a long name");
    const char *debug = getenv("GRADE_DEBUG");
    find_programs(check, &beside);
    check->beside = &beside;
    if (debug != NULL) {
        leave_pair(check, debug, its_case, in, out);
        check->beside = NULL;
        return false;
    }
    int end[2], given = wire_file(in, true), wanted = wire_file(out, false);
    CHECK(given >= 0 && wanted >= 0, "no memory files");
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, end) == 0, "no socket");
    pid_t child = fork();
    CHECK(child >= 0, "no process");
    if (child == 0) {
        close(end[THEIRS]);
        run_beside(&beside, given, wanted, end[OURS], check_on_gpu() ? 20 * seconds : seconds);
    }
    bool good = run_pair(check, its_case, end, child, seconds) && wire_fetch(out, wanted);
    check->beside = NULL;
    close(given);
    close(wanted);
    return good;
}
