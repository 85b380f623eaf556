#define _GNU_SOURCE
#include "grader/probe.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/crash.h"
#include "common/lab.h"
#include "grader/probe_seal.h"
#include "kernels/base.h"

/* The main program of every probe: `probe CASE`, with the two tables of descriptors 3 and 4. */

ModelConfig probe_config(const Wire *in) {
    size_t bytes;
    const void *given = wire_get(in, "config", WIRE_BYTES, &bytes);
    ModelConfig config;
    CHECK(bytes == sizeof config, "a config of %zu bytes", bytes);
    memcpy(&config, given, sizeof config);
    return config;
}

Device *probe_device(bool gpu, size_t arena) {
    Device *device = gpu ? device_gpu_new(ops_gpu) : device_cpu_new(arena);
    CHECK(device != NULL, "no %s with %zu bytes", gpu ? "GPU" : "CPU", arena);
    return device;
}

static void (*cut_short)(void);

static void on_hole(int status, void *context) {
    (void)context;
    if (status == EXIT_TODO) {
        cut_short();
    }
}

/* abort() ends the program when this returns; a case that takes long goes on. What it calls may
   abort, too. */
static void on_signal(int number) {
    static bool runs;
    (void)number;
    if (!runs) {
        runs = true;
        cut_short();
        runs = false;
    }
}

/* On the simulated GPU the alarm is the simulator's clock, which rings within kernels. */
static bool alarm_is_free(void) {
    struct sigaction now;
    return sigaction(SIGALRM, NULL, &now) == 0 && now.sa_handler == SIG_DFL;
}

void probe_when_cut_short(void (*then)(void)) {
    enum { LONG = 8 /* seconds; a judge waits for 20 */ };
    cut_short = then;
    on_exit(on_hole, NULL);
    crash_then(then);
    signal(SIGABRT, on_signal);
    if (alarm_is_free()) {
        signal(SIGALRM, on_signal);
        alarm(LONG);
    }
}

void probe_lost(const char *sentence, ...) {
    va_list values;
    fflush(stdout);
    va_start(values, sentence);
    vfprintf(stderr, sentence, values);
    va_end(values);
    fputc('\n', stderr);
    exit(PROBE_LOST);
}

static struct Closed {
    const char *begin, *sentence;
    size_t bytes;
    struct sigaction before;
} closed;

/* Without a system call, which the seal may forbid by then. */
static void see_closed(int number, siginfo_t *info, void *context) {
    if ((uintptr_t)info->si_addr - (uintptr_t)closed.begin < closed.bytes) {
        probe_lost("%s", closed.sentence);
    }
    closed.before.sa_sigaction(number, info, context);
}

void probe_lost_in(const void *begin, size_t bytes, const char *sentence) {
    struct sigaction action = {.sa_sigaction = see_closed, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    CHECK(closed.begin == NULL, "one range is watched already");
    closed = (struct Closed){.begin = begin, .sentence = sentence, .bytes = bytes};
    int done = sigaction(SIGSEGV, &action, &closed.before);
    CHECK(done == 0 && (closed.before.sa_flags & SA_SIGINFO), "nobody reports crashes");
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], PROBE_LINES) == 0) {
        crash_print_lines(argv[2]);
        return 0;
    }
    const ProbeCase *probe_case = probe_cases;
    while (argc == 2 && probe_case->name != NULL && strcmp(probe_case->name, argv[1]) != 0) {
        probe_case++;
    }
    if (argc != 2 || probe_case->name == NULL) {
        fprintf(stderr, "probe: there is no case %s\n", argc == 2 ? argv[1] : "(one is wanted)");
        return 2;
    }
    crash_tell();
    probe_seal();
    Wire *in = wire_open(WIRE_IN, false), *out = wire_open(WIRE_OUT, true);
    probe_case->run(in, out);
    wire_finish(out);
    return 0;
}
