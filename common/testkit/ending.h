/**
 * @file ending.h
 * @brief Code that must end the program: how it ends, and what it says.
 * @ingroup grader
 */
#ifndef COMMON_TESTKIT_ENDING_H
#define COMMON_TESTKIT_ENDING_H

/**
 * Runs `body` in a process of its own. Fails the test unless it ends as wanted and says why.
 *
 * @param body   has no assertions; one that comes back has not ended the program
 * @param status exit status, or -signal
 * @param says   is in what it writes to stderr
 */
void expect_ending(void (*body)(void), int status, const char *says);

#endif
