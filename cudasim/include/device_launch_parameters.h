/**
 * @file device_launch_parameters.h
 * @brief Stands in for NVIDIA's header: all of it is in cuda_runtime.h.
 * @ingroup cudasim
 */
#ifndef CUDASIM_DEVICE_LAUNCH_PARAMETERS_H
#define CUDASIM_DEVICE_LAUNCH_PARAMETERS_H

#include "cuda_runtime.h"

#endif
