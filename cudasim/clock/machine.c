/* Reads a declared machine. The contract is in machine.h. */
#include "cudasim/clock/machine.h"

#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* A number in a file of machines/, and where it goes. Beyond least and most it is a mistake in the
   unit or in the digits. */
typedef struct Figure {
    const char *key, *unit;
    double scale; /* from the unit to seconds and bytes */
    double least, most;
    bool whole; /* an int, else a double */
    size_t offset;
} Figure;

#define RATE(member, unit, scale)                                                                  \
    { #member, unit, scale, 1e-3, 1e6, false, offsetof(Machine, member) }
#define SECONDS(member)                                                                            \
    { #member, "us", 1e-6, 0, 1e4, false, offsetof(Machine, member) }
#define COUNT(member, most)                                                                        \
    { #member, "", 1, 1, most, true, offsetof(Machine, member) }

static const Figure figures[] = {
    RATE(memory, "GB/s", 1e9),
    RATE(f32, "TFLOP/s", 1e12),
    RATE(tf32, "TFLOP/s", 1e12),
    RATE(f16, "TFLOP/s", 1e12),
    RATE(bf16, "TFLOP/s", 1e12),
    RATE(to_device, "GB/s", 1e9),
    RATE(from_device, "GB/s", 1e9),
    RATE(link, "GB/s", 1e9),
    RATE(network, "GB/s", 1e9),
    SECONDS(launch),
    SECONDS(floor),
    COUNT(kernels, 1024),
    COUNT(copy_engines, 2),
    COUNT(node, 1 << 20),
};
enum { FIGURES = sizeof figures / sizeof figures[0] };

static const Figure *figure_of(const char *key) {
    for (int i = 0; i < FIGURES; i++) {
        if (strcmp(figures[i].key, key) == 0) {
            return &figures[i];
        }
    }
    return NULL;
}

static bool wrong(const char *path, const char *key, const char *what) {
    fprintf(stderr, "%s: \"%s\" %s\n", path, key, what);
    return false;
}

static bool read_figure(Machine *machine, const Figure *figure, const json_t *json,
                        const char *path) {
    char text[200];
    const json_t *value = json_object_get(json, "value");
    const char *unit = json_string_value(json_object_get(json, "unit"));
    const char *source = json_string_value(json_object_get(json, "source"));
    if (json_object_size(json) != 3 || !json_is_number(value) || unit == NULL || source == NULL ||
        *source == '\0') {
        return wrong(path, figure->key,
                     "is not {\"value\": number, \"unit\": \"...\", \"source\": \"...\"}");
    }
    if (strcmp(unit, figure->unit) != 0) {
        snprintf(text, sizeof text, "has the unit \"%.50s\"; it must be \"%s\"", unit,
                 figure->unit);
        return wrong(path, figure->key, text);
    }
    double number = json_number_value(value);
    bool fits = number >= figure->least && number <= figure->most;
    if (!fits || (figure->whole && number != floor(number))) {
        snprintf(text, sizeof text, "is %g; it must be a %snumber from %g to %g", number,
                 figure->whole ? "whole " : "", figure->least, figure->most);
        return wrong(path, figure->key, text);
    }
    char *to = (char *)machine + figure->offset;
    if (figure->whole) {
        *(int *)(void *)to = (int)number;
    } else {
        *(double *)(void *)to = number * figure->scale;
    }
    return true;
}

static bool read_machine(Machine *machine, json_t *root, const char *path) {
    const char *name = json_string_value(json_object_get(root, "name")), *key;
    json_t *value;
    if (name == NULL || *name == '\0' || strlen(name) >= sizeof machine->name) {
        return wrong(path, "name", "is missing, or no name");
    }
    strcpy(machine->name, name);
    json_object_foreach(root, key, value) {
        const Figure *figure = figure_of(key);
        if (figure == NULL && strcmp(key, "name") != 0) {
            return wrong(path, key, "is not a key of a machine");
        }
        if (figure != NULL && !read_figure(machine, figure, value, path)) {
            return false;
        }
    }
    for (int i = 0; i < FIGURES; i++) {
        if (json_object_get(root, figures[i].key) == NULL) {
            return wrong(path, figures[i].key, "is missing");
        }
    }
    return true;
}

bool machine_load(Machine *machine, const char *path) {
    json_error_t error;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!json_is_object(root)) {
        fprintf(stderr, "%s: %s\n", path, root == NULL ? error.text : "not a JSON object");
        json_decref(root);
        return false;
    }
    Machine read = {0};
    bool good = read_machine(&read, root, path);
    json_decref(root);
    if (good) {
        *machine = read;
    }
    return good;
}
