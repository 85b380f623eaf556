#define _GNU_SOURCE
#include <dlfcn.h>

#include "allocation.h"
#include "check.h"
#include "device.h"

/* Variables at an address: of the program, or shared ones of a block. */

bool in_image(const char *p) {
#ifdef __linux__
    extern char __executable_start[], _end[];
    return p >= __executable_start && p < _end;
#else
    Dl_info image;
    return dladdr(p, &image) != 0;
#endif
}

/* The variable of this block that holds or is nearest to p; its distance in bytes. */
static const SharedVariable *variable_near(const Worker *worker, const char *p, ptrdiff_t *away) {
    const SharedVariable *nearest = NULL;
    *away = PTRDIFF_MAX;
    for (int id = 1; id <= worker->variable_top; id++) {
        if (worker->variable_block[id] != worker->block) {
            continue;
        }
        const char *begin = worker->variable_at[id];
        const char *end = begin + worker->variable[id]->size;
        ptrdiff_t distance = p < begin ? begin - p : p >= end ? p - end : 0;
        if (distance < *away) {
            *away = distance;
            nearest = worker->variable[id];
        }
    }
    return nearest;
}

static bool in_dynamic(const Worker *worker, const char *p) {
    return p >= worker->dynamic && p < worker->dynamic_end + PAGE;
}

/* A graded file's have no records. */
static void detail_variable(const char *p) {
    const char *space = in_constants(p) ? "__constant__" : "__device__";
    const cudasim_variable *v = variable_recorded(p);
    if (v != NULL) {
        sim_detail("address is byte %td of %s %s (%zu bytes)", p - (const char *)v->begin, space,
                   v->name, v->bytes);
    } else if (in_image(p) && variable_of_host(p) == NULL) {
        sim_detail("address is %p, in a %s variable", p, space);
    }
}

void detail_memory(const char *p, bool shared) {
    const Worker *worker = sim_worker;
    if (sim_on_device(p) || sim_allocation(p) != NULL) {
        sim_detail_address(p);
        return;
    }
    if (!shared) {
        detail_variable(p);
        return;
    }
    ptrdiff_t away;
    const SharedVariable *v = variable_near(worker, p, &away);
    if (in_dynamic(worker, p)) {
        sim_detail("address is byte %td of dynamic shared memory; the launch asks for %zu bytes",
                   p - worker->dynamic, worker->launch->site.shared);
        sim_detail_dynamic();
    } else if (v != NULL) {
        const char *begin = worker->variable_at[v->id];
        char where[60] = "in";
        if (p < begin || p >= begin + v->size) {
            snprintf(where, sizeof where, "%td bytes %s", away,
                     p < begin ? "before the start of" : "past the end of");
        }
        sim_detail("address is %s __shared__ %s (%zu bytes, declared at %s:%d)", where, v->name,
                   v->size, sim_file((Place){v->file, v->line}), v->line);
    }
}

bool same_shared(const Worker *worker, const char *p, const char *q) {
    ptrdiff_t away;
    return in_dynamic(worker, p)
               ? in_dynamic(worker, q)
               : variable_near(worker, p, &away) == variable_near(worker, q, &away);
}

bool shared_bounds(const Worker *worker, const Access *access) {
    const char *end = access->p + access->bytes;
    if (access->p >= worker->dynamic && end <= worker->dynamic + worker->launch->site.shared) {
        return true;
    }
    for (int id = 1; id <= worker->variable_top; id++) {
        if (worker->variable_block[id] == worker->block && access->p >= worker->variable_at[id] &&
            end <= worker->variable_at[id] + worker->variable[id]->size) {
            return true;
        }
    }
    return false;
}
