/**
 * @file sm_61_intrinsics.h
 * @brief Stands in for NVIDIA's header: all of it is in cuda_runtime.h.
 * @ingroup cudasim
 */
#ifndef CUDASIM_SM_61_INTRINSICS_H
#define CUDASIM_SM_61_INTRINSICS_H

#include "cuda_runtime.h"

#endif
