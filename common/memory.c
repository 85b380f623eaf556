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
typedef struct Account {
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
} Account;

/* One stack: its tensors are those of the account that have its number. */
struct Memory {
    Account *account;
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

static Memory *lane_new(Account *account, const char *name) {
    Memory *lane = calloc(1, sizeof *lane);
    char *copy = strdup(name);
    CHECK(lane != NULL && copy != NULL, "no memory for a few bytes");
    *lane = (Memory){.account = account, .lane = (int)account->lane_count, .name = copy};
    account->lanes =
        grown(account->lanes, account->lane_count, &account->lane_room, sizeof(Memory *));
    account->lanes[account->lane_count++] = lane;
    return lane;
}

Memory *memory_new(Device *device, MemoryOptions options) {
    Account *account = calloc(1, sizeof *account);
    CHECK(account != NULL, "no memory for a few bytes");
    account->device = device;
    account->options = options;
    account->peak_in_place = true;
    return lane_new(account, "");
}

Memory *memory_lane(Memory *memory, const char *name) {
    Account *account = memory->account;
    for (size_t i = 0; i < account->lane_count; i++) {
        if (strcmp(account->lanes[i]->name, name) == 0) {
            return account->lanes[i];
        }
    }
    return lane_new(account, name);
}

void memory_free(Memory *memory) {
    if (memory == NULL) {
        return;
    }
    Account *account = memory->account;
    CHECK(memory->lane == 0, "lane \"%s\" goes with its memory", memory->name);
    for (size_t i = account->lane_count; i-- > 0;) {
        memory_release(account->lanes[i], 0);
        free(account->lanes[i]->name);
        free(account->lanes[i]);
    }
    free(account->lanes);
    free(account->tensors);
    free(account->peak_tensors);
    free(account->events);
    free(account);
}

/* "  weights 1.0" where there are any, after `heading` where it is the first. */
static void print_mib(const char **heading, const char *name, size_t bytes) {
    if (bytes > 0) {
        fprintf(stderr, "%s  %s %.1f", *heading, name, memory_mib(bytes));
        *heading = "";
    }
}

static void print_in_use(const Account *account) {
    const char *kinds = ":\n", *lanes = "of that in lanes:\n";
    for (int kind = 0; kind < MEMORY_KINDS; kind++) {
        print_mib(&kinds, memory_kind_name((MemoryKind)kind), account->now.bytes[kind]);
    }
    fputs(*kinds == '\0' ? " MiB\n" : "\n", stderr);
    for (size_t i = 1; i < account->lane_count; i++) {
        print_mib(&lanes, account->lanes[i]->name, account->lanes[i]->bytes);
    }
    fputs(*lanes == '\0' ? " MiB\n" : "", stderr);
}

static void refuse(const Memory *memory, MemoryKind kind, const char *name, int layer,
                   size_t bytes) {
    const Account *account = memory->account;
    size_t total = memory_total(&account->now), budget = account->options.budget;
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
    print_in_use(account);
    if (account->refused != NULL) {
        account->refused(account->context);
    }
    exit(EXIT_RUN);
}

static void record(Account *account, bool allocated, const Tensor *tensor) {
    if (!account->recording) {
        return;
    }
    account->events =
        grown(account->events, account->event_count, &account->event_room, sizeof *account->events);
    account->events[account->event_count++] = (MemoryEvent){
        .seconds = now(),
        .allocated = allocated,
        .tensor = *tensor,
        .in_use = account->now,
    };
}

static size_t guard_bytes(const Account *account) {
    return account->options.checked ? GUARD_BYTES : 0;
}

/* The bytes that a tensor takes beyond those asked for. */
static size_t padding_of(const Account *account, size_t bytes) {
    size_t taken = bytes + guard_bytes(account);
    return guard_bytes(account) + (DEVICE_ALIGNMENT - taken % DEVICE_ALIGNMENT) % DEVICE_ALIGNMENT;
}

static void note_peak(Account *account) {
    account->peak = account->now;
    account->peak_padding = account->padding;
    account->peak_count = account->count;
    account->peak_in_place = true;
}

/* Device memory, filled and guarded where memory is checked; NULL if there is no more. */
static void *alloc_on_device(const Account *account, size_t bytes) {
    void *data = device_alloc(account->device, bytes + guard_bytes(account));
    if (data != NULL && account->options.checked) {
        device_fill(account->device, data, POISON, bytes);
        device_fill(account->device, (char *)data + bytes, GUARD, GUARD_BYTES);
    }
    return data;
}

void *memory_alloc(Memory *memory, MemoryKind kind, const char *name, int layer, size_t bytes) {
    Account *account = memory->account;
    size_t budget = account->options.budget, in_use = memory_total(&account->now);
    if (budget > 0 && (in_use > budget || bytes > budget - in_use)) {
        refuse(memory, kind, name, layer, bytes);
    }
    void *data = alloc_on_device(account, bytes);
    if (data == NULL) {
        refuse(memory, kind, name, layer, bytes);
    }
    account->tensors =
        grown(account->tensors, account->count, &account->room, sizeof *account->tensors);
    Tensor *tensor = &account->tensors[account->count++];
    *tensor = (Tensor){name, layer, kind, bytes, data, memory->lane};
    account->now.bytes[kind] += bytes;
    account->padding += padding_of(account, bytes);
    if (memory_total(&account->now) > memory_total(&account->peak)) {
        note_peak(account);
    }
    memory->count++;
    memory->bytes += bytes;
    memory->peak = memory->bytes > memory->peak ? memory->bytes : memory->peak;
    record(account, true, tensor);
    return data;
}

void *memory_alloc_zero(Memory *memory, MemoryKind kind, const char *name, int layer,
                        size_t bytes) {
    void *data = memory_alloc(memory, kind, name, layer, bytes);
    device_fill(memory->account->device, data, 0, bytes);
    return data;
}

MemoryMark memory_mark(const Memory *memory) {
    return memory->count;
}

static void check_guard(const Account *account, const Tensor *tensor) {
    unsigned char guard[GUARD_BYTES];
    device_download(account->device, guard, (char *)tensor->data + tensor->bytes, GUARD_BYTES);
    for (int i = 0; i < GUARD_BYTES; i++) {
        CHECK(guard[i] == GUARD, "%d bytes were written past the end of \"%s\" (%zu bytes)", i + 1,
              tensor->name, tensor->bytes);
    }
}

/* Before one of the peak's tensors goes, they are copied aside. */
static void keep_peak_tensors(Account *account) {
    free(account->peak_tensors);
    account->peak_tensors = malloc(account->peak_count * sizeof(Tensor) + 1);
    CHECK(account->peak_tensors != NULL, "no host memory for %zu records", account->peak_count);
    if (account->peak_count > 0) {
        memcpy(account->peak_tensors, account->tensors, account->peak_count * sizeof(Tensor));
    }
    account->peak_in_place = false;
}

/* Where the lane's tensor `mark` is among those of all lanes. */
static size_t place_of(const Memory *memory, MemoryMark mark) {
    const Account *account = memory->account;
    size_t place = account->count;
    for (size_t left = memory->count - mark; left > 0;
         left -= account->tensors[place].lane == memory->lane) {
        place--;
    }
    return place;
}

static void release_tensor(Memory *memory, const Tensor *tensor) {
    Account *account = memory->account;
    if (account->options.checked) {
        check_guard(account, tensor);
        device_fill(account->device, tensor->data, POISON, tensor->bytes);
    }
    device_release(account->device, tensor->data, tensor->bytes + guard_bytes(account));
    account->now.bytes[tensor->kind] -= tensor->bytes;
    account->padding -= padding_of(account, tensor->bytes);
    memory->bytes -= tensor->bytes;
    record(account, false, tensor);
}

void memory_release(Memory *memory, MemoryMark mark) {
    CHECK(mark <= memory->count, "mark %zu lies above the stack of %zu tensors", mark,
          memory->count);
    Account *account = memory->account;
    size_t lowest = place_of(memory, mark), kept = lowest;
    if (account->peak_in_place && lowest < account->peak_count) {
        keep_peak_tensors(account);
    }
    for (size_t i = account->count; i > lowest; i--) {
        if (account->tensors[i - 1].lane == memory->lane) {
            release_tensor(memory, &account->tensors[i - 1]);
        }
    }
    for (size_t i = lowest; i < account->count; i++) { /* those of other lanes move together */
        if (account->tensors[i].lane != memory->lane) {
            account->tensors[kept++] = account->tensors[i];
        }
    }
    account->count = kept;
    memory->count = mark;
}

Device *memory_device(const Memory *memory) {
    return memory->account->device;
}

size_t memory_budget(const Memory *memory) {
    return memory->account->options.budget;
}

MemoryUse memory_now(const Memory *memory) {
    return memory->account->now;
}

MemoryUse memory_peak(const Memory *memory) {
    return memory->account->peak;
}

size_t memory_padding(const Memory *memory) {
    return memory->account->peak_padding;
}

int memory_lanes(const Memory *memory) {
    return (int)memory->account->lane_count;
}

const char *memory_lane_name(const Memory *memory, int lane) {
    CHECK(0 <= lane && lane < memory_lanes(memory), "lane %d of %d", lane, memory_lanes(memory));
    return memory->account->lanes[lane]->name;
}

size_t memory_lane_now(const Memory *lane) {
    return lane->bytes;
}

size_t memory_lane_peak(const Memory *lane) {
    return lane->peak;
}

const Tensor *memory_peak_tensors(Memory *memory, size_t *count) {
    const Account *account = memory->account;
    *count = account->peak_count;
    return account->peak_in_place ? account->tensors : account->peak_tensors;
}

void memory_peak_reset(Memory *memory) {
    Account *account = memory->account;
    note_peak(account);
    for (size_t i = 0; i < account->lane_count; i++) {
        account->lanes[i]->peak = account->lanes[i]->bytes;
    }
}

void memory_record(Memory *memory, bool on) {
    if (on) {
        memory->account->event_count = 0;
    }
    memory->account->recording = on;
}

const MemoryEvent *memory_events(const Memory *memory, size_t *count) {
    *count = memory->account->event_count;
    return memory->account->events;
}

void memory_on_refusal(Memory *memory, void (*refused)(void *context), void *context) {
    memory->account->refused = refused;
    memory->account->context = context;
}
