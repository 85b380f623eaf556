/**
 * @file twin.h
 * @brief A whole model with its optimizer, in host memory, of which ranks have pieces (pieces.h).
 * @ingroup common
 *
 * A save is one of a whole model, however many ranks have made it: so any number of ranks can go on
 * from it. To write one, the pieces come together in a twin on rank 0; to read one, each rank reads
 * all of it into a twin and takes its pieces.
 *
 *     Twin *twin = speaks ? twin_open(optimizer) : NULL;
 *     twin_gather(twin, optimizer, comm);              // each rank
 *     ... snapshot_save() with twin->model and twin->optimizer, on that rank ...
 *     twin_close(twin);
 */
#ifndef COMMON_TWIN_H
#define COMMON_TWIN_H

#include "common/comm.h"
#include "common/optimizer.h"

/** The whole. */
typedef struct Twin {
    Device *device;       /**< a CPU */
    Memory *memory;       /**< host memory, which no budget counts */
    Model *model;         /**< weights */
    Optimizer *optimizer; /**< states, in the order of those of the pieces */
} Twin;

/**
 * A twin whose weights and states are 0.
 *
 * @param pieces an optimizer of pieces: shape, rule and settings are taken from it
 * @return to be given to twin_close()
 */
Twin *twin_open(const Optimizer *pieces);

/** Frees all of it. NULL is fine. */
void twin_close(Twin *twin);

/**
 * Brings the pieces of all ranks together: weights, states, the count of steps. Each rank calls it.
 *
 * @param twin   filled; NULL on a rank that does not need it
 * @param pieces of this rank, of a rule whose states are for a number or a block of numbers each
 * @param comm   the ranks; rank r has what follows in each tensor after what rank r - 1 has
 */
void twin_gather(Twin *twin, const Optimizer *pieces, Comm *comm);

/**
 * The way back, for this rank: the pieces become those of the twin, and so do the weights of the
 * whole model that are here.
 *
 * @param twin   filled
 * @param whole  the model that the pieces are of
 * @param pieces whole->pieces is its model, or what that is offloaded to (offloaded.h)
 */
void twin_cut(const Twin *twin, Model *whole, Optimizer *pieces);

#endif
