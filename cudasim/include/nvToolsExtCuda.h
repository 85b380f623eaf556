/**
 * @file nvToolsExtCuda.h
 * @brief Stands in for NVIDIA's header: all of it is in nvtx3/nvToolsExt.h.
 * @ingroup cudasim
 */
#include "nvtx3/nvToolsExt.h"
