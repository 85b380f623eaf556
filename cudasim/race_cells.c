#define _GNU_SOURCE
#include <sys/mman.h>

#include "race.h"

/* The cells of all memory in which races are looked for. Those of a range of addresses are reserved
   when the first of them is asked for, and only the pages of those in use are ever touched. */

typedef struct CellRange {
    const char *begin;
    size_t bytes;
    Cell *cells; /* and after them what is aside of each */
} CellRange;

static CellRange on_devices, pinned, variables;

static Cell *reserve_cells(size_t bytes) {
    return sim_map(bytes / 4 * (sizeof(Cell) + sizeof(Aside)));
}

Cell *race_device_cells(void) {
    if (on_devices.cells == NULL) {
        on_devices.begin = sim_device_range(&on_devices.bytes);
        on_devices.cells = reserve_cells(on_devices.bytes);
    }
    return on_devices.cells;
}

static void need_pinned_cells(void) {
    if (pinned.cells == NULL) {
        pinned.begin = sim_pinned_range(&pinned.bytes);
        pinned.cells = reserve_cells(pinned.bytes);
    }
}

/* A __device__ variable is somewhere in the program's image. */
static void need_variable_cells(void) {
    extern char __executable_start[], _end[];
    if (variables.cells == NULL) {
        variables.begin = (const char *)((uintptr_t)__executable_start & ~(uintptr_t)3);
        variables.bytes = (size_t)(_end - variables.begin) + 4;
        variables.cells = reserve_cells(variables.bytes);
    }
}

static bool is_shared(const Worker *worker, const char *p) {
    return worker != NULL && p >= worker->shared && p < worker->dynamic_end;
}

/* quick.h looks at a worker's cells too. */
static CellRange shared_cells(Worker *worker) {
    size_t bytes = (size_t)(worker->dynamic_end - worker->shared);
    if (worker->race_cells == NULL) {
        worker->race_cells = reserve_cells(bytes);
    }
    return (CellRange){worker->shared, bytes, worker->race_cells};
}

static Cell *cell_in(const CellRange *range, const char *p) {
    return &range->cells[(p - range->begin) / 4];
}

Cell *race_cell(const char *p) {
    if (sim_on_device(p)) {
        race_device_cells();
        return cell_in(&on_devices, p);
    }
    if (is_shared(sim_worker, p)) {
        CellRange shared = shared_cells(sim_worker);
        return cell_in(&shared, p);
    }
    if (sim_in_pinned(p)) {
        need_pinned_cells();
        return cell_in(&pinned, p);
    }
    need_variable_cells();
    return cell_in(&variables, p);
}

static Aside *aside_in(const CellRange *range, const Cell *cell) {
    const Cell *cells = range->cells;
    size_t count = range->bytes / 4, i = (size_t)(cell - cells);
    return cells != NULL && cell >= cells && i < count ? &((Aside *)(uintptr_t)(cells + count))[i]
                                                       : NULL;
}

Aside *race_aside(const Cell *cell) {
    Aside *aside = aside_in(&on_devices, cell);
    if (aside == NULL && sim_worker != NULL) {
        CellRange shared = shared_cells(sim_worker);
        aside = aside_in(&shared, cell);
    }
    if (aside == NULL) {
        aside = aside_in(&pinned, cell);
    }
    return aside != NULL ? aside : aside_in(&variables, cell);
}

void race_forget(const void *p, size_t bytes) {
    if (sim_in_pinned(p) && pinned.cells == NULL) {
        return;
    }
    Cell *cells = race_cell(p);
    size_t size = (bytes + 3) / 4 * sizeof *cells;
    char *first = (char *)(((uintptr_t)cells + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
    char *last = (char *)(((uintptr_t)cells + size) & ~(uintptr_t)(PAGE - 1));
    if (last > first) {
        /* Whole pages are given back, and come again as zeros. */
        memset(cells, 0, (size_t)(first - (char *)cells));
        madvise(first, (size_t)(last - first), MADV_DONTNEED);
        memset(last, 0, (size_t)((char *)cells + size - last));
    } else {
        memset(cells, 0, size);
    }
}
