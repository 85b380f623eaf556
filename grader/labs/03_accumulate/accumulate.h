/**
 * @file accumulate.h
 * @brief Judge of lab 03: what a check gives to the probe, and how what comes back is compared. A
 * window in double is in grader/windows.h, what known mistakes give in mistakes.h.
 * @ingroup grader
 */
#ifndef GRADER_LABS_03_ACCUMULATE_ACCUMULATE_H
#define GRADER_LABS_03_ACCUMULATE_ACCUMULATE_H

#include "grader/labs/03_accumulate/protocol.h"
#include "grader/windows.h"

enum { MOST_WINDOWS = 8 };

/** Windows of `micros` micro-batches, of `batches` in all, whose sizes differ by more than ten
 * times. */
Windows accumulate_of(Check *check, ModelConfig config, int batches, int micros);

/** One more micro-batch, drawn until mistakes about it differ from what is right and each other;
 * false where those before it leave none. */
bool accumulate_add(Windows *windows, int B, int T);

/** The same of a small model. */
Windows accumulate_new(Check *check, int batches, int micros, float dropout);

/** Everything that every case of the probe needs; check_run() may follow more than once. */
void accumulate_give(Windows *windows, int wants);

/** As many windows as there should be, and one step of the optimizer in each. */
bool accumulate_expect_count(const Windows *windows);

/** One tick of the schedule for each window, by the time that it is reported. */
bool accumulate_expect_ticks(const Windows *windows);

/** The rates in the reports. */
void accumulate_expect_rates(const Windows *windows);

/** Said of a divisor of 0, whose targets nobody has counted. */
extern const char accumulate_none_counted[];

/** Said where epochs end too early. */
extern const char accumulate_stops[];

/** Compares the gradients that the optimizer saw in a window. */
bool accumulate_expect_gradients(const Windows *windows, const Window *w);

/** That the loss of a window without any valid target is 0. */
void accumulate_expect_no_loss(Check *check, int number);

/** Runs a case, judges all that it wants back, and frees the windows. @return whether it ran,
    and the gradients and reports that are wanted are right */
bool accumulate_judge(Windows *windows, const char *probe_case, int wants);

#endif
