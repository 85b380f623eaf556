/**
 * @file own_data.h
 * @brief Static data of labs' files, of which each rank of this process has its own, as if it were
 * a process.
 * @ingroup common
 *
 * A program is linked with own_data_first.o before the objects of the labs and own_data_last.o
 * after them: what lies between is theirs. Where these two are not linked, there is none.
 */
#ifndef COMMON_OWN_DATA_H
#define COMMON_OWN_DATA_H

#include <stdbool.h>
#include <stddef.h>

/** A piece of it: what begins with a value, or what begins as zero. */
typedef struct OwnData {
    char *begin;  /**< first byte; NULL where there is none */
    size_t bytes; /**< length */
} OwnData;

enum { OWN_DATA_PIECES = 2 };

/** Bytes that ranks can have. AddressSanitizer's description of each variable and each string lies
    among the variables: that is most of them. */
#ifdef __SANITIZE_ADDRESS__
enum { OWN_DATA_MOST = 1 << 20 };
#else
enum { OWN_DATA_MOST = 32 << 10 };
#endif

/** The pieces of this program; with 0 bytes where there are none. */
void own_data(OwnData piece[OWN_DATA_PIECES]);

/**
 * Gives each rank a copy (cudasim_rank_data()); before ranks run. Nothing where ranks are
 * processes.
 *
 * @return false, and the ranks share it: it is more than OWN_DATA_MOST bytes
 */
bool own_data_for_ranks(void);

#endif
