/**
 * @file link.h
 * @brief The inside of cudasim over MPI: a communicator whose ranks are processes.
 * @ingroup cudasim
 *
 *     transport_mpi.c  who the ranks are, and whose turn it is
 *     move.c           the data of a collective
 *     message.c        the data of sends and receives
 *     wait.c           waiting for other processes, and when that has lasted too long
 *
 * NCCL asks each rank to make its calls in the same order as the others, over all of its
 * communicators. Here that order is kept literally: a process does them one launch after the other,
 * in the order in which they were made, and does those that are queued before it waits for a
 * communicator to be made or split.
 */
#ifndef CUDASIM_MPI_LINK_H
#define CUDASIM_MPI_LINK_H

#include <mpi.h>

#include "../nccl/transport.h"

/** The processes of a communicator: Communicator.link. */
typedef struct Link {
    uint64_t number; /**< of the communicator */
    int *processes;  /**< (ranks) of each rank its process in MPI_COMM_WORLD; -1: not known yet */
    bool known;      /**< all of them are: a part of a communicator that was split */
    MPI_Comm host;   /**< what the host waits for: splits */
    MPI_Comm device; /**< what queues have come to */
    struct Exchange *brought; /**< what was brought and is not fetched yet, the oldest first */
    struct Link *next;        /**< of this process */
} Link;

/** Bytes of each rank on their way to all. */
typedef struct Exchange {
    MPI_Request request;   /**< MPI's */
    size_t bytes;          /**< of each rank */
    struct Exchange *next; /**< brought later */
    char data[];           /**< (1 + ranks, bytes) those of this rank, then of all */
} Exchange;

/** A call as other processes see it: its addresses mean nothing there. */
typedef struct Card {
    CollectiveCall call; /**< place.file is card_open()'s */
    char file[128];      /**< the end of the file's name */
} Card;

/** The card of a call. */
Card card_of(const CollectiveCall *call);

/** Makes a card that has arrived a call again: it borrows the card's text. */
void card_open(Card *card);

/** MPI's type for elements of this many bytes: they are moved as they are. */
MPI_Datatype link_element(size_t bytes);

/**
 * Compares calls that belong together; if they do not match, reports that and ends the program.
 *
 * @param calls  (count) as for collective_check()
 * @param count  how many
 * @param speaks whether this process reports; the others know the same, and leave it to one
 */
void link_compare(const CollectiveCall *const calls[], int count, bool speaks);

/**
 * Does a call, if it is a collective: all ranks compare their calls, then move the data. A mismatch
 * is reported and ends the program.
 */
void link_collective(const QueuedCall *queued);

/** Does the sends and receives among the calls of a launch, [0, count), side by side. */
void link_messages(QueuedCall *const calls[], int count);

/* ---- wait.c ---------------------------------------------------------------------------------- */

/** A wait for other processes. */
typedef struct Patience {
    double began; /**< on MPI's clock */
    int asked;    /**< how often */
} Patience;

/**
 * Gives way to others for a moment.
 *
 * @param patience {0} before it is asked for the first time
 * @return whether to ask again; false after CUDASIM_MPI_TIMEOUT seconds
 */
bool patience_lasts(Patience *patience);

/**
 * Reports a wait that has lasted too long, and ends the program: mpirun then ends all others, a
 * moment later, so that they have said for whom they wait.
 *
 * @param rank  who waits
 * @param what  in which call: a line of collective_describe(), or the like
 * @param whom  "rank 1, rank 3"
 */
_Noreturn void patience_ends(int rank, const char *what, const char *whom);

/**
 * Waits until all requests are done.
 *
 * @param requests (count) MPI's
 * @param peers    (count) the rank that each of them waits for; NULL: all
 * @param count    how many
 * @param rank     who waits
 * @param what     in which call
 */
void link_wait(MPI_Request *requests, const int *peers, int count, int rank, const char *what);

#endif
