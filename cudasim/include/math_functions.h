/**
 * @file math_functions.h
 * @brief Stands in for NVIDIA's header: all of it is in cuda_runtime.h.
 * @ingroup cudasim
 */
#ifndef CUDASIM_MATH_FUNCTIONS_H
#define CUDASIM_MATH_FUNCTIONS_H

#include "cuda_runtime.h"

#endif
