/**
 * @file cudasim_sides.h
 * @brief Whom functions belong to, where a compiler asks: `make lint`.
 * @ingroup cudasim
 *
 * A simulated kernel may call any function. To clang's CUDA front end one that is not marked is the
 * host's; those between CUDASIM_SIDES_BEGIN and CUDASIM_SIDES_END are the device's too.
 */
#ifndef CUDASIM_SIDES_H
#define CUDASIM_SIDES_H

#ifdef CUDASIM_LINT
/** Functions of both sides follow. */
#define CUDASIM_SIDES_BEGIN _Pragma("clang force_cuda_host_device begin")
/** They end. */
#define CUDASIM_SIDES_END _Pragma("clang force_cuda_host_device end")
#else
#define CUDASIM_SIDES_BEGIN /**< Nothing: each function is for all. */
#define CUDASIM_SIDES_END   /**< Nothing. */
#endif

#endif
