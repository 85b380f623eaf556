/* Memory over a step, from the probe's events to the record. The contract is in picture.h. */
#include "grader/picture.h"

/* More than any machine has, and a sum of kinds stays far from the largest number. */
static const uint64_t MOST_BYTES = (uint64_t)1 << 50;

/* The event of the stretch [from, to) after which most was in use. */
static size_t largest(const MemoryEvent *events, size_t from, size_t to) {
    size_t best = from;
    for (size_t i = from + 1; i < to; i++) {
        if (memory_total(&events[i].in_use) > memory_total(&events[best].in_use)) {
            best = i;
        }
    }
    return best;
}

void picture_give(const Memory *memory, uint64_t *to) {
    size_t count;
    const MemoryEvent *events = memory_events(memory, &count);
    size_t moments = count < PICTURE_MOMENTS ? count : PICTURE_MOMENTS;
    for (size_t i = 0; i < moments; i++) {
        size_t at = largest(events, i * count / moments, (i + 1) * count / moments);
        for (int kind = 0; kind < MEMORY_KINDS; kind++) {
            *to++ = events[at].in_use.bytes[kind];
        }
    }
}

static json_t *moment(const uint64_t *bytes) {
    json_t *row = json_array();
    for (int kind = 0; kind < MEMORY_KINDS; kind++) {
        if (bytes[kind] > MOST_BYTES) {
            json_decref(row);
            return NULL;
        }
        json_array_append_new(row, json_integer((json_int_t)bytes[kind]));
    }
    return row;
}

json_t *picture_json(const uint64_t *from, const char *title, size_t budget) {
    json_t *kinds = json_array(), *rows = json_array(), *row;
    for (int kind = 0; kind < MEMORY_KINDS; kind++) {
        json_array_append_new(kinds, json_string(memory_kind_name((MemoryKind)kind)));
    }
    for (int i = 0; i < PICTURE_MOMENTS && (row = moment(from + i * MEMORY_KINDS)) != NULL; i++) {
        json_array_append_new(rows, row);
    }
    if (json_array_size(rows) == 0) {
        json_decref(kinds);
        json_decref(rows);
        return NULL;
    }
    return json_pack("{s:s, s:o, s:o, s:I}", "title", title, "kinds", kinds, "bytes", rows,
                     "budget", (json_int_t)budget);
}
