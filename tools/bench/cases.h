/**
 * @file cases.h
 * @brief Each op at the shapes of a training step, with what it costs: `bench-ops` times them, a
 * test counts their bytes.
 * @ingroup common
 */
#ifndef TOOLS_BENCH_CASES_H
#define TOOLS_BENCH_CASES_H

#include "kernels/cost.h"
#include "kernels/ops.h"

/** The shape of one training step. */
typedef struct OpShape {
    int B;  /**< sequences */
    int T;  /**< tokens per sequence */
    int C;  /**< channels */
    int NH; /**< heads */
    int V;  /**< vocabulary */
} OpShape;

/** How a tensor is filled. */
typedef enum Content {
    NOTHING, /**< no tensor: the op gets NULL */
    REALS,   /**< the storage type, in [-1/2, 1/2) */
    FLOATS,  /**< floats in [0, 1), whatever the precision */
    IDS,     /**< int32_t in [0, V); the first V of them are distinct */
    CODES,   /**< bytes: codes of moments */
    ENTRY,   /**< a TensorEntry of another argument, which `count` is the number of */
    MOMENT,  /**< a Moment8: its codes are argument `count`, its scales the next one */
} Content;

/** One argument of an op. */
typedef struct Argument {
    Content content; /**< what it holds */
    size_t count;    /**< how many numbers; of an ENTRY or a MOMENT, which argument */
} Argument;

/** Arguments that an op has at most. */
enum { CASE_ARGUMENTS = 10 };

/** One op at one shape. */
typedef struct Case Case;

/** Where a case runs. */
typedef struct CasePlace {
    const Ops *ops;      /**< of the device, in the precision that is timed */
    Workspace workspace; /**< for the shape */
    OpShape shape;       /**< of the step */
} CasePlace;

/** See #Case. */
struct Case {
    const char *op;                     /**< its name in Ops */
    const char *where;                  /**< where in the model, or how it is called; may be "" */
    Argument arguments[CASE_ARGUMENTS]; /**< in the order of the op's parameters */
    Cost cost;                          /**< of a call: by cost.h */
    int C;                              /**< matmul: input channels */
    int OC;                             /**< matmul: output channels */
    int stride;                         /**< matmul: numbers from one row of outputs to the next */
    float p;                            /**< dropout and residual: probability of zero */
    bool is_float;                      /**< the same in every precision */
    /** Calls the op once, `t` being its tensors. */
    void (*run)(const Case *self, const CasePlace *place, void **t);
};

/**
 * All ops, those of one kind together.
 *
 * @param      shape     of the step
 * @param      precision of stored numbers
 * @param[out] count     how many
 * @return to be given to free()
 */
Case *cases_new(OpShape shape, Precision precision, int *count);

#endif
