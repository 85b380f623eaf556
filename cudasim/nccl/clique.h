/**
 * @file clique.h
 * @brief The inside of cudasim, ranks of one process: all ends of a communicator.
 * @ingroup cudasim
 */
#ifndef CUDASIM_CLIQUE_H
#define CUDASIM_CLIQUE_H

#include "communicator.h"

/** A rank of a clique. */
typedef struct Member {
    Communicator *comm; /**< NULL: it has not come, or has left */
    const char *maker;  /**< "ncclCommInitRank"; NULL: it has not come */
    Place made;         /**< by which call */
    Place left;         /**< by which call it has ended its communicator; or no file */
    QueuedCall *first;  /**< of its calls that are not done, in the order in which they were made */
    CollectiveCall last; /**< the last that it has made; `ranks` is 0 if there was none */
    uint64_t brought;    /**< calls of bring() */
    uint64_t fetched;    /**< calls of fetch() */
} Member;

struct Round;

/** All ranks of a communicator; what `link` of each points at. */
typedef struct Clique {
    ncclUniqueId id;      /**< by which they have found each other */
    uint64_t number;      /**< 1, 2, ... */
    int ranks;            /**< how many there are */
    int arrived;          /**< of them */
    Member *members;      /**< (ranks) */
    struct Round *rounds; /**< of bring() and fetch() that are not over */
    struct Clique *next;  /**< of all that were ever made: no id may be used twice */
} Clique;

/** See Transport.make_id. */
void clique_make_id(ncclUniqueId *id);

/** See Transport.arrive. */
bool clique_arrive(Communicator *comm, const ncclUniqueId *id, const Communicator *parent,
                   const int *members);

/** See Transport.join. */
void clique_join(Communicator *comm, const char *call, Place place);

/** See Transport.bring. */
void clique_bring(Communicator *comm, const void *mine, size_t bytes);

/** See Transport.fetch. */
void clique_fetch(Communicator *comm, void *all, const char *call, Place place);

#endif
