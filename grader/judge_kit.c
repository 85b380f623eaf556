/* The kit's own device and model inside a judge. The contract is in judge_kit.h. */
#include "grader/judge_kit.h"

#include <omp.h>

Device *judge_device(int threads) {
    omp_set_num_threads(threads);
    Device *device = device_cpu_new((size_t)1 << 30);
    CHECK(device != NULL, "no address range of 1 GiB");
    omp_set_num_threads(1);
    return device;
}

size_t judge_gpu_workspace(const ModelConfig *config) {
    Device *device = device_gpu_new(NULL);
    CHECK(device != NULL, "there is no GPU");
    size_t bytes = workspace_bytes(config, device);
    device_free(device);
    return bytes;
}

Model *judge_model_open(Device *device, const ModelConfig *config, uint64_t seed) {
    CHECK(device != NULL, "there is no device");
    return model_new(config, memory_new(device, (MemoryOptions){0}), seed);
}

Model *judge_model_count(Device *device, const ModelConfig *config) {
    CHECK(device != NULL, "there is no device");
    return model_new_zero(config, memory_new(device, (MemoryOptions){0}));
}

void judge_model_close(Model *model) {
    Memory *memory = model->memory;
    Device *device = model->device;
    model_free(model);
    memory_free(memory);
    device_free(device);
}
