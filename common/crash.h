/**
 * @file crash.h
 * @brief Where a program was when a signal ended it.
 * @ingroup common
 */
#ifndef COMMON_CRASH_H
#define COMMON_CRASH_H

/**
 * From here on, what ends the program by SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGXCPU (its time is
 * over) is reported on stderr before it does, in one line:
 *
 *     crash: a bad address, 32 bytes past NULL, at checkpoint.c:44 (rerun), called from ...
 *
 * Signals for which there is a handler already (a sanitizer's) are left to it. To be called before
 * the GPU is used: the simulator hands on the faults that are not its own. Lines are known where it
 * is linked; with BACKEND=cuda only the signal is reported.
 */
void crash_tell(void);

/** Called when a crash has been reported, so that a debugger can stop there. */
void crash_told(void);

/** From here on `then` runs once a crash has been reported, before it ends the program: in the
    signal's handler, on its own stack. NULL for nothing. */
void crash_then(void (*then)(void));

/**
 * From here on a crash is reported with addresses ("+0x12af") in place of lines: finding lines
 * takes memory and files, which a closed room does not have.
 */
void crash_tell_addresses(void);

/** Prints the lines of such addresses of this program, in another run of it: ", at loop.c:12". */
void crash_print_lines(const char *addresses);

#endif
