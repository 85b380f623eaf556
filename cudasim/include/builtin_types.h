/**
 * @file builtin_types.h
 * @brief Stands in for NVIDIA's header: all of it is in cuda_runtime.h.
 * @ingroup cudasim
 */
#ifndef CUDASIM_BUILTIN_TYPES_H
#define CUDASIM_BUILTIN_TYPES_H

#include "cuda_runtime.h"

#endif
