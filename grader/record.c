/* The record of a graded hand-in, as JSON and as a table. The contract is in record.h. */
#include "grader/record.h"

#include <stdlib.h>
#include <string.h>

#include "common/files.h"
#include "common/text.h"
#include "kernels/base.h"

static const char *const names[] = {
    [ROW_GRADER_ERROR] = "grader error",
    [ROW_PASS] = "pass",
    [ROW_FAIL] = "fail",
    [ROW_NOT_STARTED] = "not started",
    [ROW_CRASHED] = "crashed",
    [ROW_TIMEOUT] = "timeout",
    [ROW_OVER_BUDGET] = "over budget",
    [ROW_BUILD_ERROR] = "build error",
    [ROW_SANDBOX_ERROR] = "sandbox error",
    [ROW_NOT_RUN] = "not run",
};
enum { STATES = sizeof names / sizeof names[0] };

const char *row_state_name(RowState state) {
    return names[state];
}

RowState row_state_of(const char *name) {
    for (int i = 0; i < STATES; i++) {
        if (name != NULL && strcmp(names[i], name) == 0) {
            return (RowState)i;
        }
    }
    return ROW_GRADER_ERROR;
}

static bool is_blank(const char *text) {
    return text[strspn(text, " \n\t")] == '\0';
}

bool row_is_told(RowState state, const char *message, const char *mistake) {
    return state == ROW_PASS || state == ROW_NOT_RUN || !is_blank(message) || !is_blank(mistake);
}

json_t *record_new(const char *lab, const char *from, const json_t *plan) {
    json_t *rows = json_array(), *planned;
    size_t i;
    json_array_foreach(plan, i, planned) {
        json_t *row = json_deep_copy(planned);
        json_object_set_new(row, "state", json_string(names[ROW_GRADER_ERROR]));
        json_array_append_new(rows, row);
    }
    json_t *record =
        json_pack("{s:i, s:s, s:s, s:o}", "version", 1, "lab", lab, "from", from, "checks", rows);
    CHECK(record != NULL, "no memory for a record");
    record_add_up(record);
    return record;
}

json_t *record_row(json_t *record, const char *name) {
    json_t *row;
    size_t i;
    json_array_foreach(json_object_get(record, "checks"), i, row) {
        if (strcmp(json_string_value(json_object_get(row, "name")), name) == 0) {
            return row;
        }
    }
    return NULL;
}

static const char *text_of(const json_t *row, const char *key) {
    const char *text = json_string_value(json_object_get(row, key));
    return text != NULL ? text : "";
}

static double number_of(const json_t *row, const char *key) {
    return json_number_value(json_object_get(row, key));
}

void record_add_up(json_t *record) {
    double score = 0, total = 0;
    bool own = json_object_get(record, "part") == NULL,
         full = own; /* nothing for what is the kit's */
    json_t *row;
    size_t i;
    json_array_foreach(json_object_get(record, "checks"), i, row) {
        RowState state = row_state_of(text_of(row, "state"));
        double points = number_of(row, "points");
        double earned = own && state == ROW_PASS ? points : 0;
        json_object_set_new(row, "earned", json_real(earned));
        score += earned;
        total += points;
        full = full && (state == ROW_PASS || state == ROW_NOT_RUN);
    }
    json_object_set_new(record, "score", json_real(score));
    json_object_set_new(record, "total", json_real(total));
    json_object_set_new(record, "full", json_boolean(full));
}

bool record_write(const json_t *json, const char *path) {
    FILE *file = file_begin(path);
    if (file == NULL) {
        return false;
    }
    bool whole = json_dumpf(json, file, JSON_INDENT(2) | JSON_ENSURE_ASCII) == 0;
    if (!whole && !ferror(file)) {
        fprintf(stderr, "%s: cannot write: this is not JSON\n", path);
        return file_end(file, path, false) == 0;
    }
    return file_end(file, path, true) == 0;
}

/* ---- what is shown --------------------------------------------------------------------------- */

char *record_clean(const char *text) {
    char *copy = strdup(text);
    CHECK(copy != NULL, "no memory for a text");
    text_plain(copy, strlen(copy), "\n\t");
    return copy;
}

/* A text that may have several lines, each indented. */
static void print_indented(FILE *to, const char *text) {
    char *clean = record_clean(text), *rest = clean;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        if (*line != '\0') {
            fprintf(to, "        %s\n", line);
        }
    }
    free(clean);
}

/* The mistake that several checks have in common comes first: "one mistake explains all 12 lost
   checks: ...". */
static void print_story(const json_t *record, FILE *to) {
    const json_t *story = json_object_get(record, "story");
    size_t explained = json_array_size(json_object_get(story, "checks"));
    size_t lost = (size_t)number_of(story, "lost");
    if (explained == 0) {
        return;
    }
    char *mistake = record_clean(text_of(story, "mistake"));
    if (explained == lost) {
        fprintf(to, "One mistake explains all %zu lost checks: %s\n", lost, mistake);
    } else {
        fprintf(to, "One mistake explains %zu of %zu lost checks: %s\n", explained, lost, mistake);
    }
    free(mistake);
}

/* Whether a row's mistake is what the story tells. */
static bool is_told(const json_t *record, const char *mistake) {
    const char *story = text_of(json_object_get(record, "story"), "mistake");
    return *story != '\0' && strncmp(mistake, "likely: ", 8) == 0 &&
           strcmp(mistake + 8, story) == 0;
}

static void print_row(const json_t *record, const json_t *row, FILE *to) {
    const char *seen = text_of(row, "visibility");
    bool hidden = *seen != '\0' && strcmp(seen, "always") != 0;
    char points[40];
    double worth = number_of(row, "points");
    if (worth > 0) {
        snprintf(points, sizeof points, "%g/%g", number_of(row, "earned"), worth);
    } else {
        snprintf(points, sizeof points, "-");
    }
    fprintf(to, "  %-22s %7s  %-13s %6.2f s   %s%s%s\n", text_of(row, "name"), points,
            text_of(row, "state"), number_of(row, "seconds"), text_of(row, "title"),
            hidden ? "; students see this: " : "", hidden ? seen : "");
    print_indented(to, text_of(row, "message"));
    if (row_state_of(text_of(row, "state")) != ROW_PASS) {
        const char *mistake = text_of(row, "mistake");
        print_indented(to, is_told(record, mistake) ? "the mistake above" : mistake);
    }
}

void record_print(const json_t *record, FILE *to) {
    json_t *row;
    size_t i;
    fprintf(to, "Lab %s, from %s\n", text_of(record, "lab"), text_of(record, "from"));
    print_story(record, to);
    json_array_foreach(json_object_get(record, "checks"), i, row) {
        print_row(record, row, to);
    }
    fprintf(to, "Sandbox: %s\n", text_of(record, "sandbox"));
    fprintf(to, "Inputs:  SEED=%s\n", text_of(record, "seed"));
    fprintf(to, "Score:   %g of %g points\n", number_of(record, "score"),
            number_of(record, "total"));
}
