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
 * At <<<: k<T><<<g, b>>>(args) becomes cudasim_launch_named(AT, "k<T>", F, G, H, g, b)(args) with
 * lambdas F, G, H that name k<T>; or cudasim_launch(AT, "k<T>", k<T>, g, b)(args). AT is the file
 * and the line.
 *
 * @param i     first token of <<<
 * @param open  last token of it
 * @param plain the second form: the name must stand for one function
 */
void rewrite_launch(size_t i, size_t open, bool plain);

/** At cudasim_launch_kernel(FILE, LINE, how, "k", (void *)k, ...): the cast goes. */
void rewrite_launch_call(size_t i);

/** At asm: its instructions become C++, those that are known; the others are errors. */
void rewrite_asm(size_t i);

/**
 * At `__shared__`: the declaration becomes one of a reference or a pointer. Outside of functions,
 * each function that uses the name gets one; where `plain`, that is an error.
 */
void rewrite_shared(size_t i, bool plain);

/**
 * At `__global__`, `__device__` or `__host__`: notes whose function follows; or false. A kernel
 * begins with a record that it has no `__launch_bounds__`, unless `plain`. A variable is left to
 * record_variable(), unless `plain`: then ranks have copies of all static data.
 */
bool rewrite_side(size_t i, bool plain);

/**
 * At `__launch_bounds__(n)`: the kernel's body begins with a record of n, unless `plain`, and with
 * a look at its block. Else false.
 */
bool rewrite_launch_bounds(size_t i, bool plain);

/** The names of the functions that are `__host__` and `__device__`; they stand after all else. */
const char *records_of_both(void);

/** At `__device__` or `__constant__` of a variable: a record of it follows. */
void record_variable(size_t i);

/** Of the whole file, outside of functions: a record follows each variable that is the host's. */
void record_host_variables(void);

/** Whether token i is in a function that only the device has. */
bool in_device_code(size_t i);

/**
 * At a brace: whether a plain function of the host begins here, of a class too, but no template.
 * The compiler then joins no calls into it.
 */
bool mark_host(size_t i);

/** At a call of the runtime in such a function: it is an error. */
void refuse_host_call(size_t i);

/** At a call that may fail silently, and whose status is thrown away: a failure will be noted. */
void note_ignored(size_t i);

/** Of the whole file: a call from the side that must not is an error, and a launch of no kernel. */
void check_calls(void);

/** At (void *)k with a kernel k: it becomes cudasim_kernel_address("k", k). */
void rewrite_cast(size_t i);

#endif
