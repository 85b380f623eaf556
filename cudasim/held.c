#define _GNU_SOURCE
#include "check.h"
#include "operation.h"

/* Reports that wait for the end of their launch, since what comes may say more of the same mistake:
   memory that is read too early is first unwritten and then a race; beyond a barrier that not all
   threads reach everything races. What a launch reads too early is perhaps still to be written by
   another stream, as will be known when that has run. */

enum { MOST = 64 };

typedef struct Held {
    const char *kind;
    Site site, other;
    unsigned block;
    bool complete; /* there is nothing better to say */
    bool late;     /* work of other streams may say more */
    const char *p; /* the memory, of what was read too early; else NULL */
    char *text;
} Held;

static Held held[MOST];
static int count;

static void forget(int i) {
    free(held[i].text);
    for (count--; i < count; i++) {
        held[i] = held[i + 1];
    }
}

static void release(bool late_too) {
    Held waiting[MOST];
    int all = count;
    memcpy(waiting, held, sizeof held);
    count = 0;
    for (int i = 0; i < all; i++) {
        if (waiting[i].late && !late_too) {
            held[count++] = waiting[i];
        } else {
            sim_report_captured(waiting[i].kind, waiting[i].text);
            free(waiting[i].text);
        }
    }
}

void held_begin(const char *kind, Site site, Site other, const void *p) {
    race_settle(); /* a report takes this up, and none may stand within another */
    if (count == MOST) {
        release(true);
    }
    unsigned block = sim_worker != NULL ? sim_worker->block : 0; /* a copy has none */
    held[count] = (Held){.kind = kind, .site = site, .other = other, .block = block, .p = p};
    sim_capture();
}

void held_end(bool complete) {
    held[count].text = sim_captured();
    held[count++].complete = complete;
}

bool held_improves(const char *kind, Site site, Site other) {
    for (int i = 0; i < count; i++) {
        bool same = held[i].site == site && held[i].other == other;
        bool turned = held[i].site == other && held[i].other == site;
        if (held[i].kind == kind && (same || turned) && !held[i].complete) {
            forget(i);
            return true;
        }
    }
    return false;
}

/* A line may read two members of one variable, of which one was found first. */
static bool of_line(const Held *report, Site site, const char *p) {
    char here[600], there[600];
    if (report->site == site) {
        return true;
    }
    if (report->p == NULL || !same_shared(sim_worker, report->p, p)) {
        return false;
    }
    describe_site(report->site, here, sizeof here);
    describe_site(site, there, sizeof there);
    return strcmp(here, there) == 0;
}

void held_forget_site(const char *kind, Site site, const void *p) {
    for (int i = count - 1; i >= 0; i--) {
        if (strcmp(held[i].kind, kind) == 0 && of_line(&held[i], site, p)) {
            forget(i);
        }
    }
}

bool held_forget_block(const char *kind, unsigned block, Site *site, Site *other) {
    bool any = false;
    for (int i = count - 1; i >= 0; i--) {
        if (strcmp(held[i].kind, kind) == 0 && held[i].block == block) {
            *site = held[i].site;
            *other = held[i].other;
            any = true;
            forget(i);
        }
    }
    return any;
}

static int late; /* reports that ever waited for other streams */

void held_end_late(void) {
    held_end(true);
    held[count - 1].late = true;
    late++;
}

int held_late(void) {
    return late;
}

void held_forget_memory(const Allocation *allocation) {
    for (int i = count - 1; i >= 0; i--) {
        if (held[i].late && sim_allocation(held[i].p) == allocation) {
            forget(i);
        }
    }
}

void held_release(void) {
    release(count > 0 && !sim_others_wait());
}

void held_release_all(void) {
    release(true);
}
