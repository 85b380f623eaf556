/**
 * @file scan.h
 * @brief Sums over the lanes of a group up to each lane.
 * @ingroup cudasim
 */
#ifndef CUDASIM_COOPERATIVE_GROUPS_SCAN_H
#define CUDASIM_COOPERATIVE_GROUPS_SCAN_H

#include "reduce.h"

/** @cond */
CUDASIM_SIDES_BEGIN
namespace cooperative_groups {

template <class Group, class Type, class Function = plus<Type>>
CUDASIM_DEVICE Type inclusive_scan(const Group &group, Type value, Function join = Function(),
                                   CUDASIM_CALLER) {
    Type result = value;
    for (unsigned distance = 1; distance < group.size(); distance *= 2) {
        Type before = group.shfl_up(result, distance, file, line);
        result = group.thread_rank() >= distance ? join(before, result) : result;
    }
    return result;
}

template <class Group, class Type, class Function = plus<Type>>
CUDASIM_DEVICE Type exclusive_scan(const Group &group, Type value, Function join = Function(),
                                   CUDASIM_CALLER) {
    Type before = group.shfl_up(inclusive_scan(group, value, join, file, line), 1, file, line);
    return group.thread_rank() == 0 ? Type() : before;
}

#define CUDASIM_SCAN_UPDATES "scans from cuda::atomic on; let one thread add what the scan gives"
template <class Group, class... Values>
CUDASIM_NO(CUDASIM_SCAN_UPDATES)
auto inclusive_scan_update(const Group &, Values &&...);
template <class Group, class... Values>
CUDASIM_NO(CUDASIM_SCAN_UPDATES)
auto exclusive_scan_update(const Group &, Values &&...);

} // namespace cooperative_groups
CUDASIM_SIDES_END
/** @endcond */

#endif
