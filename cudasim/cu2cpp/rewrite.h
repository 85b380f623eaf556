/**
 * @file rewrite.h
 * @brief The rewrites, each of the token at which it was noticed.
 * @ingroup cudasim
 */
#ifndef CUDASIM_CU2CPP_REWRITE_H
#define CUDASIM_CU2CPP_REWRITE_H

#include <stdbool.h>
#include <stddef.h>

/** The last token of the <<< or << < that begins at i; NONE if none does. */
size_t launch_opening(size_t i);

/**
 * At <<<: k<T><<<g, b>>>(args) becomes cudasim_launch_named(FILE, LINE, "k<T>", F, G, g, b)(args)
 * with lambdas F and G that name k<T>; or cudasim_launch(FILE, LINE, "k<T>", k<T>, g, b)(args).
 *
 * @param i     first token of <<<
 * @param open  last token of it
 * @param plain the second form: the name must stand for one function
 */
void rewrite_launch(size_t i, size_t open, bool plain);

/** At cudasim_launch_kernel(FILE, LINE, how, "k", (void *)k, ...): the cast goes. */
void rewrite_launch_call(size_t i);

/** At `__shared__`: the declaration becomes one of a reference or a pointer. */
void rewrite_shared(size_t i);

#endif
