/* Stacks of named tensors under one budget, and the counts of them: now, at the peak, over time.
   The contract is in memory.h. */
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

/* The budget and the counts that all lanes of a memory share. */
typedef struct Ledger {
    Device *device;
    MemoryOptions options;
    Memory **lanes; /* the first is the stack that memory_new() gave */
    size_t lane_count, lane_room;
    Tensor *tensors; /* of all lanes, oldest first */
    size_t count, room;
    size_t padding;
    MemoryUse now, peak;
    size_t peak_padding;
    /* The tensors of the peak are the oldest `peak_count` until one of them goes. */
    Tensor *peak_tensors;
    size_t peak_count;
    bool peak_in_place;
    bool recording;
    MemoryEvent *events;
    size_t event_count, event_room;
    void (*refused)(void *context);
    void *context;
} Ledger;

/* One stack: its tensors are those of the ledger that have its number. */
struct Memory {
    Ledger *ledger;
    int lane;
    char *name;
    size_t count;       /* of its tensors */
    size_t bytes, peak; /* of these alone */
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

static Memory *lane_new(Ledger *ledger, const char *name) {
    Memory *lane = calloc(1, sizeof *lane);
    char *copy = strdup(name);
    CHECK(lane != NULL && copy != NULL, "no memory for a few bytes");
    *lane = (Memory){.ledger = ledger, .lane = (int)ledger->lane_count, .name = copy};
    ledger->lanes = grown(ledger->lanes, ledger->lane_count, &ledger->lane_room, sizeof(Memory *));
    ledger->lanes[ledger->lane_count++] = lane;
    return lane;
}

Memory *memory_new(Device *device, MemoryOptions options) {
    Ledger *ledger = calloc(1, sizeof *ledger);
    CHECK(ledger != NULL, "no memory for a few bytes");
    ledger->device = device;
    ledger->options = options;
    ledger->peak_in_place = true;
    return lane_new(ledger, "");
}

Memory *memory_lane(Memory *memory, const char *name) {
    Ledger *ledger = memory->ledger;
    for (size_t i = 0; i < ledger->lane_count; i++) {
        if (strcmp(ledger->lanes[i]->name, name) == 0) {
            return ledger->lanes[i];
        }
    }
    return lane_new(ledger, name);
}

void memory_free(Memory *memory) {
    if (memory == NULL) {
        return;
    }
    Ledger *ledger = memory->ledger;
    CHECK(memory->lane == 0, "lane \"%s\" goes with its memory", memory->name);
    for (size_t i = ledger->lane_count; i-- > 0;) {
        memory_release(ledger->lanes[i], 0);
        free(ledger->lanes[i]->name);
        free(ledger->lanes[i]);
    }
    free(ledger->lanes);
    free(ledger->tensors);
    free(ledger->peak_tensors);
    free(ledger->events);
    free(ledger);
}

/* "  weights 1.0" where there are any, after `heading` where it is the first. */
static void print_mib(const char **heading, const char *name, size_t bytes) {
    if (bytes > 0) {
        fprintf(stderr, "%s  %s %.1f", *heading, name, memory_mib(bytes));
        *heading = "";
    }
}

static void print_in_use(const Ledger *ledger) {
    const char *kinds = ":\n", *lanes = "of that in lanes:\n";
    for (int kind = 0; kind < MEMORY_KINDS; kind++) {
        print_mib(&kinds, memory_kind_name((MemoryKind)kind), ledger->now.bytes[kind]);
    }
    fputs(*kinds == '\0' ? " MiB\n" : "\n", stderr);
    for (size_t i = 1; i < ledger->lane_count; i++) {
        print_mib(&lanes, ledger->lanes[i]->name, ledger->lanes[i]->bytes);
    }
    fputs(*lanes == '\0' ? " MiB\n" : "", stderr);
}

static void refuse(const Memory *memory, MemoryKind kind, const char *name, int layer,
                   size_t bytes) {
    const Ledger *ledger = memory->ledger;
    size_t total = memory_total(&ledger->now), budget = ledger->options.budget;
    fflush(stdout);
    fprintf(stderr, "out of memory: %.1f MiB for \"%s\" (", memory_mib(bytes), name);
    if (memory->lane > 0) {
        fprintf(stderr, "lane %s, ", memory->name);
    }
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
    print_in_use(ledger);
    if (ledger->refused != NULL) {
        ledger->refused(ledger->context);
    }
    exit(EXIT_RUN);
}

static void record(Ledger *ledger, bool allocated, const Tensor *tensor) {
    if (!ledger->recording) {
        return;
    }
    ledger->events =
        grown(ledger->events, ledger->event_count, &ledger->event_room, sizeof *ledger->events);
    ledger->events[ledger->event_count++] = (MemoryEvent){
        .seconds = now(),
        .allocated = allocated,
        .tensor = *tensor,
        .in_use = ledger->now,
    };
}

static size_t guard_bytes(const Ledger *ledger) {
    return ledger->options.checked ? GUARD_BYTES : 0;
}

/* The bytes that a tensor takes beyond those asked for. */
static size_t padding_of(const Ledger *ledger, size_t bytes) {
    size_t taken = bytes + guard_bytes(ledger);
    return guard_bytes(ledger) + (DEVICE_ALIGNMENT - taken % DEVICE_ALIGNMENT) % DEVICE_ALIGNMENT;
}

static void note_peak(Ledger *ledger) {
    ledger->peak = ledger->now;
    ledger->peak_padding = ledger->padding;
    ledger->peak_count = ledger->count;
    ledger->peak_in_place = true;
}

/* Device memory, filled and guarded where memory is checked; NULL if there is no more. */
static void *alloc_on_device(const Ledger *ledger, size_t bytes) {
    void *data = device_alloc(ledger->device, bytes + guard_bytes(ledger));
    if (data != NULL && ledger->options.checked) {
        device_fill(ledger->device, data, POISON, bytes);
        device_fill(ledger->device, (char *)data + bytes, GUARD, GUARD_BYTES);
    }
    return data;
}

void *memory_alloc(Memory *memory, MemoryKind kind, const char *name, int layer, size_t bytes) {
    Ledger *ledger = memory->ledger;
    size_t budget = ledger->options.budget, in_use = memory_total(&ledger->now);
    if (budget > 0 && (in_use > budget || bytes > budget - in_use)) {
        refuse(memory, kind, name, layer, bytes);
    }
    void *data = alloc_on_device(ledger, bytes);
    if (data == NULL) {
        refuse(memory, kind, name, layer, bytes);
    }
    ledger->tensors = grown(ledger->tensors, ledger->count, &ledger->room, sizeof *ledger->tensors);
    Tensor *tensor = &ledger->tensors[ledger->count++];
    *tensor = (Tensor){name, layer, kind, bytes, data, memory->lane};
    ledger->now.bytes[kind] += bytes;
    ledger->padding += padding_of(ledger, bytes);
    if (memory_total(&ledger->now) > memory_total(&ledger->peak)) {
        note_peak(ledger);
    }
    memory->count++;
    memory->bytes += bytes;
    memory->peak = memory->bytes > memory->peak ? memory->bytes : memory->peak;
    record(ledger, true, tensor);
    return data;
}

void *memory_alloc_zero(Memory *memory, MemoryKind kind, const char *name, int layer,
                        size_t bytes) {
    void *data = memory_alloc(memory, kind, name, layer, bytes);
    device_fill(memory->ledger->device, data, 0, bytes);
    return data;
}

MemoryMark memory_mark(const Memory *memory) {
    return memory->count;
}

static void check_guard(const Ledger *ledger, const Tensor *tensor) {
    unsigned char guard[GUARD_BYTES];
    device_download(ledger->device, guard, (char *)tensor->data + tensor->bytes, GUARD_BYTES);
    for (int i = 0; i < GUARD_BYTES; i++) {
        CHECK(guard[i] == GUARD, "byte %d past the end of \"%s\" (%zu bytes) has been overwritten",
              i + 1, tensor->name, tensor->bytes);
    }
}

/* Before one of the peak's tensors goes, they are copied aside. */
static void keep_peak_tensors(Ledger *ledger) {
    free(ledger->peak_tensors);
    ledger->peak_tensors = malloc(ledger->peak_count * sizeof(Tensor) + 1);
    CHECK(ledger->peak_tensors != NULL, "no host memory for %zu records", ledger->peak_count);
    if (ledger->peak_count > 0) {
        memcpy(ledger->peak_tensors, ledger->tensors, ledger->peak_count * sizeof(Tensor));
    }
    ledger->peak_in_place = false;
}

/* Where the lane's tensor `mark` is among those of all lanes. */
static size_t place_of(const Memory *memory, MemoryMark mark) {
    const Ledger *ledger = memory->ledger;
    size_t place = ledger->count;
    for (size_t left = memory->count - mark; left > 0;
         left -= ledger->tensors[place].lane == memory->lane) {
        place--;
    }
    return place;
}

static void release_tensor(Memory *memory, const Tensor *tensor) {
    Ledger *ledger = memory->ledger;
    if (ledger->options.checked) {
        check_guard(ledger, tensor);
        device_fill(ledger->device, tensor->data, POISON, tensor->bytes);
    }
    device_release(ledger->device, tensor->data, tensor->bytes + guard_bytes(ledger));
    ledger->now.bytes[tensor->kind] -= tensor->bytes;
    ledger->padding -= padding_of(ledger, tensor->bytes);
    memory->bytes -= tensor->bytes;
    record(ledger, false, tensor);
}

void memory_release(Memory *memory, MemoryMark mark) {
    CHECK(mark <= memory->count, "mark %zu lies above the stack of %zu tensors", mark,
          memory->count);
    Ledger *ledger = memory->ledger;
    size_t lowest = place_of(memory, mark), kept = lowest;
    if (ledger->peak_in_place && lowest < ledger->peak_count) {
        keep_peak_tensors(ledger);
    }
    for (size_t i = ledger->count; i > lowest; i--) {
        if (ledger->tensors[i - 1].lane == memory->lane) {
            release_tensor(memory, &ledger->tensors[i - 1]);
        }
    }
    for (size_t i = lowest; i < ledger->count; i++) { /* those of other lanes move together */
        if (ledger->tensors[i].lane != memory->lane) {
            ledger->tensors[kept++] = ledger->tensors[i];
        }
    }
    ledger->count = kept;
    memory->count = mark;
}

Device *memory_device(const Memory *memory) {
    return memory->ledger->device;
}

size_t memory_budget(const Memory *memory) {
    return memory->ledger->options.budget;
}

MemoryUse memory_now(const Memory *memory) {
    return memory->ledger->now;
}

MemoryUse memory_peak(const Memory *memory) {
    return memory->ledger->peak;
}

size_t memory_padding(const Memory *memory) {
    return memory->ledger->peak_padding;
}

int memory_lanes(const Memory *memory) {
    return (int)memory->ledger->lane_count;
}

const char *memory_lane_name(const Memory *memory, int lane) {
    CHECK(0 <= lane && lane < memory_lanes(memory), "lane %d of %d", lane, memory_lanes(memory));
    return memory->ledger->lanes[lane]->name;
}

size_t memory_lane_now(const Memory *lane) {
    return lane->bytes;
}

size_t memory_lane_peak(const Memory *lane) {
    return lane->peak;
}

const Tensor *memory_peak_tensors(Memory *memory, size_t *count) {
    const Ledger *ledger = memory->ledger;
    *count = ledger->peak_count;
    return ledger->peak_in_place ? ledger->tensors : ledger->peak_tensors;
}

void memory_peak_reset(Memory *memory) {
    Ledger *ledger = memory->ledger;
    note_peak(ledger);
    for (size_t i = 0; i < ledger->lane_count; i++) {
        ledger->lanes[i]->peak = ledger->lanes[i]->bytes;
    }
}

void memory_record(Memory *memory, bool on) {
    if (on) {
        memory->ledger->event_count = 0;
    }
    memory->ledger->recording = on;
}

const MemoryEvent *memory_events(const Memory *memory, size_t *count) {
    *count = memory->ledger->event_count;
    return memory->ledger->events;
}

void memory_on_refusal(Memory *memory, void (*refused)(void *context), void *context) {
    memory->ledger->refused = refused;
    memory->ledger->context = context;
}
