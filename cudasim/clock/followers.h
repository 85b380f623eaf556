/**
 * @file followers.h
 * @brief The entries that come directly after each entry of a record.
 * @ingroup cudasim
 */
#ifndef CUDASIM_CLOCK_FOLLOWERS_H
#define CUDASIM_CLOCK_FOLLOWERS_H

#include "cudasim/include/cudasim_record.h"

/** Those of entry i are entry[first[i]] to entry[first[i + 1] - 1]. */
typedef struct Followers {
    int *entry; /**< indices in the record */
    int *first; /**< (entries + 1) see above */
} Followers;

/** Finds them. */
Followers followers_find(const CudasimRecord *record);

/** Frees them. */
void followers_free(Followers *followers);

/**
 * Of what comes directly before an entry, the first that is there: the record may be a part.
 *
 * @return its place in entry->after
 */
int followers_first_before(const CudasimRecord *record, const CudasimEntry *entry);

#endif
