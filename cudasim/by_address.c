#include <stdint.h>

#include "cuda_runtime_api.h"

/* Functions of the runtime as a smart pointer calls them, by an address. A report then cannot name
   the line of the call. */

#undef cudaFree
#undef cudaFreeHost
#undef cudaDeviceSynchronize
#undef cudaDeviceReset
#undef cudaStreamDestroy
#undef cudaEventDestroy

#define NOWHERE "(called by its address)", 0

cudaError_t cudaFree(void *p) {
    return cudasim_free(NOWHERE, p);
}

cudaError_t cudaFreeHost(void *p) {
    return cudasim_free_host(NOWHERE, p);
}

cudaError_t cudaDeviceSynchronize(void) {
    return cudasim_device_synchronize(NOWHERE);
}

cudaError_t cudaDeviceReset(void) {
    return cudasim_device_reset(NOWHERE);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    return cudasim_stream_destroy(NOWHERE, stream);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    return cudasim_event_destroy(NOWHERE, event);
}

/* A handle is a number that no other stream has. */
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id) {
    *id = (unsigned long long)(uintptr_t)stream;
    return cudaSuccess;
}
