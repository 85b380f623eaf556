/**
 * @file rewrite.h
 * @brief The rewrites, each of the token at which it was noticed.
 * @ingroup cudasim
 */
#ifndef CUDASIM_CU2CPP_REWRITE_H
#define CUDASIM_CU2CPP_REWRITE_H

#include <stddef.h>

/** At <<<: k<T><<<g, b>>>(args) becomes cudasim_launch(FILE, LINE, "k<T>", k<T>, g, b)(args). */
void rewrite_launch(size_t i);

/** At cudasim_launch_kernel(FILE, LINE, how, "k", (void *)k, ...): the cast goes. */
void rewrite_launch_call(size_t i);

/** At `__shared__`: the declaration becomes one of a reference or a pointer. */
void rewrite_shared(size_t i);

#endif
