/**
 * @file cudasim_graph.h
 * @brief CUDA graphs, launches with attributes, copies in three dimensions: types and functions.
 * @ingroup cudasim
 *
 * Included by cuda_runtime_api.h. The forms that versions 11 and 13 of CUDA gave some functions are
 * in cudasim_host.h, for C++.
 */
#ifndef CUDASIM_GRAPH_API_H
#define CUDASIM_GRAPH_API_H

#include "driver_types.h"
#include "vector_types.h"

/* ---- memory in three dimensions -------------------------------------------------------------- */

/** Rows of bytes with a pitch, in slices. */
typedef struct cudaPitchedPtr {
    void *ptr;    /**< first byte */
    size_t pitch; /**< bytes from one row to the next */
    size_t xsize; /**< bytes of a row that are used */
    size_t ysize; /**< rows of a slice */
} cudaPitchedPtr;

/** How much is copied. */
typedef struct cudaExtent {
    size_t width;  /**< bytes of a row */
    size_t height; /**< rows */
    size_t depth;  /**< slices */
} cudaExtent;

/** Where it begins. */
typedef struct cudaPos {
    size_t x; /**< bytes */
    size_t y; /**< rows */
    size_t z; /**< slices */
} cudaPos;

/** A copy by cudaMemcpy3D() or a node. */
typedef struct cudaMemcpy3DParms {
    struct cudaArray *srcArray; /**< NULL: there are no arrays */
    cudaPos srcPos;             /**< in srcPtr */
    cudaPitchedPtr srcPtr;      /**< from */
    struct cudaArray *dstArray; /**< NULL */
    cudaPos dstPos;             /**< in dstPtr */
    cudaPitchedPtr dstPtr;      /**< to */
    cudaExtent extent;          /**< how much */
    cudaMemcpyKind kind;        /**< between which memories */
} cudaMemcpy3DParms;

/** @cond */
static inline __attribute__((unused)) cudaPitchedPtr make_cudaPitchedPtr(void *p, size_t pitch,
                                                                         size_t x, size_t y) {
    cudaPitchedPtr pitched = {p, pitch, x, y};
    return pitched;
}
static inline __attribute__((unused)) cudaExtent make_cudaExtent(size_t w, size_t h, size_t d) {
    cudaExtent extent = {w, h, d};
    return extent;
}
static inline __attribute__((unused)) cudaPos make_cudaPos(size_t x, size_t y, size_t z) {
    cudaPos pos = {x, y, z};
    return pos;
}
/** @endcond */

/* ---- launches -------------------------------------------------------------------------------- */

/** How a cache would treat an access; it makes no difference here. */
typedef enum cudaAccessProperty {
    cudaAccessPropertyNormal = 0,
    cudaAccessPropertyStreaming = 1,
    cudaAccessPropertyPersisting = 2
} cudaAccessProperty;

/** Memory that a stream's kernels would keep in a cache. */
typedef struct cudaAccessPolicyWindow {
    void *base_ptr;              /**< where it begins */
    size_t num_bytes;            /**< its length */
    float hitRatio;              /**< share of it that hitProp is for, 0 to 1 */
    cudaAccessProperty hitProp;  /**< for this share */
    cudaAccessProperty missProp; /**< for the rest */
} cudaAccessPolicyWindow;

/** How the host would wait for a stream; it makes no difference here. */
typedef enum cudaSynchronizationPolicy {
    cudaSyncPolicyAuto = 1,
    cudaSyncPolicySpin = 2,
    cudaSyncPolicyYield = 3,
    cudaSyncPolicyBlockingSync = 4
} cudaSynchronizationPolicy;

/** Attributes of a launch or a stream; only the cooperative one has a meaning here. */
typedef enum cudaLaunchAttributeID {
    cudaLaunchAttributeIgnore = 0,
    cudaLaunchAttributeAccessPolicyWindow = 1,
    cudaLaunchAttributeCooperative = 2,
    cudaLaunchAttributeSynchronizationPolicy = 3,
    cudaLaunchAttributePriority = 8
} cudaLaunchAttributeID;

/** The value of one. */
typedef union cudaLaunchAttributeValue {
    char pad[64];                              /**< room for each */
    cudaAccessPolicyWindow accessPolicyWindow; /**< changes nothing */
    cudaSynchronizationPolicy syncPolicy;      /**< changes nothing */
    int cooperative;                           /**< all blocks are resident at once */
    int priority;                              /**< orders nothing */
} cudaLaunchAttributeValue;

/** @cond */
#define cudaStreamAttrID cudaLaunchAttributeID
#define cudaStreamAttrValue cudaLaunchAttributeValue
#define cudaStreamAttributeAccessPolicyWindow cudaLaunchAttributeAccessPolicyWindow
#define cudaStreamAttributeSynchronizationPolicy cudaLaunchAttributeSynchronizationPolicy
#define cudaStreamAttributePriority cudaLaunchAttributePriority
/** @endcond */

/** An attribute with its value. */
typedef struct cudaLaunchAttribute {
    cudaLaunchAttributeID id;     /**< which */
    cudaLaunchAttributeValue val; /**< its value */
} cudaLaunchAttribute;

/** A launch by cudaLaunchKernelEx(). */
typedef struct cudaLaunchConfig_t {
    dim3 gridDim;               /**< blocks */
    dim3 blockDim;              /**< threads of a block */
    size_t dynamicSmemBytes;    /**< of shared memory */
    cudaStream_t stream;        /**< queue */
    cudaLaunchAttribute *attrs; /**< [numAttrs] */
    unsigned numAttrs;          /**< how many */
} cudaLaunchConfig_t;

/* ---- graphs ---------------------------------------------------------------------------------- */

typedef struct CUgraph_st *cudaGraph_t;         /**< nodes and edges */
typedef struct CUgraphNode_st *cudaGraphNode_t; /**< a piece of work in a graph */
typedef struct CUgraphExec_st *cudaGraphExec_t; /**< a graph that can be launched */

/** The calls that a capture leaves to threads. */
typedef enum cudaStreamCaptureMode {
    cudaStreamCaptureModeGlobal = 0,      /**< no thread may do what could wait */
    cudaStreamCaptureModeThreadLocal = 1, /**< this thread may not */
    cudaStreamCaptureModeRelaxed = 2      /**< each thread may */
} cudaStreamCaptureMode;

/** Whether a stream is captured. */
typedef enum cudaStreamCaptureStatus {
    cudaStreamCaptureStatusNone = 0,       /**< no */
    cudaStreamCaptureStatusActive = 1,     /**< yes */
    cudaStreamCaptureStatusInvalidated = 2 /**< it was, and something forbidden was done */
} cudaStreamCaptureStatus;

/** The kinds of nodes. */
typedef enum cudaGraphNodeType {
    cudaGraphNodeTypeKernel = 0,
    cudaGraphNodeTypeMemcpy = 1,
    cudaGraphNodeTypeMemset = 2,
    cudaGraphNodeTypeHost = 3,
    cudaGraphNodeTypeGraph = 4,
    cudaGraphNodeTypeEmpty = 5,
    cudaGraphNodeTypeWaitEvent = 6,
    cudaGraphNodeTypeEventRecord = 7
} cudaGraphNodeType;

/** A launch, for a node. */
typedef struct cudaKernelNodeParams {
    void *func;              /**< the kernel: (void *)name */
    dim3 gridDim;            /**< blocks */
    dim3 blockDim;           /**< threads of a block */
    unsigned sharedMemBytes; /**< dynamic shared memory */
    void **kernelParams;     /**< addresses of the arguments, which are copied */
    void **extra;            /**< NULL */
} cudaKernelNodeParams;

/** A fill, for a node. */
typedef struct cudaMemsetParams {
    void *dst;            /**< first byte */
    size_t pitch;         /**< bytes from one row to the next */
    unsigned value;       /**< of each element */
    unsigned elementSize; /**< bytes: 1, 2 or 4 */
    size_t width;         /**< elements of a row */
    size_t height;        /**< rows */
} cudaMemsetParams;

/** A function of the host, for a node. */
typedef struct cudaHostNodeParams {
    cudaHostFn_t fn; /**< is called */
    void *userData;  /**< with this */
} cudaHostNodeParams;

/** More about an edge; not used. */
typedef struct cudaGraphEdgeData {
    unsigned char from_port;   /**< 0 */
    unsigned char to_port;     /**< 0 */
    unsigned char type;        /**< 0 */
    unsigned char reserved[5]; /**< 0 */
} cudaGraphEdgeData;

/** The outcome of cudaGraphExecUpdate(). */
typedef enum cudaGraphExecUpdateResult {
    cudaGraphExecUpdateSuccess = 0,
    cudaGraphExecUpdateError = 1,
    cudaGraphExecUpdateErrorTopologyChanged = 2,
    cudaGraphExecUpdateErrorNodeTypeChanged = 3,
    cudaGraphExecUpdateErrorFunctionChanged = 4,
    cudaGraphExecUpdateErrorParametersChanged = 5,
    cudaGraphExecUpdateErrorNotSupported = 6
} cudaGraphExecUpdateResult;

/** The same, and where. */
typedef struct cudaGraphExecUpdateResultInfo {
    cudaGraphExecUpdateResult result; /**< what */
    cudaGraphNode_t errorNode;        /**< the node of the new graph that differs, or NULL */
    cudaGraphNode_t errorFromNode;    /**< NULL */
} cudaGraphExecUpdateResultInfo;

#define cudaGraphInstantiateFlagAutoFreeOnLaunch 1u /**< the same here */
#define cudaGraphInstantiateFlagUpload 2u           /**< the same here */
#define cudaGraphInstantiateFlagDeviceLaunch 4u     /**< refused */
#define cudaGraphInstantiateFlagUseNodePriority 8u  /**< the same here */
#define cudaGraphDebugDotFlagsVerbose 1u            /**< the same here */
#define cudaGraphKernelNodePortDefault 0            /**< of an edge */
#define cudaEventRecordDefault 0x00u                /**< in a capture: for what waits in it */
#define cudaEventRecordExternal 0x01u               /**< in a capture: at each launch */
#define cudaEventWaitDefault 0x00u                  /**< in a capture: for what it records */
#define cudaEventWaitExternal 0x01u                 /**< in a capture: at each launch */

/** @cond */
#ifdef __cplusplus
extern "C" {
#endif
cudaError_t cudasim_memcpy_3d(CUDASIM_PLACE, const cudaMemcpy3DParms *p);
cudaError_t cudasim_memcpy_3d_async(CUDASIM_PLACE, const cudaMemcpy3DParms *p,
                                    cudaStream_t stream CUDASIM_DEFAULT(0));
cudaError_t cudasim_memset_elements(CUDASIM_PLACE, const cudaMemsetParams *p, cudaStream_t stream);
cudaError_t cudasim_launch_by_address(CUDASIM_PLACE, int cooperative, const void *kernel, dim3 grid,
                                      dim3 block, void **values, size_t shared,
                                      cudaStream_t stream);

cudaError_t cudasim_begin_capture(CUDASIM_PLACE, cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudasim_end_capture(CUDASIM_PLACE, cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudasim_capture_info(CUDASIM_PLACE, const char *what, cudaStream_t stream,
                                 cudaStreamCaptureStatus *status,
                                 unsigned long long *id CUDASIM_DEFAULT(0),
                                 cudaGraph_t *graph CUDASIM_DEFAULT(0),
                                 const cudaGraphNode_t **last CUDASIM_DEFAULT(0),
                                 size_t *count CUDASIM_DEFAULT(0));
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode);

cudaError_t cudasim_graph_create(CUDASIM_PLACE, cudaGraph_t *graph, unsigned flags);
cudaError_t cudasim_graph_destroy(CUDASIM_PLACE, cudaGraph_t graph);
cudaError_t cudasim_graph_clone(CUDASIM_PLACE, cudaGraph_t *clone, cudaGraph_t original);
cudaError_t cudasim_graph_find_in_clone(CUDASIM_PLACE, cudaGraphNode_t *node,
                                        cudaGraphNode_t original, cudaGraph_t clone);
cudaError_t cudasim_graph_nodes(CUDASIM_PLACE, cudaGraph_t graph, cudaGraphNode_t *nodes,
                                size_t *count);
cudaError_t cudasim_graph_roots(CUDASIM_PLACE, cudaGraph_t graph, cudaGraphNode_t *nodes,
                                size_t *count);
cudaError_t cudasim_graph_edges(CUDASIM_PLACE, cudaGraph_t graph, cudaGraphNode_t *from,
                                cudaGraphNode_t *to, size_t *count);
cudaError_t cudasim_graph_change_edges(CUDASIM_PLACE, const char *what, int add, cudaGraph_t graph,
                                       const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                       size_t count);
cudaError_t cudasim_graph_destroy_node(CUDASIM_PLACE, cudaGraphNode_t node);
cudaError_t cudasim_graph_print(CUDASIM_PLACE, cudaGraph_t graph, const char *path, unsigned flags);
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType *type);
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph);
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                         size_t *count);
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                           size_t *count);

#define CUDASIM_NEW_NODE                                                                           \
    CUDASIM_PLACE, cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,        \
        size_t count
cudaError_t cudasim_add_kernel_node(CUDASIM_NEW_NODE, const cudaKernelNodeParams *p);
cudaError_t cudasim_add_memcpy_node(CUDASIM_NEW_NODE, const cudaMemcpy3DParms *p);
cudaError_t cudasim_add_memcpy_node_1d(CUDASIM_NEW_NODE, void *to, const void *from, size_t bytes,
                                       cudaMemcpyKind kind);
cudaError_t cudasim_add_memset_node(CUDASIM_NEW_NODE, const cudaMemsetParams *p);
cudaError_t cudasim_add_host_node(CUDASIM_NEW_NODE, const cudaHostNodeParams *p);
cudaError_t cudasim_add_record_node(CUDASIM_NEW_NODE, cudaEvent_t event);
cudaError_t cudasim_add_wait_node(CUDASIM_NEW_NODE, cudaEvent_t event);
cudaError_t cudasim_add_empty_node(CUDASIM_NEW_NODE);
cudaError_t cudasim_add_child_node(CUDASIM_NEW_NODE, cudaGraph_t child);

cudaError_t cudasim_get_kernel_node(CUDASIM_PLACE, cudaGraphNode_t node, cudaKernelNodeParams *p);
cudaError_t cudasim_set_kernel_node(CUDASIM_PLACE, cudaGraphNode_t node,
                                    const cudaKernelNodeParams *p);
cudaError_t cudasim_set_memcpy_node(CUDASIM_PLACE, cudaGraphNode_t node,
                                    const cudaMemcpy3DParms *p);
cudaError_t cudasim_set_memcpy_node_1d(CUDASIM_PLACE, cudaGraphNode_t node, void *to,
                                       const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudasim_set_memset_node(CUDASIM_PLACE, cudaGraphNode_t node, const cudaMemsetParams *p);
cudaError_t cudasim_set_host_node(CUDASIM_PLACE, cudaGraphNode_t node, const cudaHostNodeParams *p);

cudaError_t cudasim_graph_instantiate(CUDASIM_PLACE, cudaGraphExec_t *exec, cudaGraph_t graph,
                                      unsigned long long flags CUDASIM_DEFAULT(0));
cudaError_t cudasim_graph_exec_destroy(CUDASIM_PLACE, cudaGraphExec_t exec);
cudaError_t cudasim_graph_exec_update(CUDASIM_PLACE, cudaGraphExec_t exec, cudaGraph_t graph,
                                      cudaGraphExecUpdateResultInfo *info);
cudaError_t cudasim_graph_launch(CUDASIM_PLACE, cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudasim_graph_upload(CUDASIM_PLACE, cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudasim_exec_set_kernel_node(CUDASIM_PLACE, cudaGraphExec_t exec, cudaGraphNode_t node,
                                         const cudaKernelNodeParams *p);
cudaError_t cudasim_exec_set_memcpy_node(CUDASIM_PLACE, cudaGraphExec_t exec, cudaGraphNode_t node,
                                         const cudaMemcpy3DParms *p);
cudaError_t cudasim_exec_set_memcpy_node_1d(CUDASIM_PLACE, cudaGraphExec_t exec,
                                            cudaGraphNode_t node, void *to, const void *from,
                                            size_t bytes, cudaMemcpyKind kind);
cudaError_t cudasim_exec_set_memset_node(CUDASIM_PLACE, cudaGraphExec_t exec, cudaGraphNode_t node,
                                         const cudaMemsetParams *p);
cudaError_t cudasim_exec_set_host_node(CUDASIM_PLACE, cudaGraphExec_t exec, cudaGraphNode_t node,
                                       const cudaHostNodeParams *p);
#ifdef __cplusplus
}
#endif

#define cudaMemcpy3D(...) cudasim_memcpy_3d(CUDASIM_HERE, __VA_ARGS__)
#define cudaMemcpy3DAsync(...) cudasim_memcpy_3d_async(CUDASIM_HERE, __VA_ARGS__)
#define cudaStreamBeginCapture(...) cudasim_begin_capture(CUDASIM_HERE, __VA_ARGS__)
#define cudaStreamEndCapture(...) cudasim_end_capture(CUDASIM_HERE, __VA_ARGS__)
#define cudaStreamIsCapturing(stream, status)                                                      \
    cudasim_capture_info(CUDASIM_HERE, "cudaStreamIsCapturing", stream, status, 0, 0, 0, 0)
#define cudaStreamGetCaptureInfo(...)                                                              \
    cudasim_capture_info(CUDASIM_HERE, "cudaStreamGetCaptureInfo", __VA_ARGS__)
#define cudaStreamGetCaptureInfo_v2(...) cudaStreamGetCaptureInfo(__VA_ARGS__)
#define cudaStreamGetCaptureInfo_v3(...) cudaStreamGetCaptureInfo(__VA_ARGS__)
#define cudaGraphCreate(...) cudasim_graph_create(CUDASIM_HERE, __VA_ARGS__)
#define cudaGraphDestroy(...) cudasim_graph_destroy(CUDASIM_HERE, __VA_ARGS__)
#define cudaGraphClone(...) cudasim_graph_clone(CUDASIM_HERE, __VA_ARGS__)
#define cudaGraphNodeFindInClone(...) cudasim_graph_find_in_clone(CUDASIM_HERE, __VA_ARGS__)
#define cudaGraphGetNodes(...) cudasim_graph_nodes(CUDASIM_HERE, __VA_ARGS__)
#define cudaGraphGetRootNodes(...) cudasim_graph_roots(CUDASIM_HERE, __VA_ARGS__)
#define cudaGraphGetEdges(...) cudasim_graph_edges(CUDASIM_HERE, __VA_ARGS__)
#define cudaGraphGetEdges_v2(...) cudaGraphGetEdges(__VA_ARGS__)
#define cudaGraphAddDependencies(...)                                                              \
    cudasim_graph_change_edges(CUDASIM_HERE, "cudaGraphAddDependencies", 1, __VA_ARGS__)
#define cudaGraphAddDependencies_v2(...) cudaGraphAddDependencies(__VA_ARGS__)
#define cudaGraphRemoveDependencies(...)                                                           \
    cudasim_graph_change_edges(CUDASIM_HERE, "cudaGraphRemoveDependencies", 0, __VA_ARGS__)
#define cudaGraphDestroyNode(...) cudasim_graph_destroy_node(CUDASIM_HERE, __VA_ARGS__)
#define cudaGraphDebugDotPrint(...) cudasim_graph_print(CUDASIM_HERE, __VA_ARGS__)
#define cudaGraphAddKernelNode(...) cudasim_add_kernel_node(CUDASIM_HERE, __VA_ARGS__)
#define cudaGraphAddMemcpyNode(...) cudasim_add_memcpy_node(CUDASIM_HERE, __VA_ARGS__)
#define cudaGraphAddMemcpyNode1D(...) cudasim_add_memcpy_node_1d(CUDASIM_HERE, __VA_ARGS__)
#define cudaGraphAddMemsetNode(...) cudasim_add_memset_node(CUDASIM_HERE, __VA_ARGS__)
#define cudaGraphAddHostNode(...) cudasim_add_host_node(CUDASIM_HERE, __VA_ARGS__)
#define cudaGraphAddEventRecordNode(...) cudasim_add_record_node(CUDASIM_HERE, __VA_ARGS__)
#define cudaGraphAddEventWaitNode(...) cudasim_add_wait_node(CUDASIM_HERE, __VA_ARGS__)
#define cudaGraphAddEmptyNode(...) cudasim_add_empty_node(CUDASIM_HERE, __VA_ARGS__)
#define cudaGraphAddChildGraphNode(...) cudasim_add_child_node(CUDASIM_HERE, __VA_ARGS__)
#define cudaGraphKernelNodeGetParams(...) cudasim_get_kernel_node(CUDASIM_HERE, __VA_ARGS__)
#define cudaGraphKernelNodeSetParams(...) cudasim_set_kernel_node(CUDASIM_HERE, __VA_ARGS__)
#define cudaGraphMemcpyNodeSetParams(...) cudasim_set_memcpy_node(CUDASIM_HERE, __VA_ARGS__)
#define cudaGraphMemcpyNodeSetParams1D(...) cudasim_set_memcpy_node_1d(CUDASIM_HERE, __VA_ARGS__)
#define cudaGraphMemsetNodeSetParams(...) cudasim_set_memset_node(CUDASIM_HERE, __VA_ARGS__)
#define cudaGraphHostNodeSetParams(...) cudasim_set_host_node(CUDASIM_HERE, __VA_ARGS__)
#define cudaGraphInstantiate(...) cudasim_graph_instantiate(CUDASIM_HERE, __VA_ARGS__)
#define cudaGraphInstantiateWithFlags(...) cudasim_graph_instantiate(CUDASIM_HERE, __VA_ARGS__)
#define cudaGraphExecDestroy(...) cudasim_graph_exec_destroy(CUDASIM_HERE, __VA_ARGS__)
#define cudaGraphExecUpdate(...) cudasim_graph_exec_update(CUDASIM_HERE, __VA_ARGS__)
#define cudaGraphLaunch(...) cudasim_graph_launch(CUDASIM_HERE, __VA_ARGS__)
#define cudaGraphUpload(...) cudasim_graph_upload(CUDASIM_HERE, __VA_ARGS__)
#define cudaGraphExecKernelNodeSetParams(...)                                                      \
    cudasim_exec_set_kernel_node(CUDASIM_HERE, __VA_ARGS__)
#define cudaGraphExecMemcpyNodeSetParams(...)                                                      \
    cudasim_exec_set_memcpy_node(CUDASIM_HERE, __VA_ARGS__)
#define cudaGraphExecMemcpyNodeSetParams1D(...)                                                    \
    cudasim_exec_set_memcpy_node_1d(CUDASIM_HERE, __VA_ARGS__)
#define cudaGraphExecMemsetNodeSetParams(...)                                                      \
    cudasim_exec_set_memset_node(CUDASIM_HERE, __VA_ARGS__)
#define cudaGraphExecHostNodeSetParams(...) cudasim_exec_set_host_node(CUDASIM_HERE, __VA_ARGS__)
/** @endcond */

#endif
