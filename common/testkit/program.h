/**
 * @file program.h
 * @brief `train` as a program, for tests: start it, read what it says.
 * @ingroup grader
 */
#ifndef COMMON_TESTKIT_PROGRAM_H
#define COMMON_TESTKIT_PROGRAM_H

/** Options of a model that trains in no time. */
#define TINY " --n_layer 2 --n_head 2 --n_embd 16 --n_positions 16 --per_device_train_batch_size 2 "
/** Options that make a mistake show: masks, and rows that end early. */
#define DROPOUT " --dropout 0.1 --documents "

/** The output of the last command, stdout and stderr. */
extern char output[1 << 16];

/** The program: $TRAIN, or else build/bin/train. */
const char *train_program(void);

/** Writes `text.txt` into the test's folder: lines with empty ones between. @return its path */
const char *text_file(void);

/** Runs a shell command, for at most 1,200 s of the CPU's time; keeps what it prints.
 * @return its exit status, or -signal */
int shell(const char *command);

/**
 * Runs train on text.txt, with two threads unless $THREADS says otherwise.
 *
 * @param arguments more options; they may use $S for the test's folder
 * @return as shell()
 */
int train(const char *arguments);

/** The last line of the output. */
const char *last_line(void);

/** Fails the test unless two files or folders of the test's folder are the same, bit for bit. */
void expect_same_files(const char *a, const char *b);

/**
 * Trains into $S/whole, and from each of some checkpoints again into $S/again. Fails the test
 * unless all come to the same checkpoint, bit for bit.
 *
 * @param options of all runs; text.txt is their data
 * @param again   more options of the runs that go on
 * @param steps   of a whole run
 * @param stops   the steps to go on from; 0 ends them
 */
void expect_resumed_is_whole(const char *options, const char *again, int steps, const int *stops);

/** Trains two steps into $S/counted; fails the test unless the peak has the predicted bytes of each
 * kind. @param options as above */
void expect_predicted_bytes(const char *options);

#endif
