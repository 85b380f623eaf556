/**
 * @file meter.h
 * @brief Progress and time left of a command that takes more than a few seconds.
 * @ingroup train
 *
 * Goes to stderr: on a terminal as one line that renews itself and is gone in the end, elsewhere as
 * a plain line every few seconds. A command that ends before that says nothing.
 */
#ifndef TRAIN_METER_H
#define TRAIN_METER_H

#include <stdbool.h>
#include <stdio.h>

/** Room for duration_text(). */
enum { DURATION_BYTES = 16 };

/** A command on its way. */
typedef struct Meter {
    FILE *to;       /**< stderr */
    const char *of; /**< what is counted: "windows" */
    double all;     /**< how many there are */
    double every;   /**< seconds between two lines */
    double began;   /**< on the clock of common/clock.h */
    double told;    /**< when the last line was written */
    bool terminal;  /**< one line that renews itself */
    bool open;      /**< it stands on the screen */
} Meter;

/**
 * Begins: nothing is written yet.
 *
 * @param of  what is counted, in the plural; must live as long as the meter
 * @param all how many there are, more than 0
 */
Meter meter_begin(const char *of, double all);

/** `done` of them are done; writes "40 of 600 windows, left 0:12", if it is time for a line. */
void meter_tell(Meter *meter, double done);

/** Takes the line off the screen: before anything else is written there, and at the end. */
void meter_clear(Meter *meter);

/** "1.5 s", "2:03", "1:02:03"; "-" where it is not known. Returns `text`. */
char *duration_text(char text[DURATION_BYTES], double seconds);

#endif
