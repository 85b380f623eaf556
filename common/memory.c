/* A stack of named tensors with a budget, and the counts of it: now, at the peak, over time. The
   contract is in memory.h. */
#include "common/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/lab.h"

/* Checked memory: NaN in every precision, and -1 as an index. */
enum { POISON = 0xff };
/* Between checked tensors: bytes that must not be written. */
enum { GUARD = 0xa5, GUARD_BYTES = DEVICE_ALIGNMENT };

struct Memory {
    Device *device;
    MemoryOptions options;
    Tensor *tensors; /* the stack */
    size_t count, room;
    size_t padding;
    MemoryUse now, peak;
    size_t peak_padding;
    /* The tensors of the peak are the lowest `peak_count` of the stack until one of them goes. */
    Tensor *peak_tensors;
    size_t peak_count;
    bool peak_on_stack;
    bool recording;
    MemoryEvent *events;
    size_t event_count, event_room;
    void (*refused)(void *context);
    void *context;
};

const char *memory_kind_name(MemoryKind kind) {
    static const char *const names[MEMORY_KINDS] = {"weights",     "gradients", "optimizer",
                                                    "activations", "workspace", "data"};
    return names[kind];
}

size_t memory_total(const MemoryUse *use) {
    size_t total = 0;
    for (int kind = 0; kind < MEMORY_KINDS; kind++) {
        total += use->bytes[kind];
    }
    return total;
}

double memory_mib(size_t bytes) {
    return (double)bytes / (1024 * 1024);
}

bool memory_checked_by_default(void) {
#if defined CHECKED || defined __SANITIZE_ADDRESS__
    return true;
#else
    return false;
#endif
}

/* An array with room for one more; it doubles, so that adding is cheap. */
static void *grown(void *array, size_t count, size_t *room, size_t element) {
    if (count < *room) {
        return array;
    }
    *room = *room == 0 ? 256 : 2 * *room;
    array = realloc(array, *room * element);
    CHECK(array != NULL, "no host memory for %zu records", *room);
    return array;
}

Memory *memory_new(Device *device, MemoryOptions options) {
    Memory *memory = calloc(1, sizeof *memory);
    CHECK(memory != NULL, "no memory for a few bytes");
    memory->device = device;
    memory->options = options;
    memory->peak_on_stack = true;
    return memory;
}

void memory_free(Memory *memory) {
    if (memory == NULL) {
        return;
    }
    memory_release(memory, 0);
    free(memory->tensors);
    free(memory->peak_tensors);
    free(memory->events);
    free(memory);
}

static void print_in_use(const Memory *memory) {
    bool any = false;
    for (int kind = 0; kind < MEMORY_KINDS; kind++) {
        if (memory->now.bytes[kind] > 0) {
            fprintf(stderr, "%s  %s %.1f", any ? "" : ":\n", memory_kind_name((MemoryKind)kind),
                    memory_mib(memory->now.bytes[kind]));
            any = true;
        }
    }
    fprintf(stderr, any ? " MiB\n" : "\n");
}

static void refuse(const Memory *memory, MemoryKind kind, const char *name, int layer,
                   size_t bytes) {
    size_t total = memory_total(&memory->now), budget = memory->options.budget;
    fflush(stdout);
    fprintf(stderr, "out of memory: %.1f MiB for \"%s\" (", memory_mib(bytes), name);
    if (layer >= 0) {
        fprintf(stderr, "layer %d, ", layer);
    }
    fprintf(stderr, "%s); ", memory_kind_name(kind));
    if (budget > 0 && bytes > budget - total) {
        fprintf(stderr, "%.1f of %.1f MiB in use, short by %zu bytes", memory_mib(total),
                memory_mib(budget), bytes - (budget - total));
    } else {
        fprintf(stderr, "the device has no more, %.1f MiB in use", memory_mib(total));
    }
    print_in_use(memory);
    if (memory->refused != NULL) {
        memory->refused(memory->context);
    }
    exit(EXIT_RUN);
}

static void record(Memory *memory, bool allocated, const Tensor *tensor) {
    if (!memory->recording) {
        return;
    }
    memory->events =
        grown(memory->events, memory->event_count, &memory->event_room, sizeof *memory->events);
    memory->events[memory->event_count++] = (MemoryEvent){
        .seconds = now(),
        .allocated = allocated,
        .tensor = *tensor,
        .in_use = memory->now,
    };
}

static size_t guard_bytes(const Memory *memory) {
    return memory->options.checked ? GUARD_BYTES : 0;
}

/* The bytes that a tensor takes beyond those asked for. */
static size_t padding_of(const Memory *memory, size_t bytes) {
    size_t taken = bytes + guard_bytes(memory);
    return guard_bytes(memory) + (DEVICE_ALIGNMENT - taken % DEVICE_ALIGNMENT) % DEVICE_ALIGNMENT;
}

static void note_peak(Memory *memory) {
    memory->peak = memory->now;
    memory->peak_padding = memory->padding;
    memory->peak_count = memory->count;
    memory->peak_on_stack = true;
}

void *memory_alloc(Memory *memory, MemoryKind kind, const char *name, int layer, size_t bytes) {
    size_t budget = memory->options.budget, in_use = memory_total(&memory->now);
    if (budget > 0 && (in_use > budget || bytes > budget - in_use)) {
        refuse(memory, kind, name, layer, bytes);
    }
    void *data = device_alloc(memory->device, bytes + guard_bytes(memory));
    if (data == NULL) {
        refuse(memory, kind, name, layer, bytes);
    }
    if (memory->options.checked) {
        device_fill(memory->device, data, POISON, bytes);
        device_fill(memory->device, (char *)data + bytes, GUARD, GUARD_BYTES);
    }
    memory->tensors = grown(memory->tensors, memory->count, &memory->room, sizeof *memory->tensors);
    Tensor *tensor = &memory->tensors[memory->count++];
    *tensor = (Tensor){.name = name, .layer = layer, .kind = kind, .bytes = bytes, .data = data};
    memory->now.bytes[kind] += bytes;
    memory->padding += padding_of(memory, bytes);
    if (memory_total(&memory->now) > memory_total(&memory->peak)) {
        note_peak(memory);
    }
    record(memory, true, tensor);
    return data;
}

void *memory_alloc_zero(Memory *memory, MemoryKind kind, const char *name, int layer,
                        size_t bytes) {
    void *data = memory_alloc(memory, kind, name, layer, bytes);
    device_fill(memory->device, data, 0, bytes);
    return data;
}

MemoryMark memory_mark(const Memory *memory) {
    return memory->count;
}

static void check_guard(const Memory *memory, const Tensor *tensor) {
    unsigned char guard[GUARD_BYTES];
    device_download(memory->device, guard, (char *)tensor->data + tensor->bytes, GUARD_BYTES);
    for (int i = 0; i < GUARD_BYTES; i++) {
        CHECK(guard[i] == GUARD, "%d bytes were written past the end of \"%s\" (%zu bytes)", i + 1,
              tensor->name, tensor->bytes);
    }
}

/* Before the stack sinks below the peak's tensors, they are copied aside. */
static void keep_peak_tensors(Memory *memory) {
    free(memory->peak_tensors);
    memory->peak_tensors = malloc(memory->peak_count * sizeof(Tensor) + 1);
    CHECK(memory->peak_tensors != NULL, "no host memory for %zu records", memory->peak_count);
    if (memory->peak_count > 0) {
        memcpy(memory->peak_tensors, memory->tensors, memory->peak_count * sizeof(Tensor));
    }
    memory->peak_on_stack = false;
}

void memory_release(Memory *memory, MemoryMark mark) {
    CHECK(mark <= memory->count, "mark %zu lies above the stack of %zu tensors", mark,
          memory->count);
    if (memory->peak_on_stack && mark < memory->peak_count) {
        keep_peak_tensors(memory);
    }
    while (memory->count > mark) {
        Tensor tensor = memory->tensors[--memory->count];
        if (memory->options.checked) {
            check_guard(memory, &tensor);
            device_fill(memory->device, tensor.data, POISON, tensor.bytes);
        }
        device_release(memory->device, tensor.data, tensor.bytes + guard_bytes(memory));
        memory->now.bytes[tensor.kind] -= tensor.bytes;
        memory->padding -= padding_of(memory, tensor.bytes);
        record(memory, false, &tensor);
    }
}

Device *memory_device(const Memory *memory) {
    return memory->device;
}

size_t memory_budget(const Memory *memory) {
    return memory->options.budget;
}

MemoryUse memory_now(const Memory *memory) {
    return memory->now;
}

MemoryUse memory_peak(const Memory *memory) {
    return memory->peak;
}

size_t memory_padding(const Memory *memory) {
    return memory->peak_padding;
}

const Tensor *memory_peak_tensors(Memory *memory, size_t *count) {
    *count = memory->peak_count;
    return memory->peak_on_stack ? memory->tensors : memory->peak_tensors;
}

void memory_peak_reset(Memory *memory) {
    note_peak(memory);
}

void memory_record(Memory *memory, bool on) {
    if (on) {
        memory->event_count = 0;
    }
    memory->recording = on;
}

const MemoryEvent *memory_events(const Memory *memory, size_t *count) {
    *count = memory->event_count;
    return memory->events;
}

void memory_on_refusal(Memory *memory, void (*refused)(void *context), void *context) {
    memory->refused = refused;
    memory->context = context;
}
