/* The GPU as a device, real or simulated: the same calls of the CUDA runtime. The contract is in
   device.h. Everything goes into the default stream, so copies, fills and ops happen in the order
   they were asked for. */
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/device.h"
#include "common/noted.h"
#include "common/params.h"

/* Copies go through a pinned buffer of this size, in pieces where it is too small: only from pinned
   memory can the GPU fetch by itself, while the host goes on. */
enum { STAGING_BYTES = 4 << 20 };
/* cuBLAS splits a product by the workspace it has: with one of fixed size its sums have a fixed
   order. The size is what NVIDIA advises for Hopper; the simulator's cuBLAS needs none. */
#ifdef CUDASIM
enum { BLAS_BYTES = 4096 };
#else
enum { BLAS_BYTES = 32 << 20 };
#endif

typedef struct Gpu {
    cublasHandle_t blas;
    void *blas_workspace;
    char *staging;       /* pinned */
    cudaEvent_t fetched; /* the last upload has left the staging buffer */
    int device;          /* as CUDA counts them */
    cudaMemPool_t pool;
    char note[400];
} Gpu;

/* From a GPU that worked a moment ago: a kernel's mistake, or a broken device. */
#define EXPECT(call)                                                                               \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        CHECK(error_ == cudaSuccess, "GPU: %s", cudaGetErrorString(error_));                       \
    } while (0)

/* An empty tensor has an address too. */
static void *gpu_alloc(Device *device, size_t bytes) {
    (void)device;
    void *data = NULL;
    cudaError_t error = cudaMallocAsync(&data, bytes > 0 ? bytes : 1, 0);
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError(); /* it has been seen */
        return NULL;
    }
    EXPECT(error);
    return data;
}

static void gpu_release(Device *device, void *data, size_t bytes) {
    (void)device, (void)bytes;
    EXPECT(cudaFreeAsync(data, 0));
}

static void gpu_fill(Device *device, void *data, int byte, size_t bytes) {
    (void)device;
    if (bytes > 0) {
        EXPECT(cudaMemsetAsync(data, byte, bytes, 0));
    }
}

static size_t piece(size_t bytes) {
    return bytes < STAGING_BYTES ? bytes : STAGING_BYTES;
}

static void gpu_upload(Device *device, void *to, const void *from, size_t bytes) {
    Gpu *gpu = device->state;
    for (size_t done = 0; done < bytes; done += piece(bytes - done)) {
        size_t count = piece(bytes - done);
        EXPECT(cudaEventSynchronize(gpu->fetched));
        memcpy(gpu->staging, (const char *)from + done, count);
        EXPECT(cudaMemcpyAsync((char *)to + done, gpu->staging, count, cudaMemcpyHostToDevice, 0));
        EXPECT(cudaEventRecord(gpu->fetched, 0));
    }
}

static void gpu_download(Device *device, void *to, const void *from, size_t bytes) {
    Gpu *gpu = device->state;
    for (size_t done = 0; done < bytes; done += piece(bytes - done)) {
        size_t count = piece(bytes - done);
        EXPECT(cudaMemcpyAsync(gpu->staging, (const char *)from + done, count,
                               cudaMemcpyDeviceToHost, 0));
        EXPECT(cudaStreamSynchronize(0));
        memcpy((char *)to + done, gpu->staging, count);
    }
}

static void gpu_synchronize(Device *device) {
    (void)device;
    EXPECT(cudaDeviceSynchronize());
}

static size_t gpu_workspace_bytes(const Device *device, const ModelConfig *config) {
    (void)device;
    return ops_workspace_gpu(config->T, config->C, config->NH, params_length(config),
                             config->attention == ATTENTION_PLAIN);
}

/* GPU memory in use outside of the pool. */
static size_t gpu_overhead(const Device *device) {
    const Gpu *gpu = device->state;
    size_t available, total;
    uint64_t reserved;
    EXPECT(cudaDeviceSynchronize());
    EXPECT(cudaMemGetInfo(&available, &total));
    EXPECT(cudaMemPoolGetAttribute(gpu->pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
    size_t taken = total - available;
    return taken > reserved ? taken - reserved : 0;
}

static void gpu_destroy(Device *device) {
    Gpu *gpu = device->state;
    EXPECT(cudaDeviceSynchronize());
    if (gpu->blas != NULL) {
        cublasDestroy(gpu->blas);
    }
    cudaFree(gpu->blas_workspace);
    cudaMemPoolTrimTo(gpu->pool, 0);
    cudaFreeHost(gpu->staging);
    if (gpu->fetched != NULL) {
        cudaEventDestroy(gpu->fetched);
    }
    free(gpu);
    free(device);
}

/* @return its compute capability, 10 * major + minor */
static int describe(Gpu *gpu) {
    struct cudaDeviceProp properties;
    int runtime = 0;
    EXPECT(cudaGetDeviceProperties(&properties, gpu->device));
    EXPECT(cudaRuntimeGetVersion(&runtime));
#ifdef CUDASIM
    snprintf(gpu->note, sizeof gpu->note,
             "SIMULATED on the CPU: its results count, its times mean nothing");
#else
    snprintf(gpu->note, sizeof gpu->note, "%s (sm_%d%d), %.1f GiB, CUDA %d.%d", properties.name,
             properties.major, properties.minor,
             (double)properties.totalGlobalMem / (1024.0 * 1024 * 1024), runtime / 1000,
             runtime % 1000 / 10);
#endif
    return 10 * properties.major + properties.minor;
}

/* Memory that is freed stays with the pool: asking the driver anew would cost more than a step. */
static cudaError_t keep_pool(Gpu *gpu) {
    uint64_t all = UINT64_MAX;
    cudaError_t error = cudaDeviceGetDefaultMemPool(&gpu->pool, gpu->device);
    return error != cudaSuccess
               ? error
               : cudaMemPoolSetAttribute(gpu->pool, cudaMemPoolAttrReleaseThreshold, &all);
}

/* Sums in float also where a product is split into parts, and parts of one fixed size. */
static bool open_blas(Gpu *gpu) {
    unsigned mode = CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
    return cublasCreate(&gpu->blas) == CUBLAS_STATUS_SUCCESS &&
           cublasSetStream(gpu->blas, cudaStreamPerThread) == CUBLAS_STATUS_SUCCESS &&
           cublasSetWorkspace(gpu->blas, gpu->blas_workspace, BLAS_BYTES) ==
               CUBLAS_STATUS_SUCCESS &&
           cublasSetMathMode(gpu->blas, (cublasMath_t)mode) == CUBLAS_STATUS_SUCCESS &&
           cublasSetPointerMode(gpu->blas, CUBLAS_POINTER_MODE_HOST) == CUBLAS_STATUS_SUCCESS;
}

/* NULL, or what is missing. */
static const char *open_gpu(Gpu *gpu) {
    int devices = 0;
    cudaError_t error = cudaGetDeviceCount(&devices);
    if (error == cudaSuccess && devices == 0) {
        return "there is none";
    }
    if (error == cudaSuccess) {
        error = cudaGetDevice(&gpu->device);
    }
    if (error == cudaSuccess) {
        error = cudaSetDevice(gpu->device); /* opens it, too */
    }
    if (error == cudaSuccess) {
        error = keep_pool(gpu);
    }
    if (error == cudaSuccess) {
        error = cudaMallocHost((void **)&gpu->staging, STAGING_BYTES);
    }
    if (error == cudaSuccess) {
        error = cudaEventCreateWithFlags(&gpu->fetched, cudaEventDisableTiming);
    }
    if (error == cudaSuccess) {
        error = cudaMalloc(&gpu->blas_workspace, BLAS_BYTES);
    }
    if (error != cudaSuccess) {
        return cudaGetErrorString(error);
    }
    return open_blas(gpu) ? NULL : "cuBLAS cannot start";
}

void device_gpu_wait_for_launches(void) {
    setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
}

Device *device_gpu_new(const Ops *ops) {
    Gpu *gpu = calloc(1, sizeof *gpu);
    Device *device = calloc(1, sizeof *device);
    CHECK(gpu != NULL && device != NULL, "no memory for a few bytes");
    const char *missing = open_gpu(gpu);
    if (missing != NULL) {
        /* Anything opened so far is left to the end of the program, which is near. */
        fprintf(stderr, "no GPU: %s\n", missing);
        free(gpu);
        free(device);
        return NULL;
    }
    int capability = describe(gpu);
    *device = (Device){
        .name = "gpu",
        .note = gpu->note,
        .capability = capability,
#ifdef CUDASIM
        .simulated = true,
#endif
        .ops = ops_noted(ops),
        .blas = gpu->blas,
        .state = gpu,
        .alloc = gpu_alloc,
        .release = gpu_release,
        .fill = gpu_fill,
        .upload = gpu_upload,
        .download = gpu_download,
        .synchronize = gpu_synchronize,
        .workspace_bytes = gpu_workspace_bytes,
        .overhead = gpu_overhead,
        .destroy = gpu_destroy,
    };
    return device;
}
