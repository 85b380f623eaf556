#include "fill.h"

#include "cudasim_record.h"
#include "graph.h"

/* Fills: cudaMemset and its kin. A fill is an operation of its stream. */

/* Rows of elements that all take one value. */
typedef struct Fill {
    char *to;
    size_t pitch;
    int element; /* bytes: 1, 2 or 4 */
    unsigned value;
    size_t width; /* elements of a row */
    size_t height;
} Fill;

void fill_touch(void *to, size_t bytes) {
    if (variable_at(to) != NULL || sim_in_pinned(to)) {
        check_order(to, bytes, true);
    }
    sim_touch(to, bytes, true);
}

static void fill_row(char *to, const Fill *fill) {
    fill_touch(to, fill->width * (size_t)fill->element);
    if (fill->element == 1) {
        memset(to, (int)fill->value, fill->width);
        return;
    }
    for (size_t i = 0; i < fill->width; i++) { /* the low bytes come first */
        memcpy(to + i * (size_t)fill->element, &fill->value, (size_t)fill->element);
    }
}

static void run_fill(void *context) {
    const Fill *fill = context;
    if (sim_settings.dry) {
        return;
    }
    for (size_t y = 0; y < fill->height; y++) {
        fill_row(fill->to + y * fill->pitch, fill);
    }
}

static void account(const void *context, CudasimEntry *entry) {
    const Fill *fill = context;
    entry->kind = CUDASIM_FILL;
    entry->bytes = (double)fill->element * (double)fill->width * (double)fill->height;
}

static size_t span(const Fill *fill) {
    return (fill->height - 1) * fill->pitch + fill->width * (size_t)fill->element;
}

/* Pinned and managed memory is closed to the host until the fill is over. */
static void fill_entered(void *context, const Operation *operation) {
    const Fill *fill = context;
    sim_guard(fill->to, span(fill), true, operation);
}

bool fill_is_shared(const void *to) {
    const Allocation *a = sim_allocation(to);
    return sim_registered(to) || (a != NULL && a->live && (a->pinned || a->managed));
}

bool fill_reaches(const void *to) {
    return variable_at(to) != NULL || sim_on_device(to) || fill_is_shared(to);
}

bool fill_holds(const char *call, const char *end, const void *to, size_t bytes, int slot,
                Place place) {
    char what[100];
    snprintf(what, sizeof what, "%s, %s,", call, end);
    if (variable_at(to) != NULL) {
        return variable_holds(what, to, bytes, place);
    }
    Allocation *a = sim_allocation(to);
    bool registered = a == NULL && !sim_on_device(to);
    return registered ||
           (sim_check_range(what, to, bytes, place.file, place.line) &&
            sim_not_of_heap(what, to, place) && (a->pinned || sim_use(a, slot, call, place)));
}

static bool good_fill(const char *call, const Fill *fill, int slot, Place place) {
    if (fill->to == NULL) {
        sim_report("null pointer", "%s at %s:%d: the destination is NULL", call, sim_file(place),
                   place.line);
        return false;
    }
    if (!fill_reaches(fill->to)) {
        sim_report("invalid copy", "%s at %s:%d: the destination is a HOST pointer", call,
                   sim_file(place), place.line);
        if (!variable_detail(fill->to)) {
            sim_detail("it fills memory of the device; the host's is filled by memset()");
        }
        return false;
    }
    return fill_holds(call, "destination", fill->to, span(fill), slot, place);
}

/* The call waits where the host may look at the memory next, unless it is an asynchronous one. */
static cudaError_t submit(const char *call, Place place, Fill fill, cudaStream_t stream,
                          bool wait) {
    int slot;
    cudaError_t error = sim_may_submit(stream, call, place, &slot);
    size_t row = fill.width * (size_t)fill.element;
    if (error != cudaSuccess || row * fill.height == 0) {
        return error;
    }
    if (fill.height > 1 && row > fill.pitch) {
        sim_report("invalid copy", "%s at %s:%d: rows of %zu bytes are wider than a pitch", call,
                   sim_file(place), place.line, row);
        return sim_error(cudaErrorInvalidPitchValue, call, place, false);
    }
    if (!good_fill(call, &fill, slot, place)) {
        return sim_error(cudaErrorInvalidValue, call, place, false);
    }
    Work work = {call,
                 place,
                 cudaGraphNodeTypeMemset,
                 .run = run_fill,
                 .context = &fill,
                 .entered = fill_entered,
                 .account = account};
    sim_submit_copy(stream, work, sizeof fill);
    if (wait && fill_is_shared(fill.to)) {
        sim_wait_stream(slot);
    }
    return sim_device_error();
}

cudaError_t cudasim_memset(const char *file, int line, void *to, int value, size_t bytes) {
    ENTER("cudaMemset", file, line);
    return submit("cudaMemset", (Place){file, line},
                  (Fill){to, bytes, 1, (unsigned)value, bytes, 1}, NULL, true);
}

cudaError_t cudasim_memset_async(const char *file, int line, void *to, int value, size_t bytes,
                                 cudaStream_t stream) {
    ENTER("cudaMemsetAsync", file, line);
    return submit("cudaMemsetAsync", (Place){file, line},
                  (Fill){to, bytes, 1, (unsigned)value, bytes, 1}, stream, false);
}

cudaError_t cudasim_memset_2d(const char *file, int line, void *to, size_t pitch, int value,
                              size_t width, size_t height) {
    ENTER("cudaMemset2D", file, line);
    return submit("cudaMemset2D", (Place){file, line},
                  (Fill){to, pitch, 1, (unsigned)value, width, height}, NULL, true);
}

cudaError_t cudasim_memset_2d_async(const char *file, int line, void *to, size_t pitch, int value,
                                    size_t width, size_t height, cudaStream_t stream) {
    ENTER("cudaMemset2DAsync", file, line);
    return submit("cudaMemset2DAsync", (Place){file, line},
                  (Fill){to, pitch, 1, (unsigned)value, width, height}, stream, false);
}

cudaError_t cudasim_memset_elements(const char *file, int line, const cudaMemsetParams *p,
                                    cudaStream_t stream) {
    ENTER("cudaGraphAddMemsetNode", file, line);
    Place place = {file, line};
    unsigned size = p->elementSize;
    if (size != 1 && size != 2 && size != 4) {
        return graph_misuse(cudaErrorInvalidValue, "cudaGraphAddMemsetNode", place,
                            "elements of %u bytes: only 1, 2 and 4 are possible", size);
    }
    return submit("memset node", place,
                  (Fill){p->dst, p->pitch, (int)size, p->value, p->width, p->height}, stream,
                  false);
}
