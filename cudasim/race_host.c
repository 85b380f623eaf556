#include "operation.h"
#include "race.h"

/* The host in memory that it shares with kernels: pinned memory, where one was given it, and
   managed memory, which a kernel may reach by a pointer that another one holds. Its loads and
   stores are compared with theirs as those of one more thread, which is ordered after a kernel
   by waiting for it, and before it by a launch. A volatile or atomic access is how the two talk
   while the kernel runs: it orders, and is not looked at itself. */

bool race_watches_host;
bool race_watches_managed;

static uint32_t heard; /* the blocks up to this one had run when the host last looked at a flag */
static uint32_t told;  /* what the host did up to this number came before its last flag */

void check_mapped(void) {
    race_watches_host = true;
}

void check_managed(void) {
    race_watches_host = race_watches_managed = true;
}

bool race_host_signalled(uint32_t block, bool by_host) {
    return block <= (by_host ? told : heard);
}

static bool is_shared(const void *p) {
    const Allocation *a = sim_on_device(p) ? sim_allocation(p) : NULL;
    return sim_in_pinned(p) || (a != NULL && a->managed);
}

void race_host_flag(const void *p, bool reads, bool writes) {
    if (is_shared(p) && sim_enter_if_free()) {
        uint32_t now = sim_new_operation();
        heard = reads ? now : heard;
        told = writes ? now : told;
        sim_leave_fault();
    }
}

/* Within a host function of a stream the stream itself orders what comes later. */
void race_host(const void *p, size_t bytes, bool write, Site site) {
    if (is_shared(p) && sim_enter_if_free()) {
        const Allocation *a = sim_allocation(p);
        const char *first = p;
        bool within =
            a != NULL && a->live && first >= a->base && first + bytes <= a->base + a->bytes;
        if (within && !sim_in_host_function()) {
            race_of_host(p, bytes, write, site);
        }
        sim_leave_fault();
    }
}
