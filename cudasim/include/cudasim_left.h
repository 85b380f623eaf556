/**
 * @file cudasim_left.h
 * @brief How much a program has made and not given back.
 * @ingroup cudasim
 */
#ifndef CUDASIM_LEFT_H
#define CUDASIM_LEFT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The objects of a program that exist. */
typedef struct CudasimLeft {
    int handles;   /**< streams, events, graphs, communicators, those of cuBLAS */
    size_t pinned; /**< bytes of pinned host memory */
} CudasimLeft;

/** Those of now: asked before a function and after it, they tell of what it has kept. */
CudasimLeft cudasim_left(void);

#ifdef __cplusplus
}
#endif

#endif
