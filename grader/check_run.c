/* A check and the probe: it is run in the sandbox, and how it ended says what the row says. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "common/lab.h"
#include "grader/check_state.h"
#include "grader/command.h"
#include "grader/picture.h"
#include "grader/sandbox.h"
#include "kernels/base.h"

enum { OUTPUT = 64 << 10, CUDASIM_STATUS = 86, LINE = 800 };

bool check_conclude(Check *check, RowState state, const char *format, ...) {
    if (check->state == ROW_PASS) {
        check->state = state;
        va_list values;
        va_start(values, format);
        vsnprintf(check->message, sizeof check->message, format, values);
        va_end(values);
    }
    return false;
}

/* The first line of what the probe wrote that says what is meant, or "". */
static const char *line_with(const Check *check, const char *what, char line[LINE]) {
    const char *found = check->text != NULL ? strstr(check->text, what) : NULL;
    if (found == NULL) {
        return "";
    }
    while (found > check->text && found[-1] != '\n') {
        found--;
    }
    snprintf(line, LINE, "%.*s", (int)strcspn(found, "\n"), found);
    return line;
}

static const char *last_line(const Check *check, char line[LINE]) {
    const char *begin = check->text, *next = begin;
    while (begin != NULL && (next = strchr(next, '\n')) != NULL && next[1] != '\0') {
        begin = ++next;
    }
    snprintf(line, LINE, "%.*s", begin != NULL ? (int)strcspn(begin, "\n") : 0,
             begin != NULL ? begin : "");
    return line;
}

static bool judge_exit(Check *check, const SandboxResult *result) {
    char line[LINE];
    if (result->status == EXIT_TODO) {
        return check_conclude(check, ROW_NOT_STARTED, "%s", line_with(check, "TODO", line));
    }
    if (check->text != NULL && strstr(check->text, "out of memory:") != NULL) {
        return check_conclude(check, ROW_OVER_BUDGET, "%s",
                              line_with(check, "out of memory:", line));
    }
    if (wire_done(check->out) && (result->status == 0 || result->status == CUDASIM_STATUS)) {
        return true;
    }
    if (result->status == CUDASIM_STATUS) {
        return check_conclude(check, ROW_FAIL, "%s", check->text);
    }
    return check_conclude(check, ROW_CRASHED,
                          "the program ended by itself, with status %d, before the case did. %s",
                          result->status, last_line(check, line));
}

/* A mistake that a debugger can show. */
static void hint(Check *check, const char *likely, const char *then) {
    if (check->mistake[0] == '\0') {
        snprintf(check->mistake, sizeof check->mistake,
                 "likely: %s. To look at it: make debug%.2s CHECK=%s, run%s", likely,
                 check->plan->lab, check->plan->name, then);
    }
}

static void hint_at_signal(Check *check, int signal) {
    if (signal == SIGSEGV || signal == SIGBUS) {
        hint(check, "an index outside of its array, or a pointer to nothing", ", bt");
    } else if (signal == SIGFPE || signal == SIGILL) {
        hint(check, "integer division by 0", ", bt");
    }
}

static bool judge_result(Check *check, const SandboxResult *result, double seconds) {
    char line[LINE];
    switch (result->end) {
    case SANDBOX_ERROR:
        return check_conclude(check, ROW_SANDBOX_ERROR, "%s", result->error);
    case SANDBOX_TIMEOUT:
        hint(check, "a loop that does not end, or much more work than is needed", ", and Ctrl-C");
        return check_conclude(check, ROW_TIMEOUT, "not finished after %g s", seconds);
    case SANDBOX_FLOOD:
        return check_conclude(check, ROW_CRASHED, "it wrote more than %d KiB", OUTPUT >> 10);
    case SANDBOX_SIGNAL:
        hint_at_signal(check, result->status);
        return check_conclude(check, ROW_CRASHED, "%s. %s", strsignal(result->status),
                              last_line(check, line));
    case SANDBOX_EXIT:
        return judge_exit(check, result);
    }
    return check_conclude(check, ROW_GRADER_ERROR, "unknown end %d", (int)result->end);
}

/* Leaves everything that a run of the probe needs in a folder, for gdb, and runs nothing. */
static bool leave_for_debugger(Check *check, const char *path, const char *probe_case) {
    const struct {
        const char *name;
        const Wire *wire;
    } tables[] = {{"in", check->in}, {"out", check->out}};
    char name[4096];
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "%s/%s", path, tables[i].name);
        CHECK(wire_save(tables[i].wire, name), "cannot write %s", name);
    }
    snprintf(name, sizeof name, "%s/command", path);
    FILE *command = fopen(name, "w");
    CHECK(command != NULL, "cannot write %s", name);
    for (int i = 0; i < check->settings; i++) {
        fprintf(command, "export %s\n", check->setting[i]);
    }
    fprintf(command, "exec gdb -q -ex \"directory $SOURCE\" "
                     "-ex 'handle SIGSEGV nostop noprint pass' -ex 'break crash_told' --args ");
    command_quote(command, path);
    fprintf(command, "/probe %s 3<", probe_case);
    command_quote(command, path);
    fprintf(command, "/in 4<>");
    command_quote(command, path);
    fprintf(command, "/out\n");
    fclose(command);
    return check_conclude(check, ROW_NOT_RUN, "left for the debugger");
}

bool check_on_gpu(void) {
    const char *device = getenv("GRADE_DEVICE");
    return device != NULL && strcmp(device, "gpu") == 0;
}

static bool run_probe(Check *check, const char *probe, bool gpu, const char *probe_case,
                      double seconds) {
    const char *environment[CHECK_SETTINGS + 1] = {NULL};
    for (int i = 0; i < check->settings; i++) {
        environment[i] = check->setting[i];
    }
    if (check_on_gpu()) {
        check_memory(check, 0);
        seconds *= 20;
    }
    wire_blank(check->out); /* a run of the kit may have left right answers in it */
    int in = wire_file(check->in, true), out = wire_file(check->out, false);
    if (in < 0 || out < 0) {
        return check_conclude(check, ROW_GRADER_ERROR, "no memory file for the probe");
    }
    Sandbox sandbox = {.argv = (const char *const[]){probe, probe_case, NULL},
                       .readable = (const char *const[]){probe, NULL},
                       .environment = environment,
                       .in = in,
                       .out = out,
                       .seconds = seconds,
                       .cpu_seconds = 2 * seconds,
                       .memory = check->memory_limit,
                       .output = OUTPUT,
                       .uses_gpu = gpu};
    SandboxResult result = sandbox_run(&sandbox);
    free(check->text);
    check->text = result.text;
    check->seconds += result.seconds;
    check->cpu_seconds += result.cpu_seconds;
    check->peak_bytes =
        result.peak_bytes > check->peak_bytes ? result.peak_bytes : check->peak_bytes;
    check->level = result.level;
    bool fetched = wire_fetch(check->out, out);
    close(in);
    close(out);
    const char *beyond;
    if (!fetched) {
        return check_conclude(check, ROW_GRADER_ERROR, "cannot read what the probe left");
    }
    if (!judge_result(check, &result, seconds)) {
        return false;
    }
    if (!wire_guards(check->out, &beyond)) {
        return check_conclude(check, ROW_FAIL, "something was written beyond the end of %s",
                              beyond);
    }
    return true;
}

bool check_run_kit(Check *check, const char *probe_case, double seconds) {
    const char *probe = getenv("GRADE_PROBE");
    CHECK(probe != NULL, "GRADE_PROBE names no probe");
    return run_probe(check, probe, false, probe_case, seconds);
}

bool check_run(Check *check, const char *probe_case, double seconds) {
    const char *debug = getenv("GRADE_DEBUG");
    if (debug != NULL) {
        return check->state == ROW_PASS && leave_for_debugger(check, debug, probe_case);
    }
    return check_run_kit(check, probe_case, seconds);
}

bool check_run_on_gpu(Check *check, const char *probe_case, double seconds) {
    const char *probe = getenv("GRADE_GPU_PROBE");
    check_memory(check, 0);
    return probe != NULL ? run_probe(check, probe, true, probe_case, seconds)
                         : check_conclude(check, ROW_NOT_RUN, "no GPU");
}

const void *check_got(const Check *check, const char *name, WireType type) {
    return wire_get(check->out, name, type, NULL);
}

const char *check_text(const Check *check) {
    return check->text != NULL ? check->text : "";
}

void check_want_picture(Check *check) {
    check_want(check, "memory", WIRE_U64, PICTURE_NUMBERS);
}

void check_picture(Check *check, const char *title, size_t budget) {
    json_t *picture = picture_json(check_got(check, "memory", WIRE_U64), title, budget);
    if (picture != NULL) {
        json_array_append_new(check->pictures, picture);
    }
}
