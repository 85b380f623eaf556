#include "train/timeline.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <string.h>

#include "common/testkit/scratch.h"

/* "a" comes first and goes first: in one row its life would cut that of "b" in two. */
static Memory *interleaved(Device *device) {
    Memory *memory = memory_new(device, (MemoryOptions){0});
    Memory *lane = memory_lane(memory, "micro-batch 1");
    memory_alloc(lane, MEMORY_ACTIVATIONS, "before", 0, 1);
    memory_record(memory, true);
    memory_alloc(lane, MEMORY_ACTIVATIONS, "a", 0, 100);
    memory_alloc(memory, MEMORY_ACTIVATIONS, "b", 0, 200);
    memory_release(lane, 0);
    memory_alloc(lane, MEMORY_DATA, "c", 0, 300);
    memory_release(memory, 0);
    return memory;
}

/* The slice of that name: its row, and when it begins and ends in microseconds. */
typedef struct Slice {
    bool found;
    int pid, tid;
    double begin, end;
} Slice;

static Slice slice_of(const json_t *events, const char *name) {
    const char *found, *phase;
    Slice slice = {.found = true};
    for (size_t i = 0; i < json_array_size(events); i++) {
        if (json_unpack(json_array_get(events, i), "{s:s, s:s, s:f, s:f, s:i, s:i}", "name", &found,
                        "ph", &phase, "ts", &slice.begin, "dur", &slice.end, "pid", &slice.pid,
                        "tid", &slice.tid) == 0 &&
            strcmp(found, name) == 0 && strcmp(phase, "X") == 0) {
            slice.end += slice.begin;
            return slice;
        }
    }
    return (Slice){.found = false};
}

static bool has_row(const json_t *events, const char *what, int pid, const char *name) {
    const char *found, *row;
    int in;
    for (size_t i = 0; i < json_array_size(events); i++) {
        if (json_unpack(json_array_get(events, i), "{s:s, s:i, s:{s:s}}", "name", &found, "pid",
                        &in, "args", "name", &row) == 0 &&
            strcmp(found, what) == 0 && in == pid && strcmp(row, name) == 0) {
            return true;
        }
    }
    return false;
}

Test(timeline, a_trace_has_a_group_of_rows_for_each_lane) {
    Device *device = device_cpu_new(1 << 20);
    Memory *memory = interleaved(device);
    cr_assert_eq(timeline_trace(memory, "lanes", scratch_path("trace.json")), 0);
    json_t *trace = json_load_file(scratch_path("trace.json"), 0, NULL);
    const json_t *events = json_object_get(trace, "traceEvents");
    Slice a = slice_of(events, "a"), b = slice_of(events, "b"), c = slice_of(events, "c");
    cr_assert(a.found && a.pid == 2 && a.tid == MEMORY_ACTIVATIONS + 1);
    cr_assert(b.found && b.pid == 1 && b.tid == MEMORY_ACTIVATIONS + 1);
    cr_assert(c.found && c.pid == 2 && c.tid == MEMORY_DATA + 1);
    cr_assert(a.end <= c.begin && c.begin < b.end, "a ends at %g, c begins at %g, b ends at %g",
              a.end, c.begin, b.end);
    cr_assert(!slice_of(events, "before").found);
    cr_assert(has_row(events, "process_name", 2, "micro-batch 1"));
    cr_assert(has_row(events, "thread_name", 2, "activations"));
    cr_assert(has_row(events, "thread_name", 1, "activations"));
    cr_assert(!has_row(events, "process_name", 1, ""));
    json_decref(trace);
    scratch_remove();
    memory_free(memory);
    device_free(device);
}
