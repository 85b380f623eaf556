#define _GNU_SOURCE
#include <sys/mman.h>

#include "device.h"
#include "rank.h"
#include "spin.h"

/* Addresses are plenty, so each allocation has pages of its own with a closed page after them, and
   freed pages rest for a while before they are given out again. */

enum { MOST_ALLOCATIONS = 1 << 20, RESTING = 4096, HUGE = 2 << 20, WIDEST_ACCESS = 16 };

/* A reserved range of addresses. */
typedef struct Range {
    char *begin, *end;
    char *cursor;   /* where the search for free pages goes on */
    int32_t *owner; /* for each page the allocation's number in the table, from 1 on; 0 is free */
} Range;

static Range on_devices, pinned;
static Allocation *table; /* [0, table_count) */
static int table_count;
static int32_t *freed; /* ring (MOST_ALLOCATIONS): those that were freed, by number in the table */
static size_t freed_count, forgotten_count;
static int made_count;

static size_t max(size_t a, size_t b) {
    return a > b ? a : b;
}

static void *reserve(size_t bytes, int access) {
    void *p = mmap(NULL, bytes, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        fprintf(stderr, "[cudasim] cannot reserve %zu MiB of addresses\n", bytes >> 20);
        exit(1);
    }
    return p;
}

/* The first page is nobody's: what lies before the first allocation is device memory too. */
static Range reserve_range(size_t bytes) {
    uintptr_t first = (uintptr_t)reserve(bytes + PAGE, PROT_NONE);
    Range range = {.begin = (char *)((first + PAGE - 1) & ~(uintptr_t)(PAGE - 1))};
    range.end = range.begin + bytes;
    range.cursor = range.begin + PAGE;
    range.owner = reserve(bytes / PAGE * sizeof *range.owner, PROT_READ | PROT_WRITE);
    return range;
}

void sim_reserve_memory(void) {
    /* In a dry run nobody touches it, and there may be many large devices. */
    on_devices = reserve_range((size_t)(sim_settings.dry ? 4096 : 64) << 30);
    pinned = reserve_range((size_t)32 << 30);
    table = reserve(MOST_ALLOCATIONS * sizeof *table, PROT_READ | PROT_WRITE);
    freed = reserve(MOST_ALLOCATIONS * sizeof *freed, PROT_READ | PROT_WRITE);
}

/* ---- whose is this address? ------------------------------------------------------------------ */

static bool in_range(const Range *range, const volatile void *p) {
    return (const char *)p >= range->begin && (const char *)p < range->end;
}

bool sim_on_device(const volatile void *p) {
    return in_range(&on_devices, p);
}

const char *sim_device_range(size_t *bytes) {
    *bytes = (size_t)(on_devices.end - on_devices.begin);
    return on_devices.begin;
}

bool sim_in_pinned(const volatile void *p) {
    return in_range(&pinned, p);
}

const char *sim_pinned_range(size_t *bytes) {
    *bytes = (size_t)(pinned.end - pinned.begin);
    return pinned.begin;
}

static int32_t *owner_of(const volatile void *p) {
    Range *range = in_range(&on_devices, p) ? &on_devices : in_range(&pinned, p) ? &pinned : NULL;
    return range != NULL ? &range->owner[((const char *)p - range->begin) / PAGE] : NULL;
}

Allocation *sim_allocation(const volatile void *p) {
    int32_t *owner = owner_of(p);
    return owner != NULL && *owner > 0 ? &table[*owner - 1] : NULL;
}

/* Bytes between p and the allocation. */
static size_t distance(const Allocation *allocation, const char *p) {
    return p < allocation->base ? (size_t)(allocation->base - p)
                                : (size_t)(p - allocation->base) - allocation->bytes;
}

Allocation *sim_nearest(const volatile void *p) {
    Allocation *nearest = sim_allocation(p);
    if (nearest != NULL || !sim_on_device(p)) {
        return nearest;
    }
    for (Allocation *a = table; a < table + table_count; a++) {
        bool candidate = a->number > 0 && !a->pinned;
        if (candidate && (nearest == NULL ||
                          distance(a, (const char *)p) < distance(nearest, (const char *)p))) {
            nearest = a;
        }
    }
    return nearest;
}

void sim_detail_address(const volatile void *p) {
    const Allocation *a = sim_nearest(p);
    if (a == NULL) {
        sim_detail("address %p is not near any device allocation", (void *)(uintptr_t)p);
        return;
    }
    ptrdiff_t offset = (const char *)p - a->base;
    char what[200];
    snprintf(what, sizeof what, "allocation #%d (%zu bytes, %s at %s:%d)", a->number, a->bytes,
             a->maker, sim_file(a->made), a->made.line);
    if (offset < 0) {
        sim_detail("address is %td bytes before the start of %s", -offset, what);
    } else if (offset >= (ptrdiff_t)a->bytes) {
        sim_detail("address is %td bytes past the end of %s", offset - (ptrdiff_t)a->bytes, what);
    } else {
        sim_detail("address is byte %td of %s", offset, what);
    }
    if (a->given_back) {
        sim_detail("which was freed at %s:%d", sim_file(a->freed), a->freed.line);
    }
}

/* ---- pages ----------------------------------------------------------------------------------- */

static void set_owner(Range *range, const Allocation *allocation, int32_t owner) {
    int32_t *first = &range->owner[(allocation->pages - range->begin) / PAGE];
    for (size_t i = 0; i <= allocation->length / PAGE; i++) {
        first[i] = owner;
    }
}

/* The next run of free pages, from the cursor on and once around. */
static char *find_pages(Range *range, size_t length) {
    size_t alignment = length >= HUGE ? HUGE : PAGE;
    for (int round = 0; round < 2; round++, range->cursor = range->begin + PAGE) {
        char *p = range->cursor;
        for (;;) {
            p = (char *)(((uintptr_t)p + alignment - 1) & ~(uintptr_t)(alignment - 1));
            if (p + length + PAGE > range->end) {
                break;
            }
            char *end = p + length + PAGE, *page = p;
            while (page < end && *owner_of(page) == 0) {
                page += PAGE;
            }
            if (page >= end) {
                range->cursor = end;
                return p;
            }
            const Allocation *there = sim_allocation(page);
            p = there->pages + there->length + PAGE;
        }
    }
    return NULL;
}

static void forget(Allocation *allocation) {
    set_owner(allocation->pinned ? &pinned : &on_devices, allocation, 0);
    memset(allocation, 0, sizeof *allocation);
}

static Allocation *new_record(void) {
    if (freed_count - forgotten_count > RESTING) {
        Allocation *oldest = &table[freed[forgotten_count++ % MOST_ALLOCATIONS]];
        forget(oldest);
        return oldest;
    }
    return table_count < MOST_ALLOCATIONS ? &table[table_count++] : NULL;
}

/* Its pages are open. */
static void fill_fresh(const Allocation *allocation) {
#ifdef MADV_HUGEPAGE
    if (allocation->length >= HUGE) {
        /* Opening and closing is then a hundred times cheaper. */
        madvise(allocation->pages, allocation->length, MADV_HUGEPAGE);
    }
#endif
    memset(allocation->pages, 0xFF, allocation->length);
    if (!allocation->pinned) {
        check_fresh(allocation->base, allocation->bytes);
        mprotect(allocation->pages, allocation->length, PROT_NONE);
    }
}

Allocation *sim_allocate(int device, size_t bytes, bool on_host, const char *maker, Place place) {
    size_t length = (bytes + PAGE - 1) / PAGE * PAGE;
    SimUse *use = &device_of(device)->memory;
    Range *range = on_host ? &pinned : &on_devices;
    /* A negative count first: a sum with it would wrap. */
    if (bytes > (size_t)(range->end - range->begin) ||
        (!on_host && use->now + length > sim_settings.memory)) {
        return NULL;
    }
    Allocation *allocation = new_record();
    char *pages = allocation != NULL ? find_pages(range, length) : NULL;
    bool touched = on_host || !sim_settings.dry;
    if (pages == NULL || (touched && mprotect(pages, length, PROT_READ | PROT_WRITE) != 0)) {
        return NULL;
    }
    /* The end lies against the closed page, as near as alignment allows. Where each access is
       announced it is aligned as on a GPU: check mode sees each byte, and sectors begin there. */
    size_t alignment = sim_announced || on_host ? 256 : WIDEST_ACCESS;
    *allocation = (Allocation){.base = pages + ((length - bytes) & ~(alignment - 1)),
                               .bytes = bytes,
                               .pages = pages,
                               .length = length,
                               .number = ++made_count,
                               .rank = sim_rank(),
                               .device = device,
                               .pinned = on_host,
                               .live = true,
                               .open = on_host,
                               .made = place,
                               .maker = maker,
                               .maker_stream = -1};
    set_owner(range, allocation, (int32_t)(allocation - table) + 1);
    if (!on_host) {
        use->now += length;
        use->peak = max(use->peak, use->now);
    }
    if (touched) {
        fill_fresh(allocation);
    }
    return allocation;
}

/* In a dry run, neither the host nor a kernel touches it. */
static bool is_untouched(const Allocation *allocation) {
    return sim_settings.dry && !allocation->pinned && !allocation->managed;
}

void sim_retire(Allocation *allocation) {
    allocation->live = allocation->open = false;
    if (!is_untouched(allocation)) {
        check_fresh(allocation->base, allocation->bytes);
        mmap(allocation->pages, allocation->length, PROT_NONE,
             MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    if (!allocation->pinned) {
        device_of(allocation->device)->memory.now -= allocation->length;
    }
    if (allocation->by_kernel) {
        device_of(allocation->device)->heap -= allocation->bytes;
    }
    free(allocation->used);
    allocation->used = NULL;
    allocation->used_count = 0;
    freed[freed_count++ % MOST_ALLOCATIONS] = (int32_t)(allocation - table);
}

size_t sim_pinned(void) {
    size_t bytes = 0;
    for (const Allocation *a = table; a < table + table_count; a++) {
        bytes += a->live && a->pinned ? a->bytes : 0;
    }
    return bytes;
}

void sim_memory_left(int device) {
    for (const Allocation *a = table; a < table + table_count; a++) {
        bool wanted = device < 0 || (a->device == device && a->rank == sim_rank() && !a->pinned);
        if (a->live && !a->given_back && wanted) {
            leaks_add(a->maker, a->made, a->bytes);
        }
    }
}

void sim_retire_all(int device, Place place) {
    for (Allocation *a = table; a < table + table_count; a++) {
        bool own = a->device == device && a->rank == sim_rank();
        if (a->live && !a->given_back && !a->pinned && own) {
            a->given_back = true;
            a->freed = place;
            sim_retire(a);
        }
    }
}

/* ---- open while an operation runs, closed to the host ---------------------------------------- */

static Allocation *opened[4096];
static int opened_count;
static bool others_open;

bool sim_others_open(void) {
    return others_open;
}

void sim_open(Allocation *allocation) {
    static int busy;
    spin_lock(&busy);
    if (!allocation->open && allocation->live) {
        mprotect(allocation->pages, allocation->length, PROT_READ | PROT_WRITE);
        if (opened_count < (int)(sizeof opened / sizeof opened[0])) {
            opened[opened_count++] = allocation;
        }
        allocation->open = true;
        others_open = others_open || (allocation->device != sim_device() && !allocation->pinned);
        check_opened(allocation);
    }
    spin_unlock(&busy);
}

void sim_set_open(Allocation *allocation, bool open) {
    if (allocation->open != open && allocation->live) {
        mprotect(allocation->pages, allocation->length, open ? PROT_READ | PROT_WRITE : PROT_NONE);
        allocation->open = open;
    }
}

static void close_one(Allocation *allocation) {
    if (!allocation->pinned) {
        sim_set_open(allocation, false);
    }
}

void sim_close_memory(void) {
    if (opened_count == (int)(sizeof opened / sizeof opened[0])) {
        for (int i = 0; i < table_count; i++) {
            close_one(&table[i]);
        }
    }
    others_open = false;
    while (opened_count > 0) {
        close_one(opened[--opened_count]);
    }
    sim_show_managed(sim_operation() == NULL);
    sim_guard_pending();
}

void sim_touch(const void *p, size_t bytes, bool write) {
    Allocation *allocation = sim_allocation(p);
    if (allocation != NULL && allocation->live && !allocation->pinned) {
        sim_open(allocation);
        check_range(p, bytes, write);
    }
}

static bool is_within(const char *what, const void *p, size_t bytes, Place place, bool now) {
    const Allocation *a = sim_allocation(p);
    if (a != NULL && (now ? !a->live : a->given_back)) {
        sim_report("use after free", "%s at %s:%d is freed %s memory", what, sim_file(place),
                   place.line, a->pinned ? "pinned" : "device");
    } else if (a == NULL || (const char *)p < a->base || bytes > a->bytes ||
               (const char *)p + bytes > a->base + a->bytes) {
        sim_report("out-of-bounds access", "%s at %s:%d: %zu bytes from %p on do not fit", what,
                   sim_file(place), place.line, bytes, p);
    } else {
        return true;
    }
    sim_detail_address(p);
    sim_detail_size(bytes);
    if (a != NULL && a->live && bytes == 4 * a->bytes) {
        sim_detail("the count is in bytes: was sizeof applied twice, or forgotten where it was "
                   "allocated?");
    }
    return false;
}

bool sim_check_range(const char *what, const void *p, size_t bytes, const char *file, int line) {
    return is_within(what, p, bytes, (Place){file, line}, false);
}

bool sim_not_of_heap(const char *what, const void *p, Place place) {
    const Allocation *a = sim_allocation(p);
    if (a == NULL || !a->by_kernel) {
        return true;
    }
    sim_report("invalid copy", "%s at %s:%d is memory that malloc() in a kernel has returned", what,
               sim_file(place), place.line);
    sim_detail_address(p);
    sim_detail("only kernels can use it: let one copy it to memory of cudaMalloc()");
    return false;
}

bool sim_check_range_now(const char *what, const void *p, size_t bytes, Place place) {
    return is_within(what, p, bytes, place, true);
}
