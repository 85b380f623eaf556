/* Reads the simulator's reports and counts in a judge. The contract is in judge_profile.h. */
#include "grader/judge_profile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CLASSES = 4, LINE = 200 };

void profile_want(Check *check) {
    char setting[40];
    snprintf(setting, sizeof setting, "CUDASIM_EVENTS=%d", WIRE_EVENTS);
    check_environment(check, setting);
}

void profile_want_traffic(Check *check) {
    char setting[40];
    snprintf(setting, sizeof setting, "CUDASIM_SAMPLE=%d", check_int(check, 0, 1 << 20));
    check_environment(check, setting);
    check_environment(check, "CUDASIM_PROFILE=1");
}

void profile_want_once(Check *check) {
    check_environment(check, "CUDASIM_REPLAY=0");
}

/* The next line "cudasim KIND rest", from *p on; false if there is none. */
static bool profile_next(const char **p, const char *kind, char rest[LINE]) {
    char head[40];
    int length = snprintf(head, sizeof head, "cudasim %s ", kind);
    for (; **p != '\0'; *p += strcspn(*p, "\n"), *p += **p == '\n') {
        if (strncmp(*p, head, (size_t)length) == 0) {
            size_t end = strcspn(*p, "\n"), n = end - (size_t)length;
            snprintf(rest, LINE, "%.*s", (int)(n < LINE ? n : LINE - 1), *p + length);
            *p += end;
            return true;
        }
    }
    return false;
}

static int profile_count(const Check *check, const char *kind) {
    char rest[LINE];
    int count = 0;
    for (const char *p = check_events(check); profile_next(&p, kind, rest); count++) {
    }
    return count;
}

/* ---- a kernel that ends the program ---------------------------------------------------------- */

/* The kernel whose launch was the last to begin, or to be refused; "" if there was none. */
static void profile_last_kernel(const Check *check, char kernel[LINE]) {
    static const char *const kinds[] = {"launch", "refused"};
    const char *last = NULL;
    char rest[LINE];
    kernel[0] = '\0';
    for (int k = 0; k < 2; k++) {
        for (const char *p = check_events(check); profile_next(&p, kinds[k], rest);) {
            if (last == NULL || p > last) {
                last = p;
                memcpy(kernel, rest, LINE);
            }
        }
    }
}

/* Without one kernel after the other. */
static bool profile_ends_by_itself(Check *check, const char *probe_case, double seconds) {
    enum { MOST_LEFT_OUT = 3 };
    char setting[100] = "CUDASIM_WITHOUT=", kernel[LINE];
    for (int i = 0; i < MOST_LEFT_OUT; i++) {
        profile_last_kernel(check, kernel);
        size_t used = strlen(setting);
        if (kernel[0] == '\0' || used + 1 + strlen(kernel) >= sizeof setting) {
            return false;
        }
        snprintf(setting + used, sizeof setting - used, "%s%s", i > 0 ? "," : "", kernel);
        check_environment(check, setting);
        if (check_run(check, probe_case, seconds)) {
            return true;
        }
    }
    return false;
}

bool profile_run_without(Check *check, const char *probe_case, double seconds, ProfileRight *right,
                         const void *context) {
    CheckEnd *end = check_set_end_aside(check);
    bool good = profile_ends_by_itself(check, probe_case, seconds) && right(context);
    check_settle_end(check, end, !good);
    return good;
}

/* ---- reports --------------------------------------------------------------------------------- */

static const char report_mark[] = "[cudasim] ";

/* Whether a line of text is "[cudasim] race: ..." with another class than those before it. */
static bool profile_new_class(const char *line, char seen[CLASSES][LINE], int count) {
    size_t length = strlen(line), kind = strcspn(line, ":");
    bool report = strncmp(line, report_mark, strlen(report_mark)) == 0 && kind < length &&
                  strncmp(line, "[cudasim] note", strlen("[cudasim] note")) != 0;
    for (int i = 0; i < count; i++) {
        report = report && strncmp(line, seen[i], kind + 1) != 0;
    }
    return report;
}

/* The line after a report's first: " (this read: unscale.cu:32 (unscale))", where it says what is
   meant by "here". */
static void profile_read_where(const char *p, char where[LINE]) {
    p += strspn(p, "\n ");
    if (strncmp(p, "this ", strlen("this ")) == 0) {
        snprintf(where, LINE, " (%.*s)", (int)strcspn(p, "\n"), p);
    }
}

/* The first report of each class, side by side: "race: shared memory is read here ...". What the
   kernel itself has printed may stand before it in its line. */
static void profile_first_reports(const Check *check, char *text, size_t size) {
    char seen[CLASSES][LINE];
    int count = 0;
    text[0] = '\0';
    for (const char *p = check_text(check); count < CLASSES && (p = strstr(p, report_mark)) != NULL;
         p += strlen(report_mark)) {
        size_t length = strcspn(p, "\n");
        snprintf(seen[count], LINE, "%.*s", (int)(length < LINE ? length : LINE - 1), p);
        if (profile_new_class(seen[count], seen, count)) {
            size_t used = strlen(text);
            char where[LINE] = "";
            profile_read_where(p + length, where);
            snprintf(text + used, size - used, "%s%s%s", count > 0 ? "; " : "",
                     seen[count] + strlen(report_mark), where);
            count++;
        }
    }
    if (count == 0) {
        snprintf(text, size, "their text is lost in what the program wrote");
    }
}

int profile_problems(const Check *check) {
    return profile_count(check, "problem");
}

bool profile_expect_no_problem(Check *check) {
    int problems = profile_problems(check);
    if (problems != 0) {
        char text[CLASSES * LINE];
        profile_first_reports(check, text, sizeof text);
        check_fail(check, "the simulator has reported %d problem%s: %s", problems,
                   problems == 1 ? "" : "s", text);
    }
    return problems == 0;
}

bool profile_expect_clean(Check *check) {
    return profile_expect_no_problem(check) && profile_expect_seen(check);
}

bool profile_expect_seen(Check *check) {
    char kind[LINE];
    for (const char *p = check_events(check); profile_next(&p, "problem", kind);) {
        if (strcmp(kind, "unseen read") == 0 || strcmp(kind, "unseen write") == 0) {
            char text[CLASSES * LINE];
            profile_first_reports(check, text, sizeof text);
            check_fail(check, "what a kernel touches must be seen: %s", text);
            return false;
        }
    }
    /* A launch with another problem is not run again: that problem is what counts. */
    bool seen = profile_problems(check) > 0 ||
                profile_count(check, "launch") <= profile_count(check, "again");
    if (!seen) {
        check_fail(check, "a launch was not looked at to its end");
    }
    return seen;
}

bool profile_expect_no_fetch(Check *check, size_t bytes) {
    char text[LINE];
    size_t fetched = 0, n;
    for (const char *p = check_events(check); profile_next(&p, "fetch", text);) {
        /* The simulator writes a number: a line without one is forged. */
        fetched += sscanf(text, "%zu", &n) == 1 ? n : bytes + 1;
    }
    int products = profile_count(check, "product");
    if (fetched > bytes) {
        check_fail(check,
                   "%zu bytes were copied to the host, and %zu come back as results: an op fetches "
                   "nothing, what kernels compute stays on the device",
                   fetched, bytes);
    } else if (products > 0) {
        check_fail(check, "a matrix product was called: the kernels of this lab are written by "
                          "hand");
    }
    return fetched <= bytes && products == 0;
}

/* ---- launches -------------------------------------------------------------------------------- */

/* The last run has not ended by itself, and that is not the check's fault. */
static void profile_forget_end(Check *check) {
    check_settle_end(check, check_set_end_aside(check), false);
}

/* Whether all launches are possible. */
static bool profile_expect_possible(Check *check, const char *probe_case, double seconds,
                                    const char *size) {
    char text[CLASSES * LINE];
    bool ran = check_run(check, probe_case, seconds);
    if (profile_count(check, "refused") == 0) {
        return ran;
    }
    profile_first_reports(check, text, sizeof text);
    if (!ran) {
        profile_forget_end(check);
    }
    check_fail(check, "with %s: %s%s", size, text,
               strstr(text, "is beyond (") != NULL
                   ? "; gridDim.y and gridDim.z end at 65535: what has no limit goes in gridDim.x"
                   : "");
    return false;
}

/* Whether the case ends at the launch of that number, which is refused, and before the next. */
static bool profile_ends_at(Check *check, int number, const char *probe_case, double seconds) {
    char setting[40], refused[LINE] = "?", next[LINE];
    snprintf(setting, sizeof setting, "CUDASIM_REFUSE=%d", number);
    check_environment(check, setting);
    bool ran = check_run(check, probe_case, seconds);
    const char *p = check_events(check);
    bool went_on = profile_next(&p, "refused", refused) && profile_next(&p, "accepted", next);
    if (!ran) {
        profile_forget_end(check);
    }
    if (ran || went_on) {
        check_fail(check,
                   "the launch of %s was refused, as by a GPU with too few registers, and %s: "
                   "LAUNCHED(\"name\") after each launch ends the program there",
                   refused, went_on ? "the next was made" : "the op returned as if it had run");
    }
    return !ran && !went_on;
}

bool profile_expect_launches(Check *check, const char *probe_case, double seconds,
                             const char *size) {
    if (check_lost(check)) { /* the end of a run that is refused here would hide why */
        return false;
    }
    check_environment(check, "CUDASIM_DRY=1");
    bool good = profile_expect_possible(check, probe_case, seconds, size);
    int launches = profile_count(check, "accepted");
    if (good && launches == 0) {
        check_fail(check, "with %s no kernel is launched", size);
    }
    for (int i = 1; good && i <= launches; i++) {
        good = profile_ends_at(check, i, probe_case, seconds);
    }
    return good && launches > 0;
}

/* Bytes that a case moves, as far as two blocks of each launch tell; -1 where it has not ended. */
static double profile_moved(Check *check, const char *probe_case, double seconds, uint64_t many,
                            const char *pieces) {
    char rest[LINE], size[60];
    double moved = 0, blocks, of_block;
    snprintf(size, sizeof size, "%llu %s", (unsigned long long)many, pieces);
    check_give_again(check, "many", WIRE_U64, &many, 1);
    if (!profile_expect_possible(check, probe_case, seconds, size)) {
        return -1;
    }
    const char *grid = check_events(check), *share = grid;
    while (profile_next(&grid, "blocks", rest) && sscanf(rest, "%lf", &blocks) == 1 &&
           profile_next(&share, "share", rest) && sscanf(rest, "%*f %*f %lf", &of_block) == 1) {
        moved += blocks * of_block;
    }
    return moved;
}

bool profile_expect_whole(Check *check, const char *probe_case, double seconds, uint64_t few,
                          uint64_t many, const char *pieces) {
    char setting[40];
    /* A grid of few blocks may be right: then a block takes long, and has all of the time. */
    snprintf(setting, sizeof setting, "CUDASIM_TIMEOUT=%d", (int)seconds);
    check_environment(check, setting);
    check_environment(check, "CUDASIM_BLOCKS=2");
    check_environment(check, "CUDASIM_REPLAY=0");
    double of_few = profile_moved(check, probe_case, seconds, few, pieces);
    double of_many = of_few >= 0 ? profile_moved(check, probe_case, seconds, many, pieces) : -1;
    bool whole = of_many >= of_few * (double)many / (double)few / 2;
    if (of_many >= 0 && !whole) {
        check_fail(
            check,
            "of %llu %s the blocks that are launched move %.3g times as much as of %llu, so %s "
            "are left out. Where a grid has fewer blocks than the work has pieces, they go through "
            "it in a loop",
            (unsigned long long)many, pieces, of_many / of_few, (unsigned long long)few, pieces);
    }
    return of_many >= 0 && whole;
}

/* ---- traffic --------------------------------------------------------------------------------- */

/* The traffic of one warp at one line in one launch. */
typedef struct ProfileLine {
    char access[8];         /* "read", "write" */
    double requests, lanes; /* lanes: over all requests */
    double sectors, ideal;  /* touched, and the fewest that would do */
    double worst;           /* sectors that one request touches beyond its fewest */
    char where[LINE];       /* "update at adamw.cu:31" */
} ProfileLine;

static bool profile_next_line(const char **p, ProfileLine *line) {
    char rest[LINE];
    while (profile_next(p, "traffic", rest)) {
        if (sscanf(rest, "%7s %*u %lf %lf %lf %lf %lf %199[^\n]", line->access, &line->requests,
                   &line->lanes, &line->sectors, &line->ideal, &line->worst, line->where) == 7) {
            return true;
        }
    }
    return false;
}

/* Whether each request may be one of neighbours: those that do not begin where a sector does touch
   one more. */
static bool profile_neighbours(const ProfileLine *line) {
    double most = fmax(PROFILE_MOST_SECTORS * line->ideal, line->ideal + line->requests);
    return line->sectors <= most && line->worst <= PROFILE_WORST_REQUEST;
}

bool profile_expect_neighbours(Check *check, double sectors[2]) {
    ProfileLine line;
    const char *p = check_events(check);
    sectors[0] = sectors[1] = 0;
    if (!profile_expect_seen(check)) {
        return false;
    }
    while (profile_next_line(&p, &line)) {
        sectors[line.access[0] == 'w'] += line.sectors;
        if (!profile_neighbours(&line)) {
            check_fail(check,
                       "in %s, a %s touches %.2f times the fewest sectors that would do (%.2f "
                       "is allowed): do the lanes of a warp take neighbours?",
                       line.where, line.access, line.sectors / line.ideal, PROFILE_MOST_SECTORS);
            return false;
        }
    }
    /* A few warps may write for all: those that were drawn need not be among them. */
    bool seen = sectors[0] > 0;
    if (!seen) {
        check_fail(check, "no kernel was seen to read device memory");
    }
    return seen;
}

/* ---- how work is shared ---------------------------------------------------------------------- */

const ProfileShares profile_any_kernel = {.thread = 0.25, .block = 1e9, .lanes = 16};
const ProfileShares profile_good_kernel = {.thread = 1.0 / 64, .block = 0.9, .lanes = 1};

/* In small launches a thread looks up more than it moves. */
enum { LOOKED_UP = 256 /* bytes of a thread */ };

/* The launches of a run, added up: a line that is added makes none of these smaller. */
typedef struct ProfileSum {
    double thread, block, waiting; /* waiting: what idle lanes could have moved */
    double most;                   /* of one thread */
    char name[LINE];
    int launches;
} ProfileSum;

static ProfileSum profile_sum(const Check *check) {
    ProfileSum sum = {0};
    char rest[LINE], name[LINE];
    for (const char *p = check_events(check); profile_next(&p, "share", rest);) {
        double all, thread, block, lanes;
        if (sscanf(rest, "%lf %lf %lf %lf %199[^\n]", &all, &thread, &block, &lanes, name) == 5) {
            sum.thread += thread;
            sum.block += block;
            sum.waiting += lanes > all ? lanes - all : 0;
            sum.launches++;
            if (thread > sum.most) {
                sum.most = thread;
                snprintf(sum.name, sizeof sum.name, "%s", name);
            }
        }
    }
    return sum;
}

bool profile_expect_shared(Check *check, double bytes, ProfileShares shares) {
    ProfileSum sum = profile_sum(check);
    double extra = (double)LOOKED_UP * sum.launches;
    if (sum.launches == 0 && bytes > 0) { /* silence proves nothing */
        check_fail(check, "no kernel was seen to run, and %.0f bytes are to be moved", bytes);
    } else if (sum.thread > shares.thread * bytes + extra) {
        check_fail(check,
                   "one thread of %s moves %.0f bytes, and %.0f are all that the work takes: a GPU "
                   "is fast because thousands of threads share the work, each a few numbers",
                   sum.name, sum.most, bytes);
    } else if (sum.waiting > shares.lanes * bytes + 32 * extra) {
        check_fail(check,
                   "most lanes of a warp wait while few move data: give each of the 32 its own "
                   "numbers");
    } else if (sum.block > shares.block * bytes + 1024 * extra) {
        check_fail(check,
                   "one block does nearly all of the work, and the others of the GPU wait: cut it "
                   "into more blocks");
    } else {
        return true;
    }
    return false;
}
