/**
 * @file noted.h
 * @brief The GPU's ops, each of which says what it costs: for a record of a simulated GPU.
 * @ingroup common
 *
 * A record (cudasim_record.h) knows launches and products, but no op. Through this table it learns,
 * at each call of an op, the op's name and its cost by kernels/cost.h.
 */
#ifndef COMMON_NOTED_H
#define COMMON_NOTED_H

#include "kernels/ops.h"

/**
 * The ops to give to a device.
 *
 * @param ops [3] by precision; it must live on
 * @return a table that calls those of `ops`; `ops` itself where nothing is recorded, and on a real
 *         GPU
 */
const Ops *ops_noted(const Ops ops[3]);

#endif
