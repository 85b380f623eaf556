/**
 * @file host_defines.h
 * @brief Stands in for NVIDIA's header: all of it is in cuda_runtime.h.
 * @ingroup cudasim
 */
#ifndef CUDASIM_HOST_DEFINES_H
#define CUDASIM_HOST_DEFINES_H

#include "cuda_runtime.h"

#endif
