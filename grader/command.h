/**
 * @file command.h
 * @brief Programs that the grader runs outside of its sandbox, without a shell: whatever a path
 * holds, spaces and quotes too, stays one word.
 * @ingroup grader
 */
#ifndef GRADER_COMMAND_H
#define GRADER_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

/**
 * Runs a program and waits for it.
 *
 * @param      argv   ended by NULL; the program is looked for in PATH
 * @param[out] output what it printed, to be given to free(); NULL to leave it on stdout
 * @return whether it ended with status 0
 */
bool command_run(const char *const argv[], char **output);

/** sha256 of a file as hexadecimal text, by the system's own tool. */
bool command_sha256(const char *path, char hex[65]);

/**
 * Removes a folder, however deep: by rm, which stops at nothing that a submission has made in it.
 */
bool command_remove(const char *folder);

/** Writes a word for a shell: 'word', with each quote in it as '\''. */
void command_quote(FILE *to, const char *word);

#endif
