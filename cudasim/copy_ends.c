#include "copy.h"

#include "device.h"
#include "graph.h"
#include "host_heap.h"

/* The two ends of a copy: the memory that was meant, room for it, and life. */

/* ---- when it is asked for -------------------------------------------------------------------- */

bool is_pinned(const void *p) {
    const Allocation *a = sim_allocation(p);
    return a != NULL && a->pinned && a->live;
}

bool is_locked(const Box *end, Extent extent) {
    return is_pinned(end->first) ||
           (sim_registered(end->first) && sim_registered(end->first + span(end, extent) - 1));
}

bool is_device(const void *p) {
    return sim_on_device(p) || variable_at(p) != NULL;
}

/* One end of a copy: is it in the memory that the kind names, and does it fit? */
static bool good_end(const char *call, const char *end, const void *p, size_t bytes,
                     bool device_wanted, Place place) {
    /* Pinned memory has one address for both sides. */
    bool device = is_device(p) || (device_wanted && (is_pinned(p) || sim_registered(p)));
    const Allocation *a = sim_allocation(p);
    if (p == NULL) {
        sim_report("null pointer", "%s at %s:%d: the %s is NULL", call, sim_file(place), place.line,
                   end);
        return false;
    }
    if (device != device_wanted && (a == NULL || !a->managed)) {
        sim_report("invalid copy", "%s at %s:%d: the %s is a %s pointer, but the direction says %s",
                   call, sim_file(place), place.line, end, device ? "DEVICE" : "HOST",
                   device_wanted ? "device" : "host");
        if (sim_on_device(p)) {
            sim_detail_address(p);
        }
        variable_detail(p);
        return false;
    }
    char what[100];
    snprintf(what, sizeof what, "%s, %s,", call, end);
    if (variable_at(p) != NULL) {
        return variable_holds(what, p, bytes, place);
    }
    bool known = a != NULL || sim_on_device(p);
    return known ? sim_check_range(what, p, bytes, place.file, place.line) &&
                       sim_not_of_heap(what, p, place)
                 : host_holds(call, end, p, bytes, place);
}

static bool apart(const char *call, const char *to, const char *from, size_t bytes, Place place) {
    if (to >= from + bytes || from >= to + bytes) {
        return true;
    }
    size_t away = (size_t)(to > from ? to - from : from - to);
    sim_report(
        "invalid copy",
        "%s at %s:%d: source and destination overlap by %zu of %zu bytes, which is undefined", call,
        sim_file(place), place.line, bytes - away, bytes);
    sim_detail("copy by way of another buffer, or with a kernel that says in which order");
    if (sim_on_device(to)) {
        sim_detail_address(to);
    }
    return false;
}

static bool rows_apart(const char *call, const Box *to, const Box *from, Extent e, Place place) {
    for (size_t i = 0; i < e.height * e.depth; i++) {
        if (!apart(call, row_at(to, i % e.height, i / e.height),
                   row_at(from, i % e.height, i / e.height), e.width, place)) {
            return false;
        }
    }
    return true;
}

/* A graph may outlive pinned memory; a call waits for it to be freed. */
static bool use_end(const void *p, int slot, const char *call, Place place) {
    Allocation *a = sim_allocation(p);
    bool noted = a != NULL && (!a->pinned || capture_takes(slot));
    return !noted || sim_use(a, slot, call, place);
}

bool good_copy(const char *call, Place place, const PendingCopy *c, int slot) {
    return good_end(call, "destination", c->to.first, span(&c->to, c->extent), c->to_device,
                    place) &&
           good_end(call, "source", c->from.first, span(&c->from, c->extent), c->from_device,
                    place) &&
           rows_apart(call, &c->to, &c->from, c->extent, place) &&
           use_end(c->to.first, slot, call, place) && use_end(c->from.first, slot, call, place);
}

/* Of the host's memory only the program's compiler knows how large it is. */
int cudasim_no_room(const char *file, int line, const char *call, const char *end, size_t bytes,
                    size_t room) {
    ENTER(call, file, line);
    Place place = {file, line};
    sim_report("out-of-bounds access", "%s at %s:%d: the %s has %zu byte%s, and the copy %zu", call,
               sim_file(place), line, end, room, room == 1 ? "" : "s", bytes);
    sim_detail("in memory of the host; on a GPU the copy goes on into what lies beside it");
    sim_error(cudaErrorInvalidValue, call, place, false);
    return 0;
}

/* ---- of a graph ------------------------------------------------------------------------------ */

void copy_note(PendingCopy *copy) {
    copy->to_end.first = copy->to.first;
    copy->from_end.first = copy->from.first;
    sim_note_host(&copy->to_end);
    sim_note_host(&copy->from_end);
}

void copy_forget(PendingCopy *copy) {
    if (copy->captured) {
        sim_forget_host(&copy->to_end);
        sim_forget_host(&copy->from_end);
    }
}

static bool is_dead(const char *end, const HostEnd *host) {
    const char *gone = sim_host_gone(host);
    if (gone == NULL) {
        return false;
    }
    const Operation *operation = sim_operation();
    sim_report("use after free", "%s at %s:%d: the %s is %s", operation->what,
               sim_file(operation->place), operation->place.line, end, gone);
    sim_detail("in a graph, by cudaGraphLaunch at %s:%d", sim_file(operation->replayed),
               operation->replayed.line);
    sim_detail("a graph keeps the address: use memory that lives as long as the graph");
    return true;
}

bool copy_may_run(const PendingCopy *copy) {
    if (!copy->captured) {
        return true;
    }
    is_dead("source", &copy->from_end);
    /* Memory that was freed may be gone; and a copy to what is dead would hit what runs. */
    return !is_dead("destination", &copy->to_end) && !copy->from_end.freed;
}
