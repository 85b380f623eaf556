/**
 * @file compare.h
 * @brief Is this tensor right? Two rules and one table of tolerances.
 * @ingroup grader
 *
 *  - *Element rule*: every |got - want| <= relative * |want| + scaled * max |want|.
 *  - *Norm rule*: ||got - want|| <= norm * ||want||, over the whole tensor.
 *
 * The limit of an element depends on the size of the tensor's numbers and never on 1: with an
 * absolute tolerance a gradient of 1e-3 passes whatever it is. Both rules are written so that a NaN
 * fails them, and non-finite numbers are counted by their bits. compare_data() takes inf and NaN as
 * right answers where the reference has them.
 */
#ifndef COMMON_TESTKIT_COMPARE_H
#define COMMON_TESTKIT_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base.h"

/** How far apart is equal. */
typedef struct Tolerance {
    double relative; /**< of the element itself */
    double scaled;   /**< of the largest element of the tensor */
    double norm;     /**< of the tensor's norm */
} Tolerance;

/**
 * The tolerance of a single op, against the same op in double on the same (rounded) inputs.
 *
 * @param precision storage type of the op
 * @param terms     how many products are summed for one result; 1 for an element-wise op
 */
Tolerance tolerance_of_op(Precision precision, int terms);

/**
 * The tolerance of an op on inputs that magnify a rounding of float: a difference of large numbers,
 * the exp of one.
 *
 * @param tolerance of the op on other inputs
 * @param times     how many times larger a rounding comes out than it went in
 */
Tolerance tolerance_magnified(Tolerance tolerance, double times);

/** The tolerance of a whole model's gradients, against those of the reference. */
Tolerance tolerance_of_model(Precision precision);

/** Of the loss, relatively: a mean over many targets, so that most of their rounding cancels. */
double tolerance_of_loss(Precision precision);

/** Of a sum in double, relatively, against the same sum in another order. */
double tolerance_of_double(void);

/** The outcome of a comparison. */
typedef struct Comparison {
    bool pass;         /**< both rules hold, and every element is finite */
    size_t count;      /**< elements */
    size_t not_finite; /**< elements of `got` that are inf or NaN, and should not be */
    size_t lost;       /**< elements of `got` that should be inf or NaN, and are not */
    size_t worst;      /**< index of the element that used most of its limit */
    double got;        /**< at `worst` */
    double want;       /**< at `worst` */
    double limit;      /**< of |got - want| at `worst` */
    double share;      /**< of the limits, the largest of both rules; above 1 is a fail */
    double norm_error; /**< ||got - want|| / ||want|| */
    double cosine;     /**< of the angle between both; 1: the direction is right */
    double ratio;      /**< ||got|| / ||want||; not 1: the scale is wrong */
} Comparison;

/**
 * Compares a tensor with its reference.
 *
 * @param got       (n) floats
 * @param want      (n) doubles, all finite
 * @param n         elements
 * @param tolerance how far apart is equal
 */
Comparison compare(const float *got, const double *want, size_t n, Tolerance tolerance);

/**
 * The same for a reference in which inf and NaN are right answers: where one stands, `got` must
 * have either of them, and the element takes no other part.
 *
 * @param got       (n) floats
 * @param want      (n) doubles
 * @param n         elements
 * @param tolerance how far apart is equal
 */
Comparison compare_data(const float *got, const double *want, size_t n, Tolerance tolerance);

/** @return ||values||, the root of the sum of squares; 0 for n = 0 */
double norm_of(const double *values, size_t n);

/** Longest text of comparison_text(), shape_text() and comparison_border(). */
enum { COMPARISON_TEXT = 256 };

/**
 * One line: the worst element, its value and the right one, how many times its limit it is off; and
 * by which factor the tensor is off where only its size is wrong.
 *
 * @param      comparison the outcome
 * @param      name       of the tensor
 * @param[out] text       (COMPARISON_TEXT)
 * @return text
 */
const char *comparison_text(const Comparison *comparison, const char *name, char *text);

/** The looks of a difference, for mistakes that were not foreseen. */
typedef enum ShapeKind {
    SHAPE_NONE,       /**< like nothing */
    SHAPE_NOT_FINITE, /**< inf or NaN in it */
    SHAPE_LOST,       /**< finite numbers where inf or NaN should be */
    SHAPE_UNSET,      /**< a variable in it that was never set: unset.h */
    SHAPE_ZERO,       /**< all zero */
    SHAPE_SIGN,       /**< right but for the sign */
    SHAPE_FACTOR,     /**< a common factor */
} ShapeKind;

/** A shape, and the factor that goes with it. */
typedef struct DifferenceShape {
    ShapeKind kind; /**< what it looks like */
    double factor;  /**< of SHAPE_FACTOR: every element is the right one times this */
} DifferenceShape;

/**
 * The shape of a difference. Of a single number any other is some factor away: that says nothing
 * alone, and something beside others.
 *
 * @param got       (n) floats that compare() does not pass
 * @param want      (n) doubles
 * @param n         elements
 * @param tolerance of the comparison
 */
DifferenceShape comparison_kind(const float *got, const double *want, size_t n,
                                Tolerance tolerance);

/** A sentence about a shape; empty for SHAPE_NONE. @return text, (COMPARISON_TEXT) */
const char *shape_text(DifferenceShape shape, char *text);

/**
 * Whether elements are right up to some element and wrong from there on, or the other way round. To
 * be said only of a tensor whose elements a loop goes through one by one: of a list of numbers
 * that mean different things it says nothing.
 *
 * @param      got       (n) floats that compare() does not pass
 * @param      want      (n) doubles
 * @param      n         elements
 * @param      tolerance of the comparison
 * @param[out] text      (COMPARISON_TEXT) a sentence; empty where there is no such border
 * @return text
 */
const char *comparison_border(const float *got, const double *want, size_t n, Tolerance tolerance,
                              char *text);

#endif
