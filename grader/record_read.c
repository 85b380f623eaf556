#include "grader/record_read.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grader/record.h"

enum { MOST_BYTES = 64 << 20, MOST_CHECKS = 1000, MOST_NAME = 100 };

/* Names go into XML and file names as they are. */
static bool is_name(const json_t *value) {
    const char *text = json_string_value(value);
    size_t length = json_string_length(value);
    bool good = text != NULL && length > 0 && length <= MOST_NAME;
    for (size_t i = 0; good && i < length; i++) {
        good = isalnum((unsigned char)text[i]) || text[i] == '_';
    }
    return good;
}

/* A text ends at its NUL for C, but not for JSON. */
static bool is_text(const json_t *value) {
    return json_is_string(value) && strlen(json_string_value(value)) == json_string_length(value);
}

/* Points, seconds: far from where sums lose their meaning. */
static bool is_amount(const json_t *value) {
    double number = json_number_value(value);
    return json_is_number(value) && number >= 0 && number <= 1e9;
}

typedef bool accepts_fn(const json_t *value);

/* Whether each of the keys that is there is what it should be; else *wrong is the one that is not.
 */
static bool all_are(const json_t *object, const char *const keys[], accepts_fn *accepts,
                    const char **wrong) {
    for (int i = 0; keys[i] != NULL; i++) {
        const json_t *value = json_object_get(object, keys[i]);
        if (value != NULL && !accepts(value)) {
            *wrong = keys[i];
            return false;
        }
    }
    return true;
}

static const char *const row_texts[] = {"title", "message", "mistake", "output", NULL};
static const char *const row_amounts[] = {"points", "seconds", "earned", NULL};
static const char *const record_texts[] = {"from", "sandbox", "seed", NULL};

/* Shown as it is, so it must be one of these. */
static bool is_visibility(const json_t *value) {
    const char *text = json_string_value(value);
    return value == NULL ||
           (text != NULL && (strcmp(text, "always") == 0 || strcmp(text, "after_due_date") == 0 ||
                             strcmp(text, "never") == 0));
}

/* What is wrong with a check, or NULL. */
static const char *fault_of_row(const json_t *row) {
    const char *state = json_string_value(json_object_get(row, "state")), *wrong = NULL;
    if (!is_name(json_object_get(row, "name"))) {
        return "a check has no name";
    }
    if (state == NULL || strcmp(row_state_name(row_state_of(state)), state) != 0) {
        return "a check has no state";
    }
    if (json_object_get(row, "points") == NULL) {
        return "a check has no points";
    }
    if (!is_visibility(json_object_get(row, "visibility"))) {
        return "a check has no visibility";
    }
    all_are(row, row_texts, is_text, &wrong);
    all_are(row, row_amounts, is_amount, &wrong);
    return wrong;
}

static const char *fault_of(const json_t *record) {
    const json_t *rows = json_object_get(record, "checks"), *row;
    const char *fault = NULL;
    size_t i;
    if (!is_name(json_object_get(record, "lab"))) {
        return "it names no lab";
    }
    if (!json_is_array(rows) || json_array_size(rows) == 0 || json_array_size(rows) > MOST_CHECKS) {
        return "it has no checks, or too many";
    }
    json_array_foreach(rows, i, row) {
        fault = fault != NULL ? fault : fault_of_row(row);
    }
    if (fault == NULL) {
        all_are(record, record_texts, is_text, &fault);
    }
    return fault;
}

/* Nothing that a terminal would take for more than text. */
static void clean_texts(json_t *object, const char *const keys[]) {
    for (int i = 0; keys[i] != NULL; i++) {
        const char *text = json_string_value(json_object_get(object, keys[i]));
        if (text != NULL) {
            char *clean = record_clean(text);
            json_object_set_new(object, keys[i], json_string(clean));
            free(clean);
        }
    }
}

static void clean_record(json_t *record) {
    json_t *row;
    size_t i;
    clean_texts(record, record_texts);
    json_array_foreach(json_object_get(record, "checks"), i, row) {
        clean_texts(row, row_texts);
    }
}

json_t *record_parse(const char *bytes, size_t size, const char *name) {
    json_error_t error;
    json_t *record =
        size <= MOST_BYTES ? json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &error) : NULL;
    if (record == NULL) {
        char *text = record_clean(size <= MOST_BYTES ? error.text : "it is too large");
        fprintf(stderr, "%s: no record: %s\n", name, text);
        free(text);
        return NULL;
    }
    const char *fault = fault_of(record);
    if (fault != NULL) {
        fprintf(stderr, "%s: no record: %s\n", name, fault);
        json_decref(record);
        return NULL;
    }
    clean_record(record);
    record_add_up(record);
    return record;
}

json_t *record_read(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return NULL;
    }
    char *bytes = NULL, part[4096];
    size_t size = 0, got;
    FILE *to = open_memstream(&bytes, &size);
    size_t total = 0;
    while (to != NULL && total <= MOST_BYTES && (got = fread(part, 1, sizeof part, file)) > 0) {
        total += fwrite(part, 1, got, to);
    }
    bool good = to != NULL && !ferror(file);
    good = to != NULL && fclose(to) == 0 && good;
    fclose(file);
    json_t *record = NULL;
    if (good) {
        record = record_parse(bytes, size, path);
    } else {
        fprintf(stderr, "%s: cannot be read\n", path);
    }
    free(bytes);
    return record;
}
