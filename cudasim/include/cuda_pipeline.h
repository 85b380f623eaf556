/**
 * @file cuda_pipeline.h
 * @brief By this name programs ask for cuda_pipeline_primitives.h.
 * @ingroup cudasim
 */
#ifndef CUDASIM_CUDA_PIPELINE_H
#define CUDASIM_CUDA_PIPELINE_H

#include "cuda_pipeline_primitives.h"

#endif
