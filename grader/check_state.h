/**
 * @file check_state.h
 * @brief The inside of a check: what grader/check.c, check_compare.c and check_run.c share.
 * @ingroup grader
 */
#ifndef GRADER_CHECK_STATE_H
#define GRADER_CHECK_STATE_H

#include <jansson.h>

#include "grader/check.h"
#include "grader/record.h"
#include "grader/suspicion.h"

enum {
    CHECK_TEXT = 2000,   /**< bytes of a message, with its NUL */
    CHECK_AFTER = 200,   /**< bytes of the names of checks */
    CHECK_SETTINGS = 10, /**< most settings of the probe's environment */
};

/** A program of the kit's that runs beside a probe. */
typedef struct CheckBeside {
    const char *name;   /**< of its folder in the lab's, and of the probe's file */
    char program[4096]; /**< its path */
    char starter[4096]; /**< of grader/beside.c, by which a debugger's run has it */
} CheckBeside;

/** A check from check_begin() to check_end(), which frees it and all that it owns. */
struct Check {
    const CheckPlan *plan;     /**< borrowed */
    const CheckBeside *beside; /**< the program that runs beside the probe, or NULL */
    int runs;                  /**< of the probe so far */
    int beside_end;            /**< the probe's end of the socket to it */
    Wire *in;                  /**< what the probe is given */
    Wire *out;                 /**< what it hands back */
    Rng rng;                   /**< of the inputs */
    RowState state;            /**< ROW_PASS until something is known */
    int compared;              /**< comparisons that were right */
    double nearest;            /**< the largest share of a limit that one of them took */
    char message[CHECK_TEXT];  /**< what was seen */
    char mistake[CHECK_TEXT];  /**< the likely mistake */
    Suspicion *suspicion;      /**< which known mistakes explain what was compared */
    bool own_right;            /**< the check's own comparison that was made last */
    int failed_after;          /**< comparisons before check_fail() gave the mistake */
    char as_given[WIRE_NAME];  /**< tensor that came back as it was given, or "" */
    char shaped[WIRE_NAME];    /**< the first tensor that is wrong; "" while there is none */
    DifferenceShape shape;     /**< what all that are wrong look like */
    int shapes;                /**< how many these are */
    char after[CHECK_AFTER];   /**< checks on which it stands, with blanks between */
    char *text;                /**< what the probe wrote; NULL before it has run */
    char *events;              /**< what it has told; NULL before it has run */
    size_t memory_limit;       /**< bytes of the probe's address space; 0: none */
    char setting[CHECK_SETTINGS][100]; /**< of the probe's environment: "NAME=value" */
    int settings;                      /**< how many */
    double seconds;                    /**< wall time of all runs of the probe */
    double cpu_seconds;                /**< processor time of the same */
    size_t peak_bytes;                 /**< of the largest of them */
    int level;                         /**< of the sandbox of the last */
    bool hurried;                      /**< the last had less time than it is given */
    json_t *pictures;                  /**< of memory */
    void **memory;                     /**< (memory_count) inputs and right values */
    int memory_count;                  /**< how many */
};

/**
 * Notes how a check has ended, unless it is known already: what came first counts.
 *
 * @param check  the check
 * @param state  how it has ended
 * @param format printf format of what was seen, then its values
 * @return false, so that a caller can hand it on
 */
bool check_conclude(Check *check, RowState state, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** The folder of the judge that its caller names: the seed is in it, and rows are left there. */
const char *check_folder(void);

/**
 * The program of a case: "formulas/bytes" is the case "bytes" of the program that lies beside
 * `probe` as "..._formulas".
 *
 * @param      probe      path of the probe
 * @param      probe_case with or without the name of a program
 * @param[out] program    its path, in program[size]
 * @param      size       bytes
 * @return the case, a part of probe_case
 */
const char *check_program_of(const char *probe, const char *probe_case, char *program, int size);

/** Whether this run is the one that a debugger wants: GRADE_RUN, the first where it is not set. */
bool check_is_for_debugger(const Check *check);

/**
 * Leaves everything that a run of the probe needs in a folder, for gdb, and runs nothing.
 *
 * @return false: the check is concluded
 */
bool check_leave_for_debugger(Check *check, const char *path, const char *probe_case);

/**
 * Settles what the mistake is, from all comparisons, if nothing was said before.
 *
 * @param check the check
 * @return array of the sentences of all mistakes that explain everything
 */
json_t *check_settle(Check *check);

#endif
