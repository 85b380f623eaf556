/**
 * @file filled.cuh
 * @brief What programs of cudasim/tests share that test cuRAND: memory that a generator fills.
 * @ingroup cudasim
 */
#pragma once

#include <curand.h>
#include <stdlib.h>

#include "check.cuh"

#ifndef CURAND_H_
#error "by this name the helpers of NVIDIA's samples know that curandStatus_t is there"
#endif

/** Ends the program unless a call of cuRAND succeeds. */
#define DRAWN(call) MUST((call) == CURAND_STATUS_SUCCESS)

/** Memory of the device, or of the host. */
typedef struct Filled {
    bool on_host; /**< whose it is */
    void *memory; /**< where it begins */
} Filled;

/** Takes memory; give_back() frees it. */
static inline Filled take(bool on_host, size_t bytes) {
    Filled filled = {on_host, NULL};
    if (on_host) {
        filled.memory = malloc(bytes);
    } else {
        OK(cudaMalloc(&filled.memory, bytes));
    }
    return filled;
}

/** Frees what take() has given. */
static inline void give_back(Filled filled) {
    if (filled.on_host) {
        free(filled.memory);
    } else {
        OK(cudaFree(filled.memory));
    }
}

/** Copies what is there to memory of the host, when it is. */
static inline void read_back(Filled filled, void *to, size_t bytes) {
    OK(cudaMemcpy(to, filled.memory, bytes,
                  filled.on_host ? cudaMemcpyHostToHost : cudaMemcpyDeviceToHost));
}

/** A generator of the device or of the host; its numbers are in the order that stays. */
static inline curandGenerator_t make(curandRngType_t type, bool on_host, unsigned long long seed) {
    curandGenerator_t generator;
    DRAWN(on_host ? curandCreateGeneratorHost(&generator, type)
                  : curandCreateGenerator(&generator, type));
    DRAWN(curandSetGeneratorOrdering(generator, CURAND_ORDERING_PSEUDO_LEGACY));
    DRAWN(curandSetPseudoRandomGeneratorSeed(generator, seed));
    return generator;
}
