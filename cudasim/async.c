#include "block.h"

/* Asynchronous copies to shared memory. A GPU may do such a copy at any time between its start and
   the wait for it. Here its source is read at the start and its destination is written in the wait,
   as late as can be: until then the destination is full of ones, as if nothing had written it. */

typedef struct AsyncCopy {
    char *to;
    unsigned char value[COPY_BYTES];
    size_t bytes;
    unsigned batch;
    Place place;
    bool told; /* a thread has read the destination too early, and that was reported */
} AsyncCopy;

/* The copies that a thread has begun and not waited for, in the order of their batches. */
struct Copies {
    AsyncCopy *copy;
    int count, room;
    unsigned batch; /* that the next copy belongs to */
};

/* ---- what cannot be copied ------------------------------------------------------------------- */

static const char name[] = "asynchronous copy";

static _Noreturn void end_report(void) {
    sim_detail_thread();
    sim_abort_block();
}

static bool in_shared(const Worker *worker, const void *address) {
    const char *p = address;
    return p >= worker->shared && p < worker->dynamic_end + PAGE;
}

static void check_size(size_t bytes, size_t zeros, Place place) {
    if ((bytes != 4 && bytes != 8 && bytes != 16) || zeros > bytes) {
        sim_report("invalid copy", "%s at %s:%d of %zu bytes, of which %zu are zeros", name,
                   sim_file(place), place.line, bytes, zeros);
        sim_detail("4, 8 or 16 bytes can be copied; the zeros are among them");
        end_report();
    }
}

static void check_direction(const Worker *worker, const void *to, const void *from, Place place) {
    bool wrong_end = !in_shared(worker, to);
    if (wrong_end || in_shared(worker, from)) {
        sim_report("invalid copy", "%s at %s:%d: the %s in shared memory", name, sim_file(place),
                   place.line, wrong_end ? "destination is not" : "source is");
        sim_detail("it goes from global to shared memory");
        end_report();
    }
}

static void check_aligned(const char *end, const void *p, size_t bytes, Place place) {
    if ((uintptr_t)p % bytes != 0) {
        sim_report("misaligned access", "%s at %s:%d: its %s is not a multiple of its %zu bytes",
                   name, sim_file(place), place.line, end, bytes);
        end_report();
    }
}

/* ---- begin, commit, wait --------------------------------------------------------------------- */

static struct Copies *own_copies(Worker *worker) {
    if (worker->copies == NULL) {
        worker->copies = sim_map(MAX_THREADS * sizeof *worker->copies);
    }
    return &worker->copies[worker->fiber->thread];
}

void sim_drop_copies(Worker *worker) {
    for (int t = 0; worker->copies != NULL && t < worker->threads; t++) {
        worker->copies[t].count = 0;
        worker->copies[t].batch = 0;
    }
}

static AsyncCopy *new_copy(struct Copies *copies) {
    if (copies->count == copies->room) {
        copies->room = 2 * copies->room + 16;
        copies->copy = sim_realloc(copies->copy, (size_t)copies->room * sizeof *copies->copy);
    }
    return &copies->copy[copies->count++];
}

/* The destination counts as used from now on, and as unwritten. */
static void occupy(void *to, size_t bytes, Place place) {
    cudasim_before_access(to, bytes, true, place.file, place.line);
    memset(to, 0xFF, bytes);
    check_fresh(to, bytes);
}

void cudasim_copy_piece(void *to, const void *from, size_t bytes, size_t zeros, const char *file,
                        int line) {
    Place place = {file, line};
    Worker *worker = sim_need_kernel(name, place);
    struct Copies *copies = own_copies(worker);
    AsyncCopy *copy = new_copy(copies);
    *copy = (AsyncCopy){.to = to, .bytes = bytes, .batch = copies->batch, .place = place};
    if (bytes > zeros) {
        cudasim_before_access(from, bytes - zeros, false, file, line);
        memcpy(copy->value, from, bytes - zeros);
    }
    occupy(to, bytes, place);
}

void cudasim_copy_async(void *to, const void *from, size_t bytes, size_t zeros, const char *file,
                        int line) {
    Place place = {file, line};
    Worker *worker = sim_need_kernel(name, place);
    check_size(bytes, zeros, place);
    check_direction(worker, to, from, place);
    check_aligned("destination", to, bytes, place);
    check_aligned("source", from, bytes, place);
    cudasim_copy_piece(to, from, bytes, zeros, file, line);
}

int cudasim_copy_is_async(const void *to, const void *from, const char *file, int line) {
    const Worker *worker = sim_need_kernel(name, (Place){file, line});
    return in_shared(worker, to) && !in_shared(worker, from);
}

void cudasim_copy_commit(const char *file, int line) {
    own_copies(sim_need_kernel("a commit of copies", (Place){file, line}))->batch++;
}

static void land(const AsyncCopy *copy) {
    if (copy->told) {
        check_filled(copy->to, copy->bytes);
    } else {
        check_landed(copy->to, copy->bytes, copy->place);
    }
    memcpy(copy->to, copy->value, copy->bytes);
}

void cudasim_copy_wait(unsigned but, const char *file, int line) {
    struct Copies *copies = own_copies(sim_need_kernel("a wait for copies", (Place){file, line}));
    int done = 0;
    while (done < copies->count && copies->copy[done].batch + but < copies->batch) {
        land(&copies->copy[done++]);
    }
    copies->count -= done;
    memmove(copies->copy, copies->copy + done, (size_t)copies->count * sizeof *copies->copy);
}

/* ---- a read that comes too early ------------------------------------------------------------- */

static AsyncCopy *find_copy(struct Copies *copies, const char *p, size_t bytes) {
    for (int i = 0; i < copies->count; i++) {
        AsyncCopy *copy = &copies->copy[i];
        if (p < copy->to + copy->bytes && copy->to < p + bytes) {
            return copy;
        }
    }
    return NULL;
}

bool sim_copy_pending(Worker *worker, const char *p, size_t bytes) {
    for (int t = 0; worker->copies != NULL && t < worker->threads; t++) {
        AsyncCopy *copy = find_copy(&worker->copies[t], p, bytes);
        if (copy != NULL) {
            copy->told = true;
            return true;
        }
    }
    return false;
}

void sim_detail_pending(Worker *worker, const char *p, size_t bytes) {
    for (int t = 0; t < worker->threads; t++) {
        const struct Copies *copies = &worker->copies[t];
        const AsyncCopy *copy = find_copy(&worker->copies[t], p, bytes);
        if (copy != NULL) {
            char text[40];
            sim_detail("thread %s has begun it at %s:%d and not waited for it%s",
                       sim_thread_name(worker, t, text), sim_file(copy->place), copy->place.line,
                       copy->batch == copies->batch ? ", nor has it committed it" : "");
            return;
        }
    }
}
