/**
 * @file reduce.h
 * @brief Sums, minima and the like over the lanes of a group.
 * @ingroup cudasim
 */
#ifndef CUDASIM_COOPERATIVE_GROUPS_REDUCE_H
#define CUDASIM_COOPERATIVE_GROUPS_REDUCE_H

#include "../cooperative_groups.h"

/** @cond */
CUDASIM_SIDES_BEGIN
namespace cooperative_groups {

#define CUDASIM_OPERATION(name, expression)                                                        \
    template <class Type = void> struct name {                                                     \
        CUDASIM_METHOD Type operator()(Type a, Type b) const {                                     \
            return expression;                                                                     \
        }                                                                                          \
    };
CUDASIM_OPERATION(plus, a + b)
CUDASIM_OPERATION(less, b < a ? b : a)
CUDASIM_OPERATION(greater, a < b ? b : a)
CUDASIM_OPERATION(bit_and, a &b)
CUDASIM_OPERATION(bit_or, a | b)
CUDASIM_OPERATION(bit_xor, a ^ b)

/* Each thread joins the same values in the same order, or in that of a butterfly. */
template <class Group, class Type, class Function>
CUDASIM_DEVICE Type reduce(const Group &group, Type value, Function join, CUDASIM_CALLER) {
    unsigned lanes = (unsigned)__builtin_popcount(group.cudasim_mask());
    if ((lanes & (lanes - 1)) == 0) {
        for (unsigned bits = lanes / 2; bits > 0; bits /= 2) {
            value = join(value, group.shfl_xor(value, bits, file, line));
        }
        return value;
    }
    Type result = group.shfl(value, 0, file, line);
    for (unsigned rank = 1; rank < lanes; rank++) {
        result = join(result, group.shfl(value, rank, file, line));
    }
    return result;
}

#define CUDASIM_UPDATES "sums of a group into cuda::atomic; let one thread add what reduce() gives"
template <class Group, class... Values>
CUDASIM_NO(CUDASIM_UPDATES)
void reduce_update_async(const Group &, Values &&...);
template <class Group, class... Values>
CUDASIM_NO(CUDASIM_UPDATES)
void reduce_store_async(const Group &, Values &&...);

} // namespace cooperative_groups
CUDASIM_SIDES_END
/** @endcond */

#endif
