/**
 * @file cuda.h
 * @brief The driver API as far as programs of the runtime use it: types, status, device, memory.
 * @ingroup cudasim
 */
#ifndef CUDASIM_CUDA_H
#define CUDASIM_CUDA_H

#include "cuda_runtime.h"

/** The version of CUDA whose interface this is: 12.4. */
#define CUDA_VERSION CUDART_VERSION

/** @cond */
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef cudaStream_t CUstream;
typedef cudaEvent_t CUevent;
typedef enum CUresult {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_INVALID_HANDLE = 400,
    CUDA_ERROR_NOT_SUPPORTED = 801,
    CUDA_ERROR_UNKNOWN = 999
} CUresult;
typedef enum CUdevice_attribute {
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
    CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
    CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36,
    CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37,
    CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76
} CUdevice_attribute;

#define CUDASIM_DRIVER __attribute__((unused)) static inline CUresult
CUDASIM_DRIVER cuInit(unsigned flags) {
    return flags == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUDASIM_DRIVER cuDriverGetVersion(int *version) {
    return (CUresult)cudaDriverGetVersion(version);
}
CUDASIM_DRIVER cuDeviceGetCount(int *count) {
    return (CUresult)cudaGetDeviceCount(count);
}
CUDASIM_DRIVER cuDeviceGet(CUdevice *device, int number) {
    int count;
    cudaGetDeviceCount(&count);
    *device = number;
    return number >= 0 && number < count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
CUDASIM_DRIVER cuDeviceGetName(char *name, int bytes, CUdevice device) {
    cudaDeviceProp properties;
    CUresult result = (CUresult)cudaGetDeviceProperties(&properties, device);
    if (result == CUDA_SUCCESS) {
        snprintf(name, (size_t)bytes, "%s", properties.name);
    }
    return result;
}
CUDASIM_DRIVER cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    return (CUresult)cudaDeviceGetAttribute(value, (cudaDeviceAttr)attribute, device);
}
CUDASIM_DRIVER cuDeviceTotalMem(size_t *bytes, CUdevice device) {
    cudaDeviceProp properties;
    CUresult result = (CUresult)cudaGetDeviceProperties(&properties, device);
    *bytes = result == CUDA_SUCCESS ? properties.totalGlobalMem : 0;
    return result;
}
CUDASIM_DRIVER cuMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
    return (CUresult)cudaMemGetInfo(free_bytes, total_bytes);
}
CUDASIM_DRIVER cuGetErrorString(CUresult result, const char **text) {
    *text = cudaGetErrorString((cudaError_t)result);
    return CUDA_SUCCESS;
}
CUDASIM_DRIVER cuGetErrorName(CUresult result, const char **text) {
    *text = cudaGetErrorName((cudaError_t)result);
    return CUDA_SUCCESS;
}

#define CUDASIM_DRIVER_API "the driver API beyond the device's properties; use the runtime's calls"
typedef struct CUmod_st *CUmodule CUDASIM_NO(CUDASIM_DRIVER_API);
typedef struct CUfunc_st *CUfunction CUDASIM_NO(CUDASIM_DRIVER_API);
typedef struct CUlinkState_st *CUlinkState CUDASIM_NO(CUDASIM_DRIVER_API);
CUDASIM_NO_FUNCTION(cuCtxCreate, CUDASIM_DRIVER_API)
CUDASIM_NO_FUNCTION(cuModuleLoad, CUDASIM_DRIVER_API)
CUDASIM_NO_FUNCTION(cuCtxGetDevice, CUDASIM_DRIVER_API)
CUDASIM_NO_FUNCTION(cuCtxGetCurrent, CUDASIM_DRIVER_API)
CUDASIM_NO_FUNCTION(cuCtxSetCurrent, CUDASIM_DRIVER_API)
CUDASIM_NO_FUNCTION(cuCtxSynchronize, CUDASIM_DRIVER_API)
CUDASIM_NO_FUNCTION(cuCtxDestroy, CUDASIM_DRIVER_API)
CUDASIM_NO_FUNCTION(cuDevicePrimaryCtxRetain, CUDASIM_DRIVER_API)
CUDASIM_NO_FUNCTION(cuDevicePrimaryCtxRelease, CUDASIM_DRIVER_API)
CUDASIM_NO_FUNCTION(cuModuleLoadDataEx, CUDASIM_DRIVER_API)
CUDASIM_NO_FUNCTION(cuModuleUnload, CUDASIM_DRIVER_API)
CUDASIM_NO_FUNCTION(cuModuleGetGlobal, CUDASIM_DRIVER_API)
CUDASIM_NO_FUNCTION(cuMemsetD32, CUDASIM_DRIVER_API)
CUDASIM_NO_FUNCTION(cuMemCreate, CUDASIM_DRIVER_API)
CUDASIM_NO_FUNCTION(cuMemMap, CUDASIM_DRIVER_API)
CUDASIM_NO_FUNCTION(cuMemAddressReserve, CUDASIM_DRIVER_API)
CUDASIM_NO_FUNCTION(cuMemGetAllocationGranularity, CUDASIM_DRIVER_API)
CUDASIM_NO_FUNCTION(cuMemSetAccess, CUDASIM_DRIVER_API)
CUDASIM_NO_FUNCTION(cuMemUnmap, CUDASIM_DRIVER_API)
CUDASIM_NO_FUNCTION(cuMemRelease, CUDASIM_DRIVER_API)
CUDASIM_NO_FUNCTION(cuMemAddressFree, CUDASIM_DRIVER_API)
CUDASIM_NO_FUNCTION(cuGetProcAddress, CUDASIM_DRIVER_API)
CUDASIM_NO_FUNCTION(cuModuleLoadData, CUDASIM_DRIVER_API)
CUDASIM_NO_FUNCTION(cuModuleGetFunction, CUDASIM_DRIVER_API)
CUDASIM_NO_FUNCTION(cuLaunchKernel, CUDASIM_DRIVER_API)
CUDASIM_NO_FUNCTION(cuMemAlloc, CUDASIM_DRIVER_API)
CUDASIM_NO_FUNCTION(cuMemFree, CUDASIM_DRIVER_API)
CUDASIM_NO_FUNCTION(cuMemcpyHtoD, CUDASIM_DRIVER_API)
CUDASIM_NO_FUNCTION(cuMemcpyDtoH, CUDASIM_DRIVER_API)
#define CUDASIM_TENSOR_MAPS                                                                        \
    "copies by tensor maps, which a device of compute capability 8.0 has not; use cp.async or "    \
    "loads"
typedef struct CUtensorMap_st {
    unsigned long long opaque[16];
} CUtensorMap CUDASIM_NO(CUDASIM_TENSOR_MAPS);
CUDASIM_NO_FUNCTION(cuTensorMapEncodeTiled, CUDASIM_TENSOR_MAPS)
CUDASIM_NO_FUNCTION(cuTensorMapEncodeIm2col, CUDASIM_TENSOR_MAPS)
CUDASIM_NO_FUNCTION(cuTensorMapReplaceAddress, CUDASIM_TENSOR_MAPS)
/** @endcond */

#endif
