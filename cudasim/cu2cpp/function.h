/**
 * @file function.h
 * @brief A function, as tokens: the words that say whose it is, its parameters, its body.
 * @ingroup cudasim
 */
#ifndef CUDASIM_CU2CPP_FUNCTION_H
#define CUDASIM_CU2CPP_FUNCTION_H

#include <stddef.h>

#define KERNEL_WORD "cudasim_global"        /**< cuda_runtime.h makes this of __global__ */
#define DEVICE_WORD "cudasim_device"        /**< of __device__ */
#define HOST_WORD "cudasim_host"            /**< of __host__ */
#define BOUNDS_WORD "cudasim_launch_bounds" /**< of __launch_bounds__ */

/** The parenthesis that opens the parameters of the function declared from i on; NONE if it is a
 *  variable. */
size_t parameters_of(size_t i);

/** The brace that opens the body of the function with these parameters; NONE if it is only
 *  declared. */
size_t body_of(size_t parameters);

#endif
