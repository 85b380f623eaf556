/* Reads the simulator's reports and counts in a judge. The contract is in judge_profile.h. */
#include "grader/judge_profile.h"

#include <stdio.h>
#include <string.h>

void profile_want(Check *check) {
    check_want(check, "problems", WIRE_I32, 1);
    check_want(check, "profile", WIRE_BYTES, PROFILE_LINES * sizeof(ProfileLine));
}

/* ---- reports --------------------------------------------------------------------------------- */

enum { CLASSES = 4, LINE = 200 };

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

/* The first report of each class, side by side: "[cudasim] race:
   shared memory is read here ...". */
static void profile_first_reports(const Check *check, char *text, size_t size) {
    char seen[CLASSES][LINE];
    int count = 0;
    text[0] = '\0';
    for (const char *p = check_text(check); *p != '\0' && count < CLASSES; p += *p == '\n') {
        size_t length = strcspn(p, "\n");
        snprintf(seen[count], LINE, "%.*s", (int)(length < LINE ? length : LINE - 1), p);
        if (profile_new_class(seen[count], seen, count)) {
            size_t used = strlen(text);
            snprintf(text + used, size - used, "%s%s", count > 0 ? "; " : "",
                     seen[count] + strlen(report_mark));
            count++;
        }
        p += length;
    }
}

bool profile_expect_clean(Check *check) {
    int32_t problems = *(const int32_t *)check_got(check, "problems", WIRE_I32);
    if (problems != 0) {
        char text[CLASSES * LINE];
        profile_first_reports(check, text, sizeof text);
        check_fail(check, "the simulator has reported %d problem%s: %s", problems,
                   problems == 1 ? "" : "s", text);
    }
    return problems == 0;
}

/* ---- traffic --------------------------------------------------------------------------------- */

bool profile_expect_neighbours(Check *check, double sectors[2]) {
    ProfileLine line[PROFILE_LINES];
    memcpy(line, check_got(check, "profile", WIRE_BYTES), sizeof line);
    sectors[0] = sectors[1] = 0;
    for (int i = 0; i < PROFILE_LINES && line[i].used == 1; i++) {
        sectors[line[i].write != 0] += line[i].sectors;
        if (!(line[i].ideal > 0 && line[i].sectors <= PROFILE_MOST_SECTORS * line[i].ideal)) {
            check_fail(check,
                       "in %.31s, a %s touches %.2f times the fewest sectors that would do (%.2f "
                       "is allowed): do the lanes of a warp take neighbours?",
                       line[i].kernel, line[i].write ? "write" : "read",
                       line[i].sectors / line[i].ideal, PROFILE_MOST_SECTORS);
        }
    }
    bool seen = sectors[0] > 0 && sectors[1] > 0;
    if (!seen) {
        check_fail(check, "no kernel was seen to read and to write device memory");
    }
    return seen;
}
