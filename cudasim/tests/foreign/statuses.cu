/* Calls that fail, and a program that looks at the status, at once or later, or says that it need
   not. */
#include <cuda_runtime.h>

#include <thread>

#include "check.cuh"

#define SUCCEEDS(call) ({ call; })

static bool good(cudaError_t status) {
    return status == cudaSuccess;
}

template <class Event> static cudaError_t wait_for(Event event) {
    return cudaEventSynchronize(event);
}

static const char *looks(cudaEvent_t none) {
    if (cudaEventRecord(none) == cudaSuccess) {
        return "a condition";
    }
    cudaError_t status = cudaStreamWaitEvent(0, none, 0);
    MUST(status == cudaErrorInvalidResourceHandle && !good(cudaEventSynchronize(none)));
    MUST(!good(SUCCEEDS(cudaEventRecord(none))) && !good(wait_for(none)));
    bool failed = true;
    for (int tries = 0; failed && tries < 2; tries++)
        failed = cudaEventRecord(none) != cudaSuccess;
    return failed && cudaEventRecord(none) ? NULL : "a choice";
}

/* Memory that is not there is NULL. */
static void looks_at_pointer(void) {
    float *x = (float *)1;
    cudaMalloc(&x, (size_t)1 << 50);
    MUST(x == NULL);
}

static void looks_later(cudaEvent_t none) {
    cudaEventRecord(none);
    if (none == NULL)
        cudaStreamWaitEvent(0, none, 0);
    MUST(cudaGetLastError() == cudaErrorInvalidResourceHandle);
    cudaEventSynchronize(none);
    MUST(cudaPeekAtLastError() == cudaErrorInvalidResourceHandle);
}

/* Nobody needs to know. */
static void need_not(void *p) {
    (void)cudaHostRegister(p, 0, cudaHostRegisterDefault);
    cudaStreamDestroy(0);
    cudaEventDestroy(NULL);
    cudaFree(NULL);
}

int main() {
    int local = 0;
    const char *wrong = looks(NULL);
    MUST(wrong == NULL);
    looks_later(NULL);
    looks_at_pointer();
    need_not(&local);
    std::thread([] { (void)cudaEventRecord(NULL); }).join();
    puts("statuses: good");
    return 0;
}
