/**
 * @file probe_windows.h
 * @brief Probes of labs that train by windows of micro-batches: what is handed back of each, seen
 * from the optimizer's hook. The judge's side is grader/windows.h.
 * @ingroup grader
 *
 *     window_run_open(in, out, "window", (WindowDevice){.arena = ARENA_BYTES});
 *     for (...) {
 *         StepReport report = accumulate_window(&window_run.trainer, batches, count);
 *         window_give_report(&report);
 *         window_done();
 *     }
 *     window_run_close();
 */
#ifndef GRADER_PROBE_WINDOWS_H
#define GRADER_PROBE_WINDOWS_H

#include "grader/probe_training.h"

/** The tensors to hand back; values may be added up. */
enum {
    WANT_GRADIENTS = 1, /**< as they are when the optimizer steps */
    WANT_UPDATE = 2,    /**< weights, moments, and masters if there are some, after each window */
    WANT_LEFT = 4,      /**< gradients after each window */
    WANT_REPORT = 8,    /**< always handed back; says to the judge that it is looked at */
    WANT_STATES = 16,   /**< lab 05: all of these after each window, end to end */
};

/** How the probe runs, "options" as WIRE_I32; a lab has its own from OPTION_OWN on. */
enum {
    OPTION_WANTS,       /**< see above */
    OPTION_GPU,         /**< on the simulated GPU */
    OPTION_OWN,         /**< the first that is a lab's own */
    WINDOW_OPTIONS = 8, /**< how many travel */
};

enum { WINDOW_BATCHES = 64 };

/** Windows as they run. */
typedef struct WindowRun {
    const Wire *in;
    Wire *out;
    const int32_t *option; /**< (WINDOW_OPTIONS) */
    const char *when;      /**< "step" or "window", for param_name() */
    Batch batch[WINDOW_BATCHES];
    int batches; /**< that are given */
    Trainer trainer;
    size_t expected; /**< windows that the judge expects */
    size_t number;   /**< of the window, from 0 on */
    int steps;       /**< of the optimizer in this window */
} WindowRun;

/** One at a time: the hooks of the optimizer and of memory get no context. */
extern WindowRun window_run;

/** Where it runs. */
typedef struct WindowDevice {
    size_t arena;     /**< bytes of the CPU's; with `limit` the budget elsewhere */
    bool limit;       /**< whether they are all that there is */
    bool gpu_checked; /**< memory is checked (memory.h) on a simulated GPU too */
    bool unwatched;   /**< there is no trace of events */
} WindowDevice;

/** Opens a device, its memory, and the trainer that is given; watches the model. */
void window_run_open(const Wire *in, Wire *out, const char *when, WindowDevice device);

/** Looks for what was written past the end of a tensor. */
void window_run_close(void);

/** Whether this is wanted of the present window, which may be one that nobody expects. */
bool window_wanted(int what);

/** Hands back the gradients as they are, named `what` ("gradient of "). */
void window_give_gradients(const char *what);

/** Hands back weights, masters and moments. */
void window_give_update(void);

/** Hands back a number of the present window. */
void window_give_number(const char *name, uint64_t value);

/** The same for a float. */
void window_give_float(const char *name, float value);

/** Hands back loss, norm, rate, targets, ticks and the trace. */
void window_give_report(const StepReport *report);

/** A window is over: hands back what is wanted of it, and begins the next one. */
void window_done(void);

/** Ends the program where a later task has, with what the tasks before it did. */
void window_end_early(void) __attribute__((noreturn));

#endif
