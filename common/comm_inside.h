/**
 * @file comm_inside.h
 * @brief The inside of comm.h: what its source files share.
 * @ingroup common
 */
#ifndef COMMON_COMM_INSIDE_H
#define COMMON_COMM_INSIDE_H

#include "common/comm.h"

/** Seconds that a rank waits for the others, unless comm_set_timeout() is called: that of
 * `--ddp_timeout` in Hugging Face's TrainingArguments. */
enum { COMM_TIMEOUT = 1800 };

/** Splits of a run: one for each axis of a grid of ranks, and one to spare. */
enum { COMM_PARTS = 4 };

/** See #Comm. */
struct Comm {
    int rank;                          /**< comm_rank() */
    int size;                          /**< comm_size() */
    int local_rank;                    /**< among those of this host */
    int timeout;                       /**< comm_set_timeout() */
    bool any_order;                    /**< comm_set_order(), and not that of ranks */
    Device *device;                    /**< comm_connect() */
    struct ncclComm *nccl;             /**< NULL before comm_connect() */
    struct ncclComm *part[COMM_PARTS]; /**< comm_split() */
    int parts;                         /**< how many */
    void *stream;                      /**< comm_use_stream() */
    double gathered; /**< bytes sent by comm_gather(), where that is a call of NCCL */
    int groups;      /**< that have begun */
    void *world;     /**< of comm_mpi.c or comm_local.c */
};

/** Finds out which ranks there are: fills in `rank`, `size`, `local_rank`, `world`. */
void world_begin(Comm *comm);

/** The end of that; waits for the other ranks. */
void world_end(Comm *comm);

#endif
