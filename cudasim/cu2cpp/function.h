/**
 * @file function.h
 * @brief A function, as tokens: the words that say whose it is, its parameters, its body.
 * @ingroup cudasim
 */
#ifndef CUDASIM_CU2CPP_FUNCTION_H
#define CUDASIM_CU2CPP_FUNCTION_H

#include <stddef.h>

/* cuda_runtime.h makes these of __global__, __device__, __host__ and __launch_bounds__. */
#define KERNEL_WORD "cudasim_global"
#define DEVICE_WORD "cudasim_device"
#define HOST_WORD "cudasim_host"
#define BOUNDS_WORD "cudasim_launch_bounds"

/** The parenthesis that opens the parameters of the function declared from i on; NONE if it is a
 *  variable. */
size_t parameters_of(size_t i);

/** The brace that opens the body of the function with these parameters; NONE if it is only
 *  declared. */
size_t body_of(size_t parameters);

#endif
