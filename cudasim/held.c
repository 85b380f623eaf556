#define _GNU_SOURCE
#include "check.h"

/* Reports that wait for the end of their launch, since what comes may say more of the same mistake:
   memory that is read too early is first unwritten and then a race; beyond a barrier that not all
   threads reach everything races. */

enum { MOST = 64 };

typedef struct Held {
    const char *kind;
    Site site, other;
    unsigned block;
    bool complete; /* there is nothing better to say */
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

void held_begin(const char *kind, Site site, Site other) {
    race_settle(); /* a report takes this up, and none may stand within another */
    if (count == MOST) {
        held_release();
    }
    held[count] = (Held){.kind = kind, .site = site, .other = other, .block = sim_worker->block};
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

void held_forget_site(const char *kind, Site site) {
    for (int i = count - 1; i >= 0; i--) {
        if (strcmp(held[i].kind, kind) == 0 && held[i].site == site) {
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

void held_release(void) {
    int waiting = count;
    count = 0;
    for (int i = 0; i < waiting; i++) {
        sim_report_captured(held[i].kind, held[i].text);
        free(held[i].text);
    }
}
