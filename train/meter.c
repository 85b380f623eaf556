/* Progress and the time left, on one line. The contract is in meter.h. */
#include "train/meter.h"

#include <unistd.h>

#include "common/clock.h"
#include "kernels/base.h"

static const char erase[] = "\r\033[K";

Meter meter_begin(const char *of, double all) {
    CHECK(all > 0, "%g %s", all, of);
    bool terminal = isatty(STDERR_FILENO);
    double began = now();
    return (Meter){.to = stderr,
                   .of = of,
                   .all = all,
                   .every = terminal ? 0.2 : 5,
                   .began = began,
                   .told = began,
                   .terminal = terminal};
}

void meter_tell(Meter *meter, double done) {
    char left[DURATION_BYTES];
    double time = now();
    if (time - meter->told < meter->every || done <= 0 || done >= meter->all) {
        return;
    }
    duration_text(left, (time - meter->began) / done * (meter->all - done));
    fflush(stdout); /* lines come in the order in which they were written */
    fprintf(meter->to, "%s%.0f of %.0f %s, left %s%s", meter->terminal ? erase : "", done,
            meter->all, meter->of, left, meter->terminal ? "" : "\n");
    fflush(meter->to);
    meter->told = time;
    meter->open = meter->terminal;
}

void meter_clear(Meter *meter) {
    if (meter->open) {
        fputs(erase, meter->to);
        fflush(meter->to);
        meter->open = false;
    }
}

char *duration_text(char text[DURATION_BYTES], double seconds) {
    if (!(seconds < 360000)) {
        snprintf(text, DURATION_BYTES, "-");
    } else if (seconds < 60) {
        snprintf(text, DURATION_BYTES, "%.1f s", seconds);
    } else if (seconds < 3600) {
        snprintf(text, DURATION_BYTES, "%d:%02d", (int)seconds / 60, (int)seconds % 60);
    } else {
        snprintf(text, DURATION_BYTES, "%d:%02d:%02d", (int)seconds / 3600, (int)seconds / 60 % 60,
                 (int)seconds % 60);
    }
    return text;
}
