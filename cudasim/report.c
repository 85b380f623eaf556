#define _GNU_SOURCE
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

#include "block.h"
#include "device.h"
#include "rank.h"
#include "record.h"

enum { MOST_REPORTS = 20, STATUS = 86 };

static int problems;
static int repeated;  /* findings of a line that was reported before */
static bool muted;    /* the last report is not shown */
static FILE *capture; /* where reports go instead, if not NULL */
static char *captured;
static size_t captured_size;

/* ---- the simulator's own memory -------------------------------------------------------------- */

static void *or_end(void *p) {
    if (p == NULL || p == MAP_FAILED) {
        fprintf(stderr, "[cudasim] out of memory\n");
        fflush(stdout);
        _exit(1);
    }
    return p;
}

void *sim_realloc(void *old, size_t bytes) {
    return or_end(realloc(old, bytes));
}

void *sim_map(size_t bytes) {
    return or_end(mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
}

/* ---- messages -------------------------------------------------------------------------------- */

/* One more problem; whether it is still shown. */
static bool count_problem(const char *kind) {
    problems++;
    sim_event("problem %s", kind);
    if (problems == MOST_REPORTS + 1) {
        fprintf(stderr, "[cudasim] further reports are not shown\n");
    }
    fflush(stdout);
    return problems <= MOST_REPORTS;
}

/* Whether the kind was reported of this line before: one mistake is seen by each thread, and at
   times by the compiler's check, the simulator's and the processor. */
static bool seen_before(const char *kind, const char *text) {
    enum { MOST = 256 };
    static struct {
        const char *kind;
        char place[100];
    } seen[MOST];
    static int count;
    const char *dot = strstr(text, ".cu:");
    if (dot == NULL) {
        return false;
    }
    const char *begin = dot;
    while (begin > text && begin[-1] != ' ') {
        begin--;
    }
    int length = (int)(dot - begin) + 4 + (int)strspn(dot + 4, "0123456789");
    for (int i = 0; i < count; i++) {
        if (strcmp(seen[i].kind, kind) == 0 && (int)strlen(seen[i].place) == length &&
            strncmp(seen[i].place, begin, (size_t)length) == 0) {
            return true;
        }
    }
    if (count < MOST) {
        seen[count].kind = kind;
        snprintf(seen[count++].place, sizeof seen[0].place, "%.*s", length, begin);
    }
    return false;
}

static const char *rank_prefix(char text[20]) {
    text[0] = '\0';
    if (sim_rank() != NO_RANK) {
        snprintf(text, 20, "[rank %d] ", sim_rank());
    }
    return text;
}

static void print_line(const char *begin, const char *format, va_list values) {
    FILE *to = capture != NULL ? capture : stderr;
    fputs(begin, to);
    vfprintf(to, format, values);
    fputc('\n', to);
}

void sim_report(const char *kind, const char *format, ...) {
    char text[1000], prefix[20];
    if (sim_worker != NULL && sim_worker->in_kernel) {
        sim_in_turn(sim_worker); /* two cores would mix their lines */
    }
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    bool hidden = check_mute(), again = !hidden && seen_before(kind, text);
    repeated += again;
    muted = hidden || again || (capture == NULL && !count_problem(kind));
    if (!muted) {
        fprintf(capture != NULL ? capture : stderr, "[cudasim] %s: %s%s\n", kind,
                rank_prefix(prefix), text);
    }
}

void sim_note(const char *format, ...) {
    muted = check_mute() || capture != NULL;
    if (!muted) {
        va_list values;
        va_start(values, format);
        print_line("[cudasim] note: ", format, values);
        va_end(values);
    }
}

void sim_detail(const char *format, ...) {
    if (!muted) {
        va_list values;
        va_start(values, format);
        print_line("          ", format, values);
        va_end(values);
    }
}

void sim_detail_size(size_t bytes) {
    if (bytes > PTRDIFF_MAX) {
        sim_detail(
            "%td bytes, and as a size %zu: a product of ints beyond 2^31 comes out negative; "
            "begin it with (size_t)",
            (ptrdiff_t)bytes, bytes);
    }
}

void sim_capture(void) {
    capture = open_memstream(&captured, &captured_size);
    or_end(capture);
}

char *sim_captured(void) {
    fclose(capture);
    capture = NULL;
    return captured;
}

void sim_report_captured(const char *kind, const char *text) {
    if (*text != '\0' && count_problem(kind)) {
        fputs(text, stderr);
    }
}

/* ---- the end of a program -------------------------------------------------------------------- */

int cudasim_problems(void) {
    return problems;
}

int sim_findings(void) {
    return problems + repeated;
}

void sim_stop(void) {
    check_stop();
    record_close();
    fprintf(stderr, "[cudasim] the program was stopped here\n");
    fflush(NULL);
    _exit(STATUS);
}

const char *sim_file(Place place) {
    const char *slash = place.file != NULL ? strrchr(place.file, '/') : NULL;
    return slash != NULL ? slash + 1 : place.file != NULL ? place.file : "?";
}

void sim_detail_thread(void) {
    Worker *worker = sim_worker;
    if (worker == NULL || !worker->in_kernel) {
        return;
    }
    const LaunchSite *site = &worker->launch->site;
    sim_detail("in kernel %s, block (%u,%u,%u), thread (%u,%u,%u)", site->name, blockIdx.x,
               blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z);
    sim_detail("launched at %s:%d with <<<(%u,%u,%u), (%u,%u,%u), %zu>>>",
               sim_file((Place){site->file, site->line}), site->line, site->grid.x, site->grid.y,
               site->grid.z, site->block.x, site->block.y, site->block.z, site->shared);
    const Operation *operation = sim_operation();
    if (operation != NULL && operation->replayed.file != NULL) {
        sim_detail("in a graph, by cudaGraphLaunch at %s:%d", sim_file(operation->replayed),
                   operation->replayed.line);
    }
}

/* ---- the end --------------------------------------------------------------------------------- */

static bool ending;

static void report_unchecked(const char *what, Place place, cudaError_t error) {
    sim_report("unchecked error", "%s failed at %s:%d with \"%s\", and the program never checked",
               what, sim_file(place), place.line, cudaGetErrorString(error));
    sim_detail("check the status of every call, and cudaGetLastError() after every launch");
}

/* A report may have come of a call that failed, or be the reason why it did. */
void sim_report_unseen(void) {
    const Host *host = sim_host();
    if (host->unseen) {
        report_unchecked(host->what, host->place, host->last);
    } else if (host->ignored_what != NULL && problems == 0) {
        report_unchecked(host->ignored_what, host->ignored_place, host->ignored);
    }
}

static void end_if_reported(void) {
    if (problems > 0) {
        fprintf(stderr, "[cudasim] %d problem%s reported\n", problems, problems == 1 ? "" : "s");
        fflush(NULL);
        _exit(STATUS);
    }
}

static void at_end(void) {
    ending = true;
    sim_enter_fault();
    /* A kernel that nobody waited for may still have something to report. */
    if (sim_rank() == NO_RANK) { /* else it ends the others in the midst of what they do */
        sim_wait_all();
    }
    check_stop();
    sim_report_unseen();
    bool recorded = record_close();
    end_if_reported();
    if (!recorded) {
        fflush(NULL);
        _exit(1);
    }
    sim_leave_fault();
}

bool sim_ending(void) {
    return ending;
}

/* After a program's global objects, whose destructors may give back what they hold. */
__attribute__((destructor)) static void after_end(void) {
    if (ending && sim_settings.leaks) {
        sim_enter_fault();
        sim_report_leaks();
        end_if_reported();
        sim_leave_fault();
    }
}

void sim_catch_end(void) {
    atexit(at_end);
}
