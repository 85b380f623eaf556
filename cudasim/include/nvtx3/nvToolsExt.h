/**
 * @file nvToolsExt.h
 * @brief Marks for a profiler's picture; there is none.
 * @ingroup cudasim
 */
#ifndef CUDASIM_NVTX3_NVTOOLSEXT_H
#define CUDASIM_NVTX3_NVTOOLSEXT_H

#include "../cuda_runtime.h"

/** @cond */
#define NVTX_VERSION 3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))
typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration *nvtxDomainHandle_t;
typedef enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 } nvtxColorType_t;
typedef enum nvtxMessageType_t {
    NVTX_MESSAGE_UNKNOWN = 0,
    NVTX_MESSAGE_TYPE_ASCII = 1
} nvtxMessageType_t;
typedef union nvtxMessageValue_t {
    const char *ascii;
} nvtxMessageValue_t;
typedef union nvtxPayload_t {
    uint64_t ullValue;
    int64_t llValue;
    double dValue;
} nvtxPayload_t;
typedef struct nvtxEventAttributes_v2 {
    uint16_t version, size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType, reserved0;
    nvtxPayload_t payload;
    int32_t messageType;
    nvtxMessageValue_t message;
} nvtxEventAttributes_t;
#define NVTX_NOTHING __attribute__((unused)) static inline
NVTX_NOTHING int nvtxRangePushA(const char *name) {
    return (void)name, 0;
}
NVTX_NOTHING int nvtxRangePushEx(const nvtxEventAttributes_t *name) {
    return (void)name, 0;
}
NVTX_NOTHING int nvtxRangePop(void) {
    return 0;
}
NVTX_NOTHING void nvtxMarkA(const char *name) {
    (void)name;
}
NVTX_NOTHING nvtxRangeId_t nvtxRangeStartA(const char *name) {
    return (void)name, 0;
}
NVTX_NOTHING nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t *name) {
    return (void)name, 0;
}
NVTX_NOTHING void nvtxRangeEnd(nvtxRangeId_t range) {
    (void)range;
}
NVTX_NOTHING void nvtxNameOsThreadA(uint32_t thread, const char *name) {
    (void)thread, (void)name;
}
NVTX_NOTHING nvtxDomainHandle_t nvtxDomainCreateA(const char *name) {
    return (void)name, (nvtxDomainHandle_t)0;
}
NVTX_NOTHING void nvtxDomainDestroy(nvtxDomainHandle_t domain) {
    (void)domain;
}
NVTX_NOTHING int nvtxDomainRangePushEx(nvtxDomainHandle_t domain,
                                       const nvtxEventAttributes_t *name) {
    return (void)domain, (void)name, 0;
}
NVTX_NOTHING int nvtxDomainRangePop(nvtxDomainHandle_t domain) {
    return (void)domain, 0;
}
#define nvtxRangePush nvtxRangePushA
#define nvtxMark nvtxMarkA
#define nvtxRangeStart nvtxRangeStartA
/** @endcond */

#endif
