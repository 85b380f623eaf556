/* The memory of one step over time, as SVG and as a trace. The contract is in timeline.h. */
#include "train/timeline.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/files.h"
#include "train/plot.h"

enum { LARGEST = 5 };

/* Index of the event after which most was in use. */
static size_t peak_of(const MemoryEvent *events, size_t count) {
    size_t peak = 0;
    for (size_t i = 1; i < count; i++) {
        if (memory_total(&events[i].in_use) > memory_total(&events[peak].in_use)) {
            peak = i;
        }
    }
    return peak;
}

/* The largest of all tensors that were alive at the peak, in order; returns how many. */
static int largest_alive(Memory *memory, Tensor largest[LARGEST]) {
    size_t count;
    const Tensor *tensors = memory_peak_tensors(memory, &count);
    int found = 0;
    for (size_t i = 0; i < count; i++) {
        int at = found < LARGEST ? found++ : LARGEST;
        for (; at > 0 && largest[at - 1].bytes < tensors[i].bytes; at--) {
            if (at < LARGEST) {
                largest[at] = largest[at - 1];
            }
        }
        if (at < LARGEST) {
            largest[at] = tensors[i];
        }
    }
    return found;
}

static void write_data(FILE *data, const MemoryEvent *events, size_t count) {
    MemoryUse before = events[0].in_use;
    for (size_t i = 0; i < count; i++) {
        double milliseconds = 1e3 * (events[i].seconds - events[0].seconds);
        /* Two lines an event: memory changes in steps, not along slopes. */
        for (int after = 0; after < 2; after++) {
            const MemoryUse *use = after ? &events[i].in_use : &before;
            double sum = 0;
            fprintf(data, "%.6f", milliseconds);
            for (int kind = 0; kind < MEMORY_KINDS; kind++) {
                sum += memory_mib(use->bytes[kind]);
                fprintf(data, " %.6f", sum);
            }
            fputc('\n', data);
        }
        before = events[i].in_use;
    }
}

static void tensor_text(char *text, size_t bytes, const Memory *memory, const Tensor *tensor) {
    char line[256];
    int length = snprintf(line, sizeof line, "%.2f MiB  %s %s", memory_mib(tensor->bytes),
                          memory_kind_name(tensor->kind), tensor->name);
    if (tensor->layer >= 0) {
        length +=
            snprintf(line + length, sizeof line - (size_t)length, ", layer %d", tensor->layer);
    }
    if (tensor->lane > 0) {
        snprintf(line + length, sizeof line - (size_t)length, " (%s)",
                 memory_lane_name(memory, tensor->lane));
    }
    plot_escape(text, bytes, line);
}

/* The data to draw for one memory. */
typedef struct Drawing {
    Memory *memory;
    const MemoryEvent *events;
    size_t count, peak; /* events; index of the one after which most was in use */
} Drawing;

static double milliseconds(const Drawing *panel, size_t i) {
    return 1e3 * (panel->events[i].seconds - panel->events[0].seconds);
}

static double peak_mib(const Drawing *panel) {
    return memory_mib(memory_total(&panel->events[panel->peak].in_use));
}

/* The same scales for all panels, so that they can be compared. */
static void write_scales(FILE *script, const Drawing *panels, int count) {
    double end = 0, top = 0;
    for (int i = 0; i < count; i++) {
        end = fmax(end, milliseconds(&panels[i], panels[i].count - 1));
        top = fmax(top, peak_mib(&panels[i]));
    }
    fprintf(script,
            "set ylabel \"MiB in use\"\nset key outside right top invert reverse Left\n"
            "set xrange [0:%.6f]\nset yrange [0:%.6f]\nset tics nomirror out\nset border 3\n"
            "set style fill solid 1.0 noborder\nset rmargin 36\n",
            end > 0 ? end : 1, top * 1.15);
}

static void write_panel(FILE *script, const Drawing *panel, const char *title, int index) {
    static const char *const colours[MEMORY_KINDS] = {"#4c72b0", "#8172b3", "#937860",
                                                      "#dd8452", "#c7c7c7", "#55a868"};
    char text[256];
    double at = milliseconds(panel, panel->peak), top = peak_mib(panel);
    plot_escape(text, sizeof text, title);
    fprintf(script, "unset label\nset title \"%s\"\n", text);
    fprintf(script,
            "set label 1 \"peak %.2f MiB\" at %.6f,%.6f point pt 7 ps 0.6 offset 0.5,0.7 front\n",
            top, at, top);
    Tensor largest[LARGEST];
    int found = largest_alive(panel->memory, largest);
    fprintf(script, "set label 2 \"the largest tensors\\nalive at the peak:\" "
                    "at graph 1.03,0.42 font ',11'\n");
    for (int i = 0; i < found; i++) {
        tensor_text(text, sizeof text, panel->memory, &largest[i]);
        fprintf(script, "set label %d \"%s\" at graph 1.03,%.3f font ',10'\n", 3 + i, text,
                0.32 - 0.05 * i);
    }
    fprintf(script, "plot ");
    for (int kind = MEMORY_KINDS - 1; kind >= 0; kind--) {
        fprintf(script, "data index %d using 1:%d with filledcurves x1 lc rgb '%s' title '%s'%s",
                index, kind + 2, colours[kind], memory_kind_name((MemoryKind)kind),
                kind > 0 ? ", \\\n     " : "\n");
    }
}

int timeline_pictures(Memory *const *memory, const char *const *title, int count,
                      const char *path) {
    enum { MOST_PANELS = 4 };
    Drawing panels[MOST_PANELS];
    Plot plot;
    CHECK(count >= 1 && count <= MOST_PANELS, "%d pictures in one", count);
    for (int i = 0; i < count; i++) {
        panels[i].memory = memory[i];
        panels[i].events = memory_events(memory[i], &panels[i].count);
        if (panels[i].count == 0) {
            fprintf(stderr, "%s: no picture, because nothing was recorded\n", path);
            return -1;
        }
        panels[i].peak = peak_of(panels[i].events, panels[i].count);
    }
    if (plot_begin(&plot, path, "Memory of a training step over time, by kind; the peak is marked",
                   1100, 480 * count - 60 * (count - 1)) != 0) {
        return -1;
    }
    write_scales(plot.script, panels, count);
    if (count > 1) {
        fprintf(plot.script, "set multiplot layout %d,1\n", count);
    }
    for (int i = 0; i < count; i++) {
        write_data(plot.data, panels[i].events, panels[i].count);
        fprintf(plot.data, "\n\n");
        fprintf(plot.script, i == count - 1 ? "set xlabel \"milliseconds since the step began\"\n"
                                            : "unset xlabel\n");
        write_panel(plot.script, &panels[i], title[i], i);
    }
    return plot_end(&plot);
}

int timeline_picture(Memory *memory, const char *title, const char *path) {
    return timeline_pictures(&memory, &title, 1, path);
}

static json_t *counter(const MemoryEvent *event, double microseconds) {
    json_t *values = json_object();
    for (int kind = 0; kind < MEMORY_KINDS; kind++) {
        json_object_set_new(values, memory_kind_name(kind),
                            json_integer((json_int_t)event->in_use.bytes[kind]));
    }
    return json_pack("{s:s, s:s, s:f, s:i, s:o}", "name", "bytes in use", "ph", "C", "ts",
                     microseconds, "pid", 1, "args", values);
}

/* A row for each kind, in a group for each lane: in a row the lives of tensors lie within one
   another, as they do on a stack. */
static json_t *slice(const MemoryEvent *begin, double from, double to) {
    return json_pack("{s:s, s:s, s:s, s:f, s:f, s:i, s:i, s:{s:I, s:i}}", "name",
                     begin->tensor.name, "cat", memory_kind_name(begin->tensor.kind), "ph", "X",
                     "ts", from, "dur", to - from, "pid", begin->tensor.lane + 1, "tid",
                     (int)begin->tensor.kind + 1, "args", "bytes", (json_int_t)begin->tensor.bytes,
                     "layer", begin->tensor.layer);
}

static json_t *row_name(const char *what, int lane, int kind, const char *name) {
    return json_pack("{s:s, s:s, s:i, s:i, s:{s:s}}", "name", what, "ph", "M", "pid", lane + 1,
                     "tid", kind + 1, "args", "name", name);
}

static void name_rows(json_t *list, const Memory *memory) {
    for (int lane = 0; lane < memory_lanes(memory); lane++) {
        if (lane > 0) {
            json_array_append_new(
                list, row_name("process_name", lane, 0, memory_lane_name(memory, lane)));
        }
        for (int kind = 0; kind < MEMORY_KINDS; kind++) {
            json_array_append_new(
                list, row_name("thread_name", lane, kind, memory_kind_name((MemoryKind)kind)));
        }
    }
}

/* The event with which a tensor came that now goes: the newest of its lane that is open, which
   leaves the list. NULL where it came before the recording began. */
static const MemoryEvent *take_opening(const MemoryEvent **open, size_t *depth, int lane) {
    for (size_t i = *depth; i-- > 0;) {
        const MemoryEvent *opening = open[i];
        if (opening->tensor.lane == lane) {
            memmove(open + i, open + i + 1, (--*depth - i) * sizeof *open);
            return opening;
        }
    }
    return NULL;
}

static json_t *trace_events(const Memory *memory, const MemoryEvent *events, size_t count) {
    json_t *list = json_array();
    const MemoryEvent **open = malloc((count + 1) * sizeof *open);
    CHECK(open != NULL, "no memory for %zu pointers", count);
    size_t depth = 0;
    double start = events[0].seconds, last = 1e6 * (events[count - 1].seconds - start);
    name_rows(list, memory);
    for (size_t i = 0; i < count; i++) {
        double now = 1e6 * (events[i].seconds - start);
        json_array_append_new(list, counter(&events[i], now));
        if (events[i].allocated) {
            open[depth++] = &events[i];
            continue;
        }
        const MemoryEvent *begin = take_opening(open, &depth, events[i].tensor.lane);
        if (begin != NULL) {
            json_array_append_new(list, slice(begin, 1e6 * (begin->seconds - start), now));
        }
    }
    while (depth > 0) {
        const MemoryEvent *begin = open[--depth];
        json_array_append_new(list, slice(begin, 1e6 * (begin->seconds - start), last));
    }
    free(open);
    return list;
}

int timeline_trace(const Memory *memory, const char *title, const char *path) {
    size_t count;
    const MemoryEvent *events = memory_events(memory, &count);
    if (count == 0) {
        fprintf(stderr, "%s: no trace, because nothing was recorded\n", path);
        return -1;
    }
    FILE *file = file_begin(path);
    if (file == NULL) {
        return -1;
    }
    json_t *json =
        json_pack("{s:o, s:s, s:{s:s}}", "traceEvents", trace_events(memory, events, count),
                  "displayTimeUnit", "ms", "otherData", "title", title);
    CHECK(json != NULL, "no memory for a trace");
    json_dumpf(json, file, JSON_COMPACT | JSON_REAL_PRECISION(15));
    json_decref(json);
    return file_end(file, path, true);
}
