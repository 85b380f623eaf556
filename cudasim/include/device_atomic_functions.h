/**
 * @file device_atomic_functions.h
 * @brief Stands in for NVIDIA's header: all of it is in cuda_runtime.h.
 * @ingroup cudasim
 */
#ifndef CUDASIM_DEVICE_ATOMIC_FUNCTIONS_H
#define CUDASIM_DEVICE_ATOMIC_FUNCTIONS_H

#include "cuda_runtime.h"

#endif
