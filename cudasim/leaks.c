#include "allocation.h"
#include "device.h"
#include "operation.h"

/* Things that a program has made and never given back. One line that does so a thousand times is
   one report, so they are counted by the calls that have made them. */

enum { MOST_LINES = 64 };

typedef struct Leak {
    const char *call; /* that has made it */
    Place place;
    size_t count, bytes; /* calls; of memory, in all of them */
} Leak;

static Leak leak[MOST_LINES];
static int lines;
static size_t more; /* calls on lines for which there is no room */

void leaks_add(const char *call, Place place, size_t bytes) {
    int i = 0;
    while (i < lines && !(leak[i].call == call && leak[i].place.file == place.file &&
                          leak[i].place.line == place.line)) {
        i++;
    }
    if (i == MOST_LINES) {
        more++;
        return;
    }
    if (i == lines) {
        lines++;
        leak[i] = (Leak){.call = call, .place = place};
    }
    leak[i].count++;
    leak[i].bytes += bytes;
}

static void report_lines(void) {
    for (int i = 0; i < lines; i++) {
        char times[40] = "";
        if (leak[i].count > 1) {
            snprintf(times, sizeof times, ", of %zu calls", leak[i].count);
        }
        const char *file = sim_file(leak[i].place);
        if (leak[i].bytes > 0) {
            sim_report("leak", "%s at %s:%d: %zu bytes%s, never given back", leak[i].call, file,
                       leak[i].place.line, leak[i].bytes, times);
        } else {
            sim_report("leak", "%s at %s:%d: what it made was never destroyed%s", leak[i].call,
                       file, leak[i].place.line, times);
        }
    }
    if (more > 0) {
        sim_report("leak", "%zu calls on more lines than can be shown", more);
    }
    lines = 0;
    more = 0;
}

void sim_report_leaks_of_device(void) {
    if (sim_settings.leaks) {
        sim_memory_left(sim_device());
        report_lines();
    }
}

void sim_report_leaks(void) {
    sim_memory_left(-1);
    sim_handles_left();
    report_lines();
}
