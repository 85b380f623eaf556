#include "grader/probe_launches.h"

void launch_run(const Wire *in, void (*run)(const LaunchCall *call)) {
    Device *device = device_gpu_new(ops_gpu); /* without the ops of the CPU */
    CHECK(device != NULL, "there is no GPU");
    Memory *memory = memory_new(device, (MemoryOptions){0});
    MemoryMark mark = memory_mark(memory);
    run(&(LaunchCall){in, device, memory});
    memory_release(memory, mark);
    device_synchronize(device);
    memory_free(memory);
    device_free(device);
}

void *launch_address(const LaunchCall *call) {
    return memory_alloc(call->memory, MEMORY_ACTIVATIONS, "probe", -1, 64);
}

TensorList launch_list(const LaunchCall *call, size_t n) {
    return (TensorList){launch_address(call), 1, n, tensor_indices(n)};
}

Workspace launch_workspace(const LaunchCall *call, size_t bytes) {
    return (Workspace){.data = launch_address(call),
                       .bytes = bytes,
                       .threads = call->device->threads,
                       .blas = call->device->blas};
}
