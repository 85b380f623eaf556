/**
 * @file cublas_api.h
 * @brief Stands in for NVIDIA's header: all of it is in cublas_v2.h.
 * @ingroup cudasim
 */
#ifndef CUDASIM_CUBLAS_API_H
#define CUDASIM_CUBLAS_API_H

#include "cublas_v2.h"

#endif
