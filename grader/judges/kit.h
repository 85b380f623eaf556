/**
 * @file kit.h
 * @brief The kit's own device and model in a judge: for what is measured, not worked out.
 * @ingroup grader
 */
#ifndef GRADER_JUDGES_KIT_H
#define GRADER_JUDGES_KIT_H

#include <omp.h>

#include "common/model.h"

/* A CPU with room enough for one measurement. Its workspace is for that many threads; models this
   small need one. */
static inline Device *open_device(int threads) {
    omp_set_num_threads(threads);
    Device *device = device_cpu_new((size_t)1 << 30);
    CHECK(device != NULL, "no address range of 1 GiB");
    omp_set_num_threads(1);
    return device;
}

/* Bytes of workspace on the simulated GPU. Nothing runs there: its kernels are files of labs, and a
   judge has none of those. All other bytes of a step are as on the CPU (common/gpu_test.c). */
static inline size_t gpu_workspace(const ModelConfig *config) {
    Device *device = device_gpu_new();
    CHECK(device != NULL, "there is no GPU");
    size_t bytes = workspace_bytes(config, device);
    device_free(device);
    return bytes;
}

/* A model of its own on a device, in all the memory that it wants. */
static inline Model *open_model(Device *device, const ModelConfig *config, uint64_t seed) {
    CHECK(device != NULL, "there is no device");
    return model_new(config, memory_new(device, (MemoryOptions){0}), seed);
}

/* Frees the device as well. */
static inline void close_model(Model *model) {
    Memory *memory = model->memory;
    Device *device = model->device;
    model_free(model);
    memory_free(memory);
    device_free(device);
}

#endif
