/* A check and the probe: it is run in the sandbox, and how it ended says what the row says. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/lab.h"
#include "grader/check_state.h"
#include "grader/draws.h"
#include "grader/picture.h"
#include "grader/probe.h"
#include "grader/probe_ranks.h"
#include "grader/sandbox.h"
#include "kernels/base.h"

enum { OUTPUT = 64 << 10, EVENTS = 1 << 20, CUDASIM_STATUS = 86, LINE = 800, PATH = 4096 };

/* Bytes of a probe, also where its addresses have no limit. A real GPU's driver has its own. */
static const size_t RESIDENT = (size_t)3 << 30;

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
    line[0] = '\0';
    while (found != NULL && found > check->text && found[-1] != '\n') {
        found--;
    }
    if (found != NULL) {
        snprintf(line, LINE, "%.*s", (int)strcspn(found, "\n"), found);
    }
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

/* The line about a tensor that found no room, and after its colon what is in use. */
static const char *line_of_refusal(const Check *check, char line[LINE]) {
    line_with(check, "out of memory:", line);
    size_t length = strlen(line);
    const char *rest = strstr(check->text, line) + length;
    if (length > 0 && line[length - 1] == ':' && strncmp(rest, "\n  ", 3) == 0) {
        rest += 2; /* one of its spaces stays */
        snprintf(line + length, LINE - length, "%.*s", (int)strcspn(rest, "\n"), rest);
    }
    return line;
}

static bool judge_exit(Check *check, const SandboxResult *result) {
    char line[LINE];
    if (result->status == EXIT_TODO) {
        const char *todo = line_with(check, "TODO", line);
        todo = *todo != '\0' ? todo : "it ended as an open task does, and named none";
        bool others = strncmp(todo, "labs/", 5) == 0; /* the hand-in's own files have no folder */
        return check_conclude(check, ROW_NOT_STARTED, others ? "needs lab %.2s: %s" : "%.0s%s",
                              others ? todo + 5 : "", todo);
    }
    if (result->status == PROBE_LOST) {
        return check_conclude(check, ROW_FAIL, "%s", last_line(check, line));
    }
    if (check->text != NULL && strstr(check->text, "out of memory:") != NULL) {
        return check_conclude(check, ROW_OVER_BUDGET, "%s", line_of_refusal(check, line));
    }
    if (wire_done(check->out) && (result->status == 0 || result->status == CUDASIM_STATUS)) {
        return true;
    }
    /* A report of the simulator about what is there does not hide that the rest is not. */
    if (result->status == CUDASIM_STATUS && line_with(check, "TODO: task", line)[0] != '\0') {
        return check_conclude(check, ROW_NOT_STARTED, "%s", line);
    }
    if (result->status == CUDASIM_STATUS) {
        const char *report = check_text(check);
        return check_conclude(check, ROW_FAIL, "%s",
                              *report != '\0' ? report : "the simulator ended it without a report");
    }
    return check_conclude(check, ROW_CRASHED,
                          "the program ended by itself, with status %d, before the case did. %s",
                          result->status, last_line(check, line));
}

/* A mistake that a debugger can show. */
static void hint(Check *check, const char *likely, const char *then) {
    char which[32] = ""; /* of several runs */
    if (check->runs > 1) {
        snprintf(which, sizeof which, " RUN=%d", check->runs);
    }
    if (check->mistake[0] == '\0') {
        snprintf(check->mistake, sizeof check->mistake,
                 "%s? To look at it: make debug%.2s CHECK=%s%s, run%s", likely, check->plan->lab,
                 check->plan->name, which, then);
    }
}

static void hint_at_signal(Check *check, int signal) {
    bool bad_address = signal == SIGSEGV || signal == SIGBUS;
    if (strstr(check_text(check), "crash: the stack is full") != NULL) {
        hint(check, "a function that calls itself without end, or a large local array", ", bt");
    } else if (bad_address && strstr(check_text(check), "transport_local.c") != NULL) {
        hint(check,
             "a call of NCCL whose memory is not there when its turn comes: released before the "
             "host has waited for the stream, or shorter than the call says",
             ", bt");
    } else if (bad_address) {
        hint(check, "an index outside of its array, or a pointer to nothing", ", bt");
    } else if (strstr(check_text(check), "has been overwritten") != NULL) {
        hint(check,
             wire_has(check->in, "ranks", WIRE_I32, RANK_OPTIONS)
                 ? "an index beyond the end of a tensor, or a call of NCCL that the host has not "
                   "waited for, and whose memory is another tensor's by then"
                 : "an index beyond the end of a tensor",
             ", bt");
    } else if (signal == SIGFPE) {
        hint(check, "a whole number divided by 0", ", bt");
    } else if (signal == SIGILL) {
        hint(check, "a trap, which compilers put where a program cannot go", ", bt");
    }
}

/* The call that asks for the error knows its name; the simulator has said why there is one. */
static void tell_report(Check *check) {
    static const char mark[] = "[cudasim] ", note[] = "[cudasim] note: ";
    char line[LINE];
    line_with(check, mark, line);
    bool reported = line[0] != '\0' && strncmp(line, note, strlen(note)) != 0;
    if (reported && check->mistake[0] == '\0') {
        snprintf(check->mistake, sizeof check->mistake,
                 "before that, the simulator has reported: %s", line + strlen(mark));
    }
}

/* "at loop.c:12 (loop_step), called from ..."; "" where the program did not say it. */
static const char *where_it_was(const Check *check, char line[LINE]) {
    static const char said[] = "crash: the time was over, ";
    line_with(check, said, line);
    return line[0] != '\0' ? line + strlen(said) : line;
}

/* Where a hand-in is graded whose author waits for it, nobody waits again and again for a loop that
   does not end: after PATIENT runs that were not finished, others have a part of their time. */
enum { PATIENT = 2, HURRIED = 4 };

static void unfinished_path(char path[PATH]) {
    CHECK(snprintf(path, PATH, "%s/unfinished", check_folder()) < PATH, "a long path");
}

/* One byte for each; a check is a process of its own. */
static void note_unfinished(void) {
    char path[PATH];
    unfinished_path(path);
    FILE *file = fopen(path, "a");
    if (file != NULL) { /* without it others have all of their time */
        fputc('.', file);
        fclose(file);
    }
}

static double time_for(Check *check, double seconds) {
    struct stat found;
    char path[PATH];
    if (getenv("GRADE_AUTHOR_WAITS") == NULL) {
        return seconds;
    }
    unfinished_path(path);
    check->hurried = stat(path, &found) == 0 && found.st_size >= PATIENT;
    return check->hurried ? seconds / HURRIED : seconds;
}

static bool judge_timeout(Check *check, double seconds) {
    char line[LINE], time[100];
    const char *where = where_it_was(check, line);
    snprintf(time, sizeof time,
             check->hurried ? "%g s, a quarter of its time, since two runs before it did not end"
                            : "%g s",
             seconds);
    hint(check, "a loop that does not end, or much more work than is needed", ", and Ctrl-C");
    note_unfinished();
    return *where != '\0'
               ? check_conclude(check, ROW_TIMEOUT, "not finished after %s; it was %s", time, where)
               : check_conclude(check, ROW_TIMEOUT, "not finished after %s", time);
}

static bool judge_result(Check *check, const SandboxResult *result, double seconds) {
    char line[LINE];
    switch (result->end) {
    case SANDBOX_ERROR:
        return check_conclude(check, ROW_SANDBOX_ERROR, "%s", result->error);
    case SANDBOX_TIMEOUT:
        return judge_timeout(check, seconds);
    case SANDBOX_FLOOD:
        hint(check, "a printf left in a kernel or in a loop", "");
        return check_conclude(check, ROW_CRASHED, "it wrote more than %d KiB", OUTPUT >> 10);
    case SANDBOX_MEMORY:
        hint(check, "memory that a loop takes and never gives back", "");
        return check_conclude(check, ROW_CRASHED, "it had more than %zu MiB of memory",
                              RESIDENT >> 20);
    case SANDBOX_SIGNAL:
        hint_at_signal(check, result->status);
        tell_report(check);
        return check_conclude(check, ROW_CRASHED, "%s. %s", strsignal(result->status),
                              last_line(check, line));
    case SANDBOX_EXIT:
        return judge_exit(check, result);
    }
    return check_conclude(check, ROW_GRADER_ERROR, "unknown end %d", (int)result->end);
}

bool check_on_gpu(void) {
    const char *device = getenv("GRADE_DEVICE");
    return device != NULL && strcmp(device, "gpu") == 0;
}

int check_threads(void) {
    const char *said = getenv("GRADE_THREADS");
    int threads = said != NULL ? atoi(said) : 1;
    CHECK(threads >= 1, "GRADE_THREADS=%s", said);
    return threads;
}

/* Where a crash was reported with addresses, another run of the program finds their lines. */
static char *with_lines(char *text, const char *program) {
    char *at = text != NULL ? strstr(text, ", at +0x") : NULL, *whole;
    if (at == NULL) {
        return text;
    }
    Sandbox sandbox = {.argv = (const char *const[]){program, PROBE_LINES, at, NULL},
                       .readable = (const char *const[]){program, NULL},
                       .in = -1,
                       .out = -1,
                       .seconds = 10,
                       .cpu_seconds = 10,
                       .output = OUTPUT};
    SandboxResult result = sandbox_run(&sandbox);
    CHECK(asprintf(&whole, "%.*s%s\n", (int)(at - text), text,
                   result.text != NULL ? result.text : "") >= 0,
          "no memory for a line");
    free(result.text);
    free(text);
    return whole;
}

/* A pipe that holds all that an honest probe tells, so that nobody needs to read while it runs. One
   that tells more has to wait, until its time is over. */
static bool events_open(int pipe_of[2]) {
    bool open = pipe2(pipe_of, O_CLOEXEC) == 0 && fcntl(pipe_of[0], F_SETFL, O_NONBLOCK) == 0;
    if (open) {
        fcntl(pipe_of[0], F_SETPIPE_SZ, EVENTS);
    }
    return open;
}

static void events_take(Check *check, int from) {
    size_t length = 0;
    ssize_t got;
    free(check->events);
    check->events = malloc(EVENTS + 1);
    CHECK(check->events != NULL, "no memory for what the probe has told");
    while (length < EVENTS && (got = read(from, check->events + length, EVENTS - length)) > 0) {
        length += (size_t)got;
    }
    for (size_t i = 0; i < length; i++) { /* what comes after a NUL counts too */
        check->events[i] = check->events[i] != '\0' ? check->events[i] : '?';
    }
    check->events[length] = '\0';
    close(from);
}

static bool run_probe(Check *check, const char *probe, bool gpu, const char *probe_case,
                      double seconds) {
    if (draw_now() != NULL) {
        return true;
    }
    const char *environment[CHECK_SETTINGS + 1] = {NULL};
    char program[PATH];
    const char *its_case = check_program_of(probe, probe_case, program, PATH),
               *absent = getenv("GRADE_ABSENT");
    if (absent != NULL && access(program, F_OK) != 0) {
        return check_conclude(check, ROW_NOT_STARTED, "%s is not in the hand-in", absent);
    }
    for (int i = 0; i < check->settings; i++) {
        environment[i] = check->setting[i];
    }
    if (check_on_gpu()) {
        check_memory(check, 0);
        seconds *= 20;
    }
    wire_blank(check->out); /* a run of the kit may have left right answers in it */
    int in = wire_file(check->in, true), out = wire_file(check->out, false), events[2];
    if (in < 0 || out < 0 || !events_open(events)) {
        return check_conclude(check, ROW_GRADER_ERROR, "no memory file for the probe");
    }
    Sandbox sandbox = {.argv = (const char *const[]){program, its_case, NULL},
                       .readable = (const char *const[]){program, NULL},
                       .environment = environment,
                       .in = in,
                       .out = out,
                       .events = events[1],
                       .beside = check->beside_end,
                       .seconds = seconds,
                       .cpu_seconds = 2 * seconds,
                       .memory = check->memory_limit,
                       .resident = gpu ? 0 : RESIDENT,
                       .output = OUTPUT,
                       .uses_gpu = gpu};
    SandboxResult result = sandbox_run(&sandbox);
    free(check->text);
    bool says_where = result.end == SANDBOX_SIGNAL || result.end == SANDBOX_TIMEOUT;
    check->text = says_where ? with_lines(result.text, program) : result.text;
    check->seconds += result.seconds;
    check->cpu_seconds += result.cpu_seconds;
    check->peak_bytes =
        result.peak_bytes > check->peak_bytes ? result.peak_bytes : check->peak_bytes;
    check->level = result.level;
    bool fetched = wire_fetch(check->out, out);
    close(in);
    close(out);
    close(events[1]);
    events_take(check, events[0]);
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

static const char *probe_given(void) {
    const char *probe = getenv("GRADE_PROBE");
    CHECK(probe != NULL || draw_now() != NULL, "GRADE_PROBE names no probe");
    return probe;
}

bool check_run_kit(Check *check, const char *probe_case, double seconds) {
    char kits[80];
    CHECK(snprintf(kits, sizeof kits, "kit/%s", probe_case) < (int)sizeof kits, "a long name");
    return run_probe(check, probe_given(), false, kits, seconds);
}

bool check_run(Check *check, const char *probe_case, double seconds) {
    const char *debug = getenv("GRADE_DEBUG");
    check->runs++;
    if (debug != NULL && (check->state != ROW_PASS || check_is_for_debugger(check))) {
        return check->state == ROW_PASS && check_leave_for_debugger(check, debug, probe_case);
    }
    return run_probe(check, probe_given(), false, probe_case, time_for(check, seconds));
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

const char *check_events(const Check *check) {
    return check->events != NULL ? check->events : "";
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
