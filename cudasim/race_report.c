#define _GNU_SOURCE
#include "operation.h"
#include "race.h"

/* A race in words. What is missing depends on what the two threads do: a barrier between a store
   and a read, an atomic where both change one number. So a report waits until that is known: a read
   until its thread stores to the same place or stops; all that is between threads of one launch
   until the launch is over (held.c). */

/* ---- words ----------------------------------------------------------------------------------- */

static const char *who(const Party *party, char text[60]) {
    if (party->block < sim_first_block()) {
        snprintf(text, 60, "other work");
    } else if (party->block != sim_worker->block) {
        snprintf(text, 60, "a thread of another block");
    } else if (party->thread == MANY) {
        snprintf(text, 60, "several threads");
    } else if (party->thread & WARP_OF) {
        snprintf(text, 60, "several threads of warp %d", race_warp(party->thread));
    } else {
        char name[40];
        snprintf(text, 60, "thread %s", sim_thread_name(sim_worker, party->thread, name));
    }
    return text;
}

static const char *verb(bool writes, const Party *party) {
    return party->atomic > FLAG ? "atomic" : writes ? "write" : "read";
}

static void detail_lines(const Race *race, const char *here, const char *there) {
    sim_detail("this %s: %s", verb(race->writes, &race->now), here);
    sim_detail("other %s: %s", verb(race->wrote, &race->before), there);
    sim_detail_thread();
}

static void report_streams(const Race *race, const char *here, const char *there) {
    const Operation *operation = sim_operation();
    bool in_graph = operation->replayed.file != NULL;
    const Allocation *allocation = sim_allocation(race->p);
    held_forget_memory(allocation);
    if (allocation != NULL && allocation->unordered) {
        return; /* the same event is missing */
    }
    sim_report("stream race",
               "%s at %s:%d and work of another %s touch the same memory in no "
               "order",
               operation->what, sim_file(operation->place), operation->place.line,
               in_graph ? "node or stream" : "stream");
    detail_lines(race, here, there);
    detail_memory(race->p, race->shared);
    sim_detail(in_graph ? "let the one node depend on the other; in a capture, record an event "
                          "after the one and let the other's stream wait for it"
                        : "record an event after the one and let the other's stream wait for it");
}

/* The host was there before the kernel ran, or comes now. */
static void report_host(const Race *race, const char *here, const char *there) {
    bool host_now = sim_operation() == NULL;
    bool host_writes = host_now ? race->writes : race->wrote;
    bool kernel_writes = host_now ? race->wrote : race->writes;
    sim_report("pending kernel",
               "host code at %s %s %s memory that a kernel %s, and has not waited for it",
               host_now ? here : there, host_writes ? "writes" : "reads",
               sim_on_device(race->p) ? "managed" : "mapped", kernel_writes ? "writes" : "reads");
    sim_detail("the kernel does it at %s", host_now ? there : here);
    detail_memory(race->p, false);
    sim_detail("wait with cudaStreamSynchronize or cudaEventSynchronize first; a flag by which the "
               "two talk while the kernel runs is volatile or atomic on both sides");
}

static int width(const Party *party) {
    return party->atomic & ~OF_BLOCK;
}

/* atomicAdd_block() and its kin promise nothing to other blocks. */
static bool atomic_to_each_other(const Party *before, const Party *now) {
    bool narrow = (before->atomic | now->atomic) & OF_BLOCK;
    return width(before) == width(now) && !(narrow && before->block != now->block);
}

static void detail_barrier(const Race *race) {
    dim3 grid = sim_worker->launch->site.grid;
    if (race_warp(race->before.thread) == race_warp(race->now.thread)) {
        sim_detail("a __syncthreads() is missing between the two, or a __syncwarp() where a warp "
                   "works alone: its threads do not run in step");
    } else {
        sim_detail(
            "a __syncthreads() is missing between the two, or at the end of the loop's body");
    }
    if (!race->shared && (size_t)grid.x * grid.y * grid.z > 1) {
        sim_detail("it orders the threads of one block: where other blocks touch the same "
                   "elements, use another array or another kernel for the second");
    }
}

static void detail_cure(const Race *race, bool update, bool same_line) {
    const Party *before = &race->before, *now = &race->now;
    if (update) {
        sim_detail("both read the value, change it and store it, and one change is lost: use an "
                   "atomic");
        sim_detail("atomicAdd(), atomicMax() and their kin; atomicCAS() in a loop for what they do "
                   "not do");
        if (!race->shared && before->block != now->block) {
            sim_detail(
                "or, if each number is one thread's, blocks overlap: a loop over a grid steps "
                "by gridDim.x * blockDim.x");
        } else if (before->block == now->block) {
            sim_detail("or, if it is another thread's turn in the next step of a loop, a "
                       "__syncthreads() is missing between the steps");
        }
    } else if (before->atomic > FLAG && now->atomic > FLAG && width(before) == width(now)) {
        sim_detail("atomicAdd_block() and its kin are atomic among the threads of one block alone: "
                   "use atomicAdd() for what other blocks change too");
    } else if (before->atomic > FLAG && now->atomic > FLAG) {
        sim_detail("the atomics are of %d and %d bytes: those of different widths are not atomic "
                   "to each other",
                   width(now), width(before));
    } else if (before->atomic > FLAG || now->atomic > FLAG) {
        sim_detail("one of the two is not atomic: use an atomic for both, or %s",
                   before->block == now->block ? "put a __syncthreads() between them"
                                               : "another kernel for the second");
    } else if (before->block != now->block && race_between_signs(race)) {
        sim_detail("a fence and an atomic order other threads only where these meet that thread: a "
                   "__syncthreads() before the atomic of the one block, and after the other's");
    } else if (before->block != now->block) {
        sim_detail("blocks run in any order: use atomics, or give each block its own output");
    } else if (race->wrote && race->writes && same_line) {
        sim_detail("only one of the values stays: give each thread its own element, let one thread "
                   "write, or use an atomic");
    } else {
        detail_barrier(race);
    }
}

/* ---- one report for two lines ---------------------------------------------------------------- */

/* "sum.cu:14 (sum<int>)": the line of a template is one, of whatever type it is made. */
static int line_length(const char *where) {
    const char *function = strstr(where, " (");
    return (int)(function != NULL ? (size_t)(function - where) : strlen(where));
}

/* A line is often more than one access, and the same two meet in either order. */
static bool first_of_lines(const char *here, const char *there) {
    enum { PAIRS = 512 };
    static char *told[PAIRS];
    static int count;
    char pair[1300];
    bool swap = strcmp(here, there) > 0;
    const char *first = swap ? there : here, *second = swap ? here : there;
    snprintf(pair, sizeof pair, "%.*s|%.*s", line_length(first), first, line_length(second),
             second);
    for (int i = 0; i < count; i++) {
        if (strcmp(told[i], pair) == 0) {
            return false;
        }
    }
    if (count < PAIRS) {
        told[count++] = strdup(pair);
    }
    return true;
}

/* Memory that nothing has written, since the one who writes it comes too late, is this race. */
static void report_in_launch(const Race *race, const char *here, const char *there, bool update) {
    char other[60];
    held_forget_site("uninitialized shared memory", race->now.site, race->p);
    held_forget_site("uninitialized shared memory", race->before.site, race->p);
    held_forget_site("pending copy", race->now.site, race->p);
    held_forget_site("pending copy", race->before.site, race->p);
    held_begin("race", race->now.site, race->before.site, NULL);
    sim_report("race", "%s memory is %s here and %s by %s, and nothing orders the two",
               race->shared ? "shared" : "global", race->writes ? "written" : "read",
               race->wrote ? "written" : "read", who(&race->before, other));
    detail_lines(race, here, there);
    detail_memory(race->p, race->shared);
    detail_cure(race, update, strcmp(here, there) == 0);
    held_end(update);
}

static void report_race(const Race *race, bool update) {
    char here[600], there[600];
    bool apart = race->before.block < sim_first_block(); /* two operations, or one and the host */
    bool host = apart && (sim_operation() == NULL || race_by_host(race->before.block));
    /* A report that is still held learns what the first to be found did not know. */
    bool better = !apart && update && held_improves("race", race->now.site, race->before.site);
    if (!better && !first_report(host    ? "pending kernel"
                                 : apart ? "stream race"
                                         : "race",
                                 race->now.site, race->before.site)) {
        return;
    }
    describe_site(race->now.site, here, sizeof here);
    describe_site(race->before.site, there, sizeof there);
    if (apart && !host) {
        report_streams(race, here, there);
    } else if (first_of_lines(here, there) || better) {
        host ? report_host(race, here, there) : report_in_launch(race, here, there, update);
    }
}

/* A flag that is volatile, after a fence: right on every GPU so far, and not what CUDA promises. */
static void note_flag(const Race *race) {
    char here[600];
    if (first_report("note", race->now.site, 0)) {
        describe_site(race->now.site, here, sizeof here);
        sim_note("a volatile flag orders two threads at %s", here);
        sim_detail("CUDA promises that of atomics only: atomicExch() to set it, atomicAdd(&flag, "
                   "0) to look; CUDASIM_STRICT=1 makes this a race");
    }
}

/* ---- what the thread does next --------------------------------------------------------------- */

/* Many threads that write the same value do no harm ("found = 1"). The hook comes before the store,
   so two writes are looked at again when the thread has stored. */
typedef struct Store {
    Race race;
    uint32_t value; /* of the word, before */
    bool awaited;   /* a read has come since, which may be of the same statement */
} Store;
static Store *stores; /* one for each word of a vector or a structure */
static size_t store_count, store_room;

/* Reads of the running thread that race with a store. If it stores there itself, an update is lost;
   if by atomicCAS, which compares, the read did no harm. */
enum { DOUBTS = 8 };
static Race doubt[DOUBTS];
static int doubts;

bool race_unsettled;

static void keep_store(const Race *race) {
    if (store_count == store_room) {
        store_room = 2 * store_room + 16;
        stores = sim_realloc(stores, store_room * sizeof *stores);
    }
    Store *store = &stores[store_count++];
    *store = (Store){.race = *race};
    memcpy(&store->value, race_word(race->p), sizeof store->value);
}

/* gcc announces a structure's store before the read that it copies. */
static bool still_awaited(Store *store, bool by_read) {
    bool first = by_read && !store->awaited;
    store->awaited = true;
    return first;
}

void race_flush(bool by_read) {
    size_t count = store_count;
    if (count == 0) {
        return;
    }
    store_count = 0;
    for (size_t i = 0; i < count; i++) {
        Store store = stores[i];
        if (memcmp(&store.value, race_word(store.race.p), sizeof store.value) != 0) {
            report_race(&store.race, false);
        } else if (still_awaited(&store, by_read)) {
            stores[store_count++] = store;
        }
    }
    race_unsettled = store_count > 0 || doubts > 0;
}

static bool telling; /* a race is being reported: the other doubts stay */

static void tell(const Race *race, bool update) {
    telling = true;
    report_race(race, update);
    telling = false;
}

void race_settle(void) {
    int count = telling ? 0 : doubts;
    for (int i = 0; i < count; i++) {
        tell(&doubt[i], false);
    }
    doubts -= count;
    race_unsettled = store_count > 0 || doubts > 0;
}

static bool take_doubt(const char *p, unsigned bytes, Race *race) {
    for (int i = 0; i < doubts; i++) {
        if (race_word(doubt[i].p) == race_word(p) && doubt[i].now.bytes & bytes) {
            *race = doubt[i];
            doubt[i] = doubt[--doubts];
            return true;
        }
    }
    return false;
}

static const char *compared; /* by the atomicCAS that comes next */

void race_compares(const void *p) {
    compared = p;
}

bool race_explains(const char *p, unsigned bytes, bool atomic) {
    Race race;
    bool found = doubts > 0 && take_doubt(p, bytes, &race);
    bool guess = atomic && compared != NULL && p >= compared && p < compared + 8;
    if (found && !guess) {
        tell(&race, !atomic);
    }
    return found;
}

void race_found(const Race *race) {
    const Party *before = &race->before, *now = &race->now;
    bool atomics = before->atomic > FLAG && now->atomic > FLAG;
    if (atomics && atomic_to_each_other(before, now)) {
        return;
    }
    race_unsettled = true;
    quick_forget();
    bool in_launch = before->block >= sim_first_block();
    if (before->atomic != PLAIN && now->atomic != PLAIN && in_launch) {
        atomics ? report_race(race, false) : note_flag(race);
    } else if (in_launch && race->wrote && race->writes && before->atomic <= FLAG &&
               now->atomic <= FLAG) {
        keep_store(race);
    } else if (in_launch && !race->writes) {
        if (doubts == DOUBTS) {
            race_settle();
        }
        doubt[doubts++] = *race;
    } else {
        report_race(race, false);
    }
}
