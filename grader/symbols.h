/**
 * @file symbols.h
 * @brief What the object of a hand-in may define, use and be made of.
 * @ingroup grader
 *
 * Two listings are read, made in the sandbox by the system's own tools: objects are not
 * parsed here. Assembly can give symbols and sections any name, one with spaces and
 * newlines as well, that looks like a line of a listing. So a line that is not exactly of the form
 * it should have is refused; none is passed over.
 *
 * It gives friendly messages and stops a hand-in from delegating its work to the kit. The sandbox
 * keeps the machine safe.
 */
#ifndef GRADER_SYMBOLS_H
#define GRADER_SYMBOLS_H

#include <jansson.h>

/**
 * Says what is wrong with an object.
 *
 * @param lab      labs/NN_topic/lab.json: holes, uses, instead, ranks, static_bytes; beside `uses`,
 *                 what free_symbols.h has
 * @param file     the source's name, for the message
 * @param symbols  what `nm -P` prints; is changed
 * @param sections what `objdump -hw` prints; is changed
 * @return a sentence for the student, to be freed; NULL if nothing is wrong
 */
char *symbols_refused(const json_t *lab, const char *file, char *symbols, char *sections);

/**
 * The options of objcopy that take out what symbols_refused() lets pass and nothing needs, or NULL:
 * a compiler that announces the loads and stores of a kernel adds code that runs before main().
 *
 * @param file the source's name
 */
const char *symbols_taken_out(const char *file);

#endif
