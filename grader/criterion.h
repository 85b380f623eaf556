/**
 * @file criterion.h
 * @brief Starts a judge: the checks of a lab as tests of Criterion, each in a worker of its own.
 * @ingroup grader
 *
 * The row that a check leaves is all that counts. What Criterion prints and how it ends is not
 * looked at: a check that crashed has left no row, which is a grader error. Its words on stderr are
 * kept, and tell why.
 */
#ifndef GRADER_CRITERION_H
#define GRADER_CRITERION_H

/** A judge to be run. */
typedef struct Judge {
    const char *program; /**< built of labs/NN_topic/tests.c */
    const char *folder;  /**< private: its seed, and where rows are left */
    const char *probe;   /**< the submission, linked */
    int seconds;         /**< that a check may take */
    int jobs;            /**< checks side by side */
} Judge;

/**
 * Runs checks (count). One at a time, what one does to the machine is over before the next; side by
 * side they share nothing but its cores: each has a process, a folder, a user of its own.
 *
 * At a terminal, where GRADE_AUTHOR_WAITS is set, a line of stderr says how many are over, and is
 * cleared at the end.
 */
void criterion_run(const Judge *judge, const char *const *checks, int count);

/**
 * Why a check has left no row, as far as the judge has said: the CHECK of its own that failed last.
 *
 * @return a sentence, to be freed
 */
char *criterion_fault(const Judge *judge);

/** Where a check leaves its row; in path[size]. @return path */
const char *criterion_row(const Judge *judge, const char *check, char *path, int size);

#endif
