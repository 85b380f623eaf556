#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

#include "sim.h"

/* The counts for a judge leave at once, by a pipe: lines can be added, and none taken back. A line
   begins with the end of another, which may come from the program and have none. */

enum { LINE = 1024 /* at most PIPE_BUF: a line is written whole */ };

void sim_event(const char *format, ...) {
    if (sim_settings.events < 0) {
        return;
    }
    char line[LINE] = "\ncudasim ";
    size_t length = strlen(line);
    va_list values;
    va_start(values, format);
    vsnprintf(line + length, sizeof line - length - 1, format, values);
    va_end(values);
    length = strlen(line);
    line[length++] = '\n';
    ssize_t done;
    while ((done = write(sim_settings.events, line, length)) < 0 && errno == EINTR) {
    }
    if (done != (ssize_t)length) {
        fprintf(stderr, "[cudasim] CUDASIM_EVENTS: %s\n", strerror(errno));
        _exit(2);
    }
}
