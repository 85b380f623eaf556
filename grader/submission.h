/**
 * @file submission.h
 * @brief From the files of a hand-in to a probe: copied, compiled in the sandbox, looked at,
 * linked.
 * @ingroup grader
 *
 * Only the files that the lab lists are taken, and only if they are regular and small. One that is
 * given and has no task may be missing: then it is the kit's. They are
 * compiled with the grader's flags, each in the sandbox. The objects may define exactly what the
 * lab asks for and use only what it allows, so nothing of the kit can be replaced. What was
 * compiled before, from the same bytes with the same flags, is taken from a cache of objects;
 * results are never cached.
 */
#ifndef GRADER_SUBMISSION_H
#define GRADER_SUBMISSION_H

#include <jansson.h>
#include <stdbool.h>

/** Bytes of a path with its NUL. */
enum { SUBMISSION_PATH = 4096 };

/** How a lab is built. */
typedef struct Submission {
    const json_t *lab;     /**< labs/NN_topic/lab.json: holes, uses, static_bytes ... */
    const json_t *recipes; /**< written by grader/recipe.py */
    const char *from;      /**< folder with the lab's files */
    const char *folder;    /**< private folder of this run */
    const char *cache;     /**< folder for objects that may serve again */
    double until; /**< on the clock of now(): when all files must be built. A compiler has its own
                       limit as well, but a lab compiles a file several times */
    bool symbols_seen; /**< the same files have been built before, and their symbols looked at:
                                nvcc's objects have others */
    const char
        *part; /**< a file or a function of the lab that is taken from `solutions` in place of
                                the hand-in's, or NULL. Only to tell which one is to blame */
    const char *solutions; /**< folder with the lab's files as the kit has them, or NULL */
    const char *given;     /**< folder with those that are given, for a hand-in that lacks them, or
                            NULL */
} Submission;

/** The outcome. */
typedef struct Built {
    bool good;                   /**< each program of the lab is there */
    char probe[SUBMISSION_PATH]; /**< path of the first; the lab's other programs lie beside it,
                                      and what runs without the hand-in: "..._kit" */
    char *message;      /**< if not good: compiler messages or what is not allowed; to be freed */
    const char *absent; /**< a file that was not handed in, whose own probe is not there; or NULL */
    json_t *objects;    /**< {file: {"source": sha256, "object": sha256}}; to be released */
} Built;

/**
 * Builds each program of the recipes' "link": "probe_NAME" of the holes whose "probe" in lab.json
 * is NAME, the others of all other holes. Where a file with a probe of its own is missing, that
 * probe alone is; one that is given comes from `given`; any other missing file is an error.
 */
Built submission_build(const Submission *submission);

#endif
