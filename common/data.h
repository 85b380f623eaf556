/**
 * @file data.h
 * @brief A text file as batches of bytes and the bytes that follow them.
 * @ingroup common
 *
 * The text is cut into rows of at most T inputs; target i is the byte after input i. Each byte but
 * the first of its document is the target of exactly one row: nothing is repeated, nothing lost.
 *
 *  - *Rows*: the text is one document; its rows lie end to end, and only the last is short.
 *  - *Documents*: a document ends at an empty line, so rows are ragged; one that is longer than T
 *    takes several rows. Equal lengths would hide every mistake in how a loss is averaged.
 *
 * A row shorter than T is filled up with input 0 and target IGNORE_INDEX.
 */
#ifndef COMMON_DATA_H
#define COMMON_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A micro-batch: in host memory, or on the device already. */
typedef struct Batch {
    int B;                  /**< sequences */
    int T;                  /**< tokens per sequence */
    const int32_t *tokens;  /**< (B, T) inputs */
    const int32_t *targets; /**< (B, T) the token after each; IGNORE_INDEX takes no part */
    int valid;              /**< targets that take part */
    bool on_device;         /**< both are device memory, which a pass uses as it is */
} Batch;

/** How a text becomes batches. */
typedef struct DataOptions {
    const char *path;     /**< the text file */
    int B;                /**< sequences per batch; the last of an epoch may have fewer */
    int T;                /**< tokens per sequence */
    bool documents;       /**< ragged documents instead of rows end to end */
    double eval_fraction; /**< the last part of the rows, kept for validation; in [0, 1) */
    uint64_t seed;        /**< of the order of rows */
} DataOptions;

/** A place in the data: all that is needed to resume there. */
typedef struct DataPosition {
    uint64_t epoch; /**< complete passes so far; also the shuffle in use */
    uint64_t row;   /**< rows handed out in this pass */
} DataPosition;

/** Text and rows. */
typedef struct Data Data;

/** Who reads ahead of a training loop, and hands out what it has read (lab 08). */
typedef struct DataAhead {
    /** The next batch, as data_next() gives it. @return false after the last one of the epoch */
    bool (*next)(void *context, Batch *batch);
    /** The place changes: forgets what it has read and not handed out. */
    void (*stop)(void *context);
    void *context; /**< given to both */
} DataAhead;

/**
 * Reads a text.
 *
 * @return to be given to data_free(); NULL (and one line on stderr) where the file cannot be read,
 *         is not a regular file, is empty, or has too little text for one row of training and, with
 *         eval_fraction > 0, one of validation
 */
Data *data_new(DataOptions options);

/**
 * Data that are in memory already: micro-batches of any shape, which come in this order in every
 * epoch. There is no text, so there are no validation rows and no entropy.
 *
 * @param batches (count) the structures are copied; their tokens and targets are borrowed and must
 *                outlive the data
 * @param count   at least 1
 * @return to be given to data_free()
 */
Data *data_from_batches(const Batch *batches, int count);

/** NULL is fine. */
void data_free(Data *data);

/** Who reads which rows of an epoch, where several ranks share it: told by the program that knows
 * (lab 11). Rows are counted in the order of the epoch. */
typedef struct DataShare {
    int rank;  /**< this one */
    int ranks; /**< how many */
    /** This rank's rows where all begin at row `begin` of `rows`, with B for each: the first of
        them in *first. @return how many */
    size_t (*rows)(size_t begin, size_t rows, size_t B, int rank, int ranks, size_t *first);
    /** The row after `turns` micro-batches of every rank. */
    size_t (*end)(size_t begin, size_t rows, size_t B, int ranks, size_t turns);
    /** Micro-batches of each rank from row `begin` on. */
    size_t (*turns)(size_t begin, size_t rows, size_t B, int ranks);
} DataShare;

/**
 * Shares the text among ranks (common/comm.h): the position moves past the micro-batches of all of
 * them, so each rank is at the same place and has as many windows as the others; where the epoch
 * ends before its turn comes, its micro-batch is one sequence without a valid target. The windows
 * are those of one process that accumulates `ranks` times as many micro-batches.
 *
 * @param data  before its first batch; validation is not shared
 * @param share copied
 */
void data_share(Data *data, DataShare share);

/**
 * The next batch of the present epoch.
 *
 * @param      data  the data
 * @param[out] batch borrowed; valid until the next call
 * @return false at the end of the epoch, where `batch` is left alone
 */
bool data_next(Data *data, Batch *batch);

/**
 * Reads the next batch of the present epoch ahead of those that are handed out: the place that
 * data_position() gives stays where it is. After data_seek() and data_next_epoch() the next batch
 * is again the first that was not handed out.
 *
 * @param      data    the data
 * @param[out] tokens  (B, T) of the largest batch, host memory
 * @param[out] targets (B, T)
 * @param[out] batch   its shape; tokens and targets are those given
 * @return false at the end of the epoch, where nothing is written
 */
bool data_read(Data *data, int32_t *tokens, int32_t *targets, Batch *batch);

/**
 * From now on data_next() hands out what `ahead` gives, and data_seek() and data_next_epoch() stop
 * it first. Place, windows and batches left remain those of what was handed out.
 *
 * @param data  the data
 * @param ahead reads by data_read(); copied. NULL: nobody reads ahead any more
 */
void data_set_ahead(Data *data, const DataAhead *ahead);

/**
 * Valid targets of the next `batches` batches, before any of them is handed out: the divisor of
 * the losses of an accumulation window. Counts up to the end of the epoch; where the data are
 * shared, over all ranks.
 */
size_t data_window_tokens(const Data *data, int batches);

/** Sequences of the largest batch: B, or fewer where the text has fewer rows. */
int data_batch_rows(const Data *data);

/** Batches that data_next() will still hand out in this epoch, the same number on each rank. */
size_t data_batches_left(const Data *data);

/** Begins the next epoch, in a new order. */
void data_next_epoch(Data *data);

/** Where we are. */
DataPosition data_position(const Data *data);

/**
 * Goes to a place that data_position() gave for the same text and options.
 *
 * @return 0; -1 where no such place can be, and nothing changes
 */
int data_seek(Data *data, DataPosition position);

/**
 * Batch `index` of the validation rows, in the order of the text.
 *
 * @param      data  the data
 * @param      index from 0 on
 * @param[out] batch borrowed; valid until the next call
 * @return false after the last one
 */
bool data_eval(Data *data, size_t index, Batch *batch);

/** Targets of one epoch of training. */
size_t data_epoch_tokens(const Data *data);

/** Entropy of the text's bytes taken one by one, in nats: the loss of a model that only counts
 * bytes. */
double data_unigram_entropy(const Data *data);

/** Bytes of the text. */
size_t data_bytes(const Data *data);

/** A number made of the text and how it is cut: a saved position belongs to one such number. */
uint64_t data_fingerprint(const Data *data);

#endif
