/**
 * @file cuda_device_runtime_api.h
 * @brief Stands in for NVIDIA's header, which editors add by themselves: see cuda_runtime.h.
 * @ingroup cudasim
 */
#ifndef CUDASIM_CUDA_DEVICE_RUNTIME_API_H
#define CUDASIM_CUDA_DEVICE_RUNTIME_API_H

#include "cuda_runtime.h"

#endif
