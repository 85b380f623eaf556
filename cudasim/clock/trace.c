/* A reckoned record for readers: a few lines, and a trace. The contract is in makespan.h. */
#include <jansson.h>

#include "cudasim/clock/makespan.h"
#include "cudasim/clock/record_file.h"

#define WARNING "declared, a lower bound, not measured"

void makespan_print(const Makespan *result, const CudasimRecord *record, const Machine *machine,
                    FILE *file) {
    fprintf(file, "%.6g ms on %s (%s)\n", 1e3 * result->seconds, machine->name, WARNING);
    fprintf(file, "  busiest device: kernels %.6g ms, copies %.6g ms, links %.6g ms\n",
            1e3 * result->kernels, 1e3 * result->copies, 1e3 * result->links);
    fprintf(file, "  busiest host:   launches %.6g ms, waits %.6g ms\n", 1e3 * result->launching,
            1e3 * result->waiting);
    fprintf(file, "  %zu entries", record->count);
    if (result->unknown > 0) {
        fprintf(file,
                "; of %zu launches neither bytes nor arithmetic are known: they cost their launch, "
                "and no time on the device",
                result->unknown);
    }
    fprintf(file, "\n");
}

/* ---- the trace ------------------------------------------------------------------------------- */

/* Processes of the trace: devices, and after them hosts. */
enum { HOSTS = 1000000, HOST_LANE = 0 };

typedef struct Trace {
    FILE *file;
    bool good;
    bool first;
} Trace;

static void write_event(Trace *trace, json_t *event) {
    trace->good = trace->good && fputs(trace->first ? "\n" : ",\n", trace->file) >= 0 &&
                  json_dumpf(event, trace->file, JSON_COMPACT) == 0;
    trace->first = false;
    json_decref(event);
}

static void name(Trace *trace, const char *what, int process, int lane, const char *text) {
    write_event(trace, json_pack("{s:s, s:s, s:i, s:i, s:{s:s}}", "ph", "M", "name", what, "pid",
                                 process, "tid", lane, "args", "name", text));
}

static bool on_host(const CudasimEntry *e) {
    return e->stream < 0;
}

static int process_of(const CudasimEntry *e) {
    return on_host(e) ? HOSTS + e->rank : e->device;
}

static int lane_of(const CudasimEntry *e) {
    return on_host(e) ? HOST_LANE : e->stream;
}

/* Each process and each lane once. */
static void name_lanes(Trace *trace, const CudasimRecord *record) {
    json_t *seen = json_object();
    char text[60];
    for (size_t i = 0; i < record->count; i++) {
        const CudasimEntry *e = &record->entry[i];
        snprintf(text, sizeof text, "%d", process_of(e));
        if (json_object_get(seen, text) == NULL) {
            json_object_set_new(seen, text, json_true());
            snprintf(text, sizeof text, on_host(e) ? "host of rank %d" : "device %d",
                     on_host(e) ? e->rank : e->device);
            name(trace, "process_name", process_of(e), 0, text);
        }
        snprintf(text, sizeof text, "%d %d", process_of(e), lane_of(e));
        if (json_object_get(seen, text) == NULL) {
            json_object_set_new(seen, text, json_true());
            snprintf(text, sizeof text, on_host(e) ? "calls" : "stream %d", e->stream);
            name(trace, "thread_name", process_of(e), lane_of(e), text);
        }
    }
    json_decref(seen);
}

static void write_span(Trace *trace, const CudasimEntry *e, const Span *span) {
    json_t *event =
        json_pack("{s:s, s:s, s:s, s:f, s:f, s:i, s:i, s:{s:I}}", "ph", "X", "name",
                  e->op != NULL ? e->op : e->name, "cat", record_file_kind(e->kind), "ts",
                  1e6 * span->begin, "dur", 1e6 * (span->end - span->begin), "pid", process_of(e),
                  "tid", lane_of(e), "args", "id", (json_int_t)e->id);
    json_t *arguments = json_object_get(event, "args");
    if (e->file != NULL) {
        json_object_set_new(arguments, "at", json_sprintf("%s:%d", e->file, e->line));
    }
    if (e->bytes > 0) {
        json_object_set_new(arguments, "bytes", json_real(e->bytes));
    }
    if (e->flops > 0) {
        json_object_set_new(arguments, "flops", json_real(e->flops));
    }
    write_event(trace, event);
}

bool makespan_trace(const CudasimRecord *record, const Span *spans, const Machine *machine,
                    FILE *file) {
    Trace trace = {file, true, true};
    json_t *said = json_pack("{s:s, s:s}", "machine", machine->name, "times", WARNING);
    trace.good = fputs("{\"displayTimeUnit\": \"ms\", \"otherData\": ", file) >= 0 &&
                 json_dumpf(said, file, 0) == 0 && fputs(", \"traceEvents\": [", file) >= 0;
    json_decref(said);
    name_lanes(&trace, record);
    for (size_t i = 0; i < record->count && trace.good; i++) {
        write_span(&trace, &record->entry[i], &spans[i]);
    }
    return trace.good && fputs("\n]}\n", file) >= 0;
}
