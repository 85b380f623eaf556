/**
 * @file cases.h
 * @brief What `bench-ops` times: each op at the shapes of a training step, with the bytes it must
 * move and the arithmetic it must do.
 * @ingroup common
 */
#ifndef COMMON_BENCH_CASES_H
#define COMMON_BENCH_CASES_H

#include "kernels/ops.h"

/** The shape of one training step. */
typedef struct Shape {
    int B;  /**< sequences */
    int T;  /**< tokens per sequence */
    int C;  /**< channels */
    int NH; /**< heads */
    int V;  /**< vocabulary */
} Shape;

/** What the numbers of a tensor are. */
typedef enum Content {
    NOTHING, /**< no tensor: the op gets NULL */
    REALS,   /**< the storage type, in [-1/2, 1/2) */
    FLOATS,  /**< floats in [0, 1), whatever the precision */
    IDS,     /**< int32_t in [0, V); the first V of them are distinct */
} Content;

/** One argument of an op. */
typedef struct Argument {
    Content content; /**< what it holds */
    size_t count;    /**< how many numbers */
} Argument;

/** What an op cannot be faster than. */
typedef enum Bound {
    COPY_RATE,   /**< a copy of the same bytes */
    MATMUL_RATE, /**< a large square product with as much arithmetic */
} Bound;

/** Arguments that an op has at most. */
enum { CASE_ARGUMENTS = 8 };

/** One op at one shape. */
typedef struct Case Case;

/** Where a case runs. */
typedef struct Place {
    const Ops *ops;      /**< of the device, in the precision that is timed */
    Workspace workspace; /**< for the shape */
    Shape shape;         /**< of the step */
} Place;

/** See #Case. */
struct Case {
    const char *op;                     /**< its name in Ops */
    const char *where;                  /**< where in the model, or how it is called; may be "" */
    Bound bound;                        /**< what it is held against */
    Argument arguments[CASE_ARGUMENTS]; /**< in the order of the op's parameters */
    double bytes;                       /**< that it must move, each tensor read or written once */
    double flops;  /**< of its formula; a root or an exponential counts as one */
    int C;         /**< matmul: input channels */
    int OC;        /**< matmul: output channels */
    float p;       /**< dropout and residual: probability of zero */
    bool is_float; /**< the same in every precision */
    /** Calls the op once, `t` being its tensors. */
    void (*run)(const Case *self, const Place *place, void **t);
};

/**
 * All ops, those of one kind together.
 *
 * @param      shape   of the step
 * @param      element bytes of a stored number
 * @param[out] count   how many
 * @return to be given to free()
 */
Case *cases_new(Shape shape, size_t element, int *count);

#endif
