#include "graph.h"

/* Nodes by API. To add a node is to capture one call, in a stream of its own, after the nodes that
   it waits for: so what the call checks is checked, and what it copies is copied. To change a node
   is the same in a graph that is thrown away, but for the job. */

typedef struct NewNode {
    cudaGraphNode_t *node; /* takes it */
    cudaGraph_t graph;
    NodeSet before;
    const char *what;
    Place place;
} NewNode;

static cudaError_t invalid(const char *what, Place place) {
    return sim_error(cudaErrorInvalidValue, what, place, false);
}

/* Whether a node may be added: then `new` says where. */
static cudaError_t prepare(NewNode *new, const cudaGraphNode_t *before, size_t count) {
    if (!graph_exists(new->graph, new->what, new->place) || new->node == NULL ||
        (before == NULL && count > 0)) {
        return invalid(new->what, new->place);
    }
    for (size_t i = 0; i < count; i++) {
        if (before[i] == NULL || before[i]->graph != new->graph) {
            nodes_clear(&new->before);
            return graph_misuse(cudaErrorInvalidValue, new->what, new->place,
                                "dependency %zu is not a node of this graph", i);
        }
        nodes_add(&new->before, before[i]);
    }
    return sim_device_error();
}

/* The call that makes the node's job, given the stream for it. */
typedef cudaError_t Call(const void *what, Place place, cudaStream_t stream);

static cudaError_t add(NewNode new, const cudaGraphNode_t *before, size_t count,
                       cudaGraphNodeType type, Call *call, const void *what) {
    cudaError_t error = prepare(&new, before, count);
    if (error != cudaSuccess) {
        return error;
    }
    capture_into(new.graph, &new.before);
    error = call(what, new.place, capture_recorder());
    Node *made = capture_made();
    if (error == cudaSuccess) {
        /* A copy of no bytes makes none. */
        *new.node = made != NULL ? made : graph_add(new.graph, type, NULL, &new.before);
    }
    nodes_clear(&new.before);
    return error;
}

static cudaError_t change(Node *node, cudaGraphNodeType type, Call *call, const void *what,
                          const char *name, Place place) {
    if (node == NULL || node->type != type) {
        return node == NULL ? invalid(name, place)
                            : graph_misuse(cudaErrorInvalidValue, name, place,
                                           "the node does something else");
    }
    cudaGraph_t scratch = graph_new();
    capture_into(scratch, &(NodeSet){0});
    cudaError_t error = call(what, place, capture_recorder());
    const Node *made = capture_made();
    if (error == cudaSuccess) {
        held_work_drop(node->job);
        node->job = made != NULL ? held_work_hold(made->job) : NULL;
    }
    graph_free(scratch);
    return error;
}

/* ---- kernels --------------------------------------------------------------------------------- */

static cudaError_t call_kernel(const void *what, Place place, cudaStream_t stream) {
    const cudaKernelNodeParams *p = what;
    if (p == NULL || p->extra != NULL) {
        return graph_misuse(cudaErrorInvalidValue, "kernel node", place,
                            "its arguments must be in kernelParams");
    }
    return cudasim_launch_by_address(place.file, place.line, 0, p->func, p->gridDim, p->blockDim,
                                     p->kernelParams, p->sharedMemBytes, stream);
}

cudaError_t cudasim_add_kernel_node(const char *file, int line, cudaGraphNode_t *node,
                                    cudaGraph_t graph, const cudaGraphNode_t *before, size_t count,
                                    const cudaKernelNodeParams *p) {
    ENTER("cudaGraphAddKernelNode", file, line);
    NewNode new = {node, graph, {0}, "cudaGraphAddKernelNode", {file, line}};
    return add(new, before, count, cudaGraphNodeTypeKernel, call_kernel, p);
}

cudaError_t cudasim_set_kernel_node(const char *file, int line, cudaGraphNode_t node,
                                    const cudaKernelNodeParams *p) {
    ENTER("cudaGraphKernelNodeSetParams", file, line);
    return change(node, cudaGraphNodeTypeKernel, call_kernel, p, "cudaGraphKernelNodeSetParams",
                  (Place){file, line});
}

cudaError_t cudasim_exec_set_kernel_node(const char *file, int line, cudaGraphExec_t exec,
                                         cudaGraphNode_t node, const cudaKernelNodeParams *p) {
    ENTER("cudaGraphExecKernelNodeSetParams", file, line);
    static const char what[] = "cudaGraphExecKernelNodeSetParams";
    Place place = {file, line};
    return change(exec_node(exec, node, what, place), cudaGraphNodeTypeKernel, call_kernel, p, what,
                  place);
}

cudaError_t cudasim_get_kernel_node(const char *file, int line, cudaGraphNode_t node,
                                    cudaKernelNodeParams *p) {
    ENTER("cudaGraphKernelNodeGetParams", file, line);
    static const char what[] = "cudaGraphKernelNodeGetParams";
    Place place = {file, line};
    if (node == NULL || node->job == NULL || !sim_launch_parameters(&node->job->work, p)) {
        return graph_misuse(cudaErrorInvalidDeviceFunction, what, place,
                            "the node must launch a kernel whose name stands for one function");
    }
    return sim_device_error();
}

/* ---- copies ---------------------------------------------------------------------------------- */

static cudaError_t call_copy(const void *what, Place place, cudaStream_t stream) {
    return cudasim_memcpy_3d_async(place.file, place.line, what, stream);
}

cudaError_t cudasim_add_memcpy_node(const char *file, int line, cudaGraphNode_t *node,
                                    cudaGraph_t graph, const cudaGraphNode_t *before, size_t count,
                                    const cudaMemcpy3DParms *p) {
    ENTER("cudaGraphAddMemcpyNode", file, line);
    NewNode new = {node, graph, {0}, "cudaGraphAddMemcpyNode", {file, line}};
    return add(new, before, count, cudaGraphNodeTypeMemcpy, call_copy, p);
}

cudaError_t cudasim_set_memcpy_node(const char *file, int line, cudaGraphNode_t node,
                                    const cudaMemcpy3DParms *p) {
    ENTER("cudaGraphMemcpyNodeSetParams", file, line);
    return change(node, cudaGraphNodeTypeMemcpy, call_copy, p, "cudaGraphMemcpyNodeSetParams",
                  (Place){file, line});
}

cudaError_t cudasim_exec_set_memcpy_node(const char *file, int line, cudaGraphExec_t exec,
                                         cudaGraphNode_t node, const cudaMemcpy3DParms *p) {
    ENTER("cudaGraphExecMemcpyNodeSetParams", file, line);
    static const char what[] = "cudaGraphExecMemcpyNodeSetParams";
    Place place = {file, line};
    return change(exec_node(exec, node, what, place), cudaGraphNodeTypeMemcpy, call_copy, p, what,
                  place);
}

typedef struct PlainCopy {
    void *to;
    const void *from;
    size_t bytes;
    cudaMemcpyKind kind;
} PlainCopy;

static cudaError_t call_plain_copy(const void *what, Place place, cudaStream_t stream) {
    const PlainCopy *c = what;
    return cudasim_memcpy_async(place.file, place.line, c->to, c->from, c->bytes, c->kind, stream);
}

cudaError_t cudasim_add_memcpy_node_1d(const char *file, int line, cudaGraphNode_t *node,
                                       cudaGraph_t graph, const cudaGraphNode_t *before,
                                       size_t count, void *to, const void *from, size_t bytes,
                                       cudaMemcpyKind kind) {
    ENTER("cudaGraphAddMemcpyNode1D", file, line);
    NewNode new = {node, graph, {0}, "cudaGraphAddMemcpyNode1D", {file, line}};
    return add(new, before, count, cudaGraphNodeTypeMemcpy, call_plain_copy,
               &(PlainCopy){to, from, bytes, kind});
}

cudaError_t cudasim_set_memcpy_node_1d(const char *file, int line, cudaGraphNode_t node, void *to,
                                       const void *from, size_t bytes, cudaMemcpyKind kind) {
    ENTER("cudaGraphMemcpyNodeSetParams1D", file, line);
    return change(node, cudaGraphNodeTypeMemcpy, call_plain_copy,
                  &(PlainCopy){to, from, bytes, kind}, "cudaGraphMemcpyNodeSetParams1D",
                  (Place){file, line});
}

cudaError_t cudasim_exec_set_memcpy_node_1d(const char *file, int line, cudaGraphExec_t exec,
                                            cudaGraphNode_t node, void *to, const void *from,
                                            size_t bytes, cudaMemcpyKind kind) {
    ENTER("cudaGraphExecMemcpyNodeSetParams1D", file, line);
    static const char what[] = "cudaGraphExecMemcpyNodeSetParams1D";
    Place place = {file, line};
    return change(exec_node(exec, node, what, place), cudaGraphNodeTypeMemcpy, call_plain_copy,
                  &(PlainCopy){to, from, bytes, kind}, what, place);
}

/* ---- fills ----------------------------------------------------------------------------------- */

static cudaError_t call_fill(const void *what, Place place, cudaStream_t stream) {
    return cudasim_memset_elements(place.file, place.line, what, stream);
}

cudaError_t cudasim_add_memset_node(const char *file, int line, cudaGraphNode_t *node,
                                    cudaGraph_t graph, const cudaGraphNode_t *before, size_t count,
                                    const cudaMemsetParams *p) {
    ENTER("cudaGraphAddMemsetNode", file, line);
    NewNode new = {node, graph, {0}, "cudaGraphAddMemsetNode", {file, line}};
    return add(new, before, count, cudaGraphNodeTypeMemset, call_fill, p);
}

cudaError_t cudasim_set_memset_node(const char *file, int line, cudaGraphNode_t node,
                                    const cudaMemsetParams *p) {
    ENTER("cudaGraphMemsetNodeSetParams", file, line);
    return change(node, cudaGraphNodeTypeMemset, call_fill, p, "cudaGraphMemsetNodeSetParams",
                  (Place){file, line});
}

cudaError_t cudasim_exec_set_memset_node(const char *file, int line, cudaGraphExec_t exec,
                                         cudaGraphNode_t node, const cudaMemsetParams *p) {
    ENTER("cudaGraphExecMemsetNodeSetParams", file, line);
    static const char what[] = "cudaGraphExecMemsetNodeSetParams";
    Place place = {file, line};
    return change(exec_node(exec, node, what, place), cudaGraphNodeTypeMemset, call_fill, p, what,
                  place);
}

/* ---- functions of the host ------------------------------------------------------------------- */

static cudaError_t call_host(const void *what, Place place, cudaStream_t stream) {
    const cudaHostNodeParams *p = what;
    return cudasim_launch_host_func(place.file, place.line, stream, p->fn, p->userData);
}

cudaError_t cudasim_add_host_node(const char *file, int line, cudaGraphNode_t *node,
                                  cudaGraph_t graph, const cudaGraphNode_t *before, size_t count,
                                  const cudaHostNodeParams *p) {
    ENTER("cudaGraphAddHostNode", file, line);
    NewNode new = {node, graph, {0}, "cudaGraphAddHostNode", {file, line}};
    return add(new, before, count, cudaGraphNodeTypeHost, call_host, p);
}

cudaError_t cudasim_set_host_node(const char *file, int line, cudaGraphNode_t node,
                                  const cudaHostNodeParams *p) {
    ENTER("cudaGraphHostNodeSetParams", file, line);
    return change(node, cudaGraphNodeTypeHost, call_host, p, "cudaGraphHostNodeSetParams",
                  (Place){file, line});
}

cudaError_t cudasim_exec_set_host_node(const char *file, int line, cudaGraphExec_t exec,
                                       cudaGraphNode_t node, const cudaHostNodeParams *p) {
    ENTER("cudaGraphExecHostNodeSetParams", file, line);
    static const char what[] = "cudaGraphExecHostNodeSetParams";
    Place place = {file, line};
    return change(exec_node(exec, node, what, place), cudaGraphNodeTypeHost, call_host, p, what,
                  place);
}

/* ---- events, nothing, and graphs ------------------------------------------------------------- */

static cudaError_t call_record(const void *what, Place place, cudaStream_t stream) {
    cudaEvent_t event = (cudaEvent_t)(uintptr_t)what;
    return cudasim_event_record_flags(place.file, place.line, event, stream,
                                      cudaEventRecordExternal);
}

cudaError_t cudasim_add_record_node(const char *file, int line, cudaGraphNode_t *node,
                                    cudaGraph_t graph, const cudaGraphNode_t *before, size_t count,
                                    cudaEvent_t event) {
    ENTER("cudaGraphAddEventRecordNode", file, line);
    NewNode new = {node, graph, {0}, "cudaGraphAddEventRecordNode", {file, line}};
    return add(new, before, count, cudaGraphNodeTypeEventRecord, call_record, event);
}

static cudaError_t call_wait(const void *what, Place place, cudaStream_t stream) {
    cudaEvent_t event = (cudaEvent_t)(uintptr_t)what;
    return cudasim_stream_wait_event(place.file, place.line, stream, event, cudaEventWaitExternal);
}

cudaError_t cudasim_add_wait_node(const char *file, int line, cudaGraphNode_t *node,
                                  cudaGraph_t graph, const cudaGraphNode_t *before, size_t count,
                                  cudaEvent_t event) {
    ENTER("cudaGraphAddEventWaitNode", file, line);
    NewNode new = {node, graph, {0}, "cudaGraphAddEventWaitNode", {file, line}};
    return add(new, before, count, cudaGraphNodeTypeWaitEvent, call_wait, event);
}

cudaError_t cudasim_add_empty_node(const char *file, int line, cudaGraphNode_t *node,
                                   cudaGraph_t graph, const cudaGraphNode_t *before, size_t count) {
    ENTER("cudaGraphAddEmptyNode", file, line);
    NewNode new = {node, graph, {0}, "cudaGraphAddEmptyNode", {file, line}};
    cudaError_t error = prepare(&new, before, count);
    if (error == cudaSuccess) {
        *node = graph_add(graph, cudaGraphNodeTypeEmpty, NULL, &new.before);
        nodes_clear(&new.before);
    }
    return error;
}

cudaError_t cudasim_add_child_node(const char *file, int line, cudaGraphNode_t *node,
                                   cudaGraph_t graph, const cudaGraphNode_t *before, size_t count,
                                   cudaGraph_t child) {
    ENTER("cudaGraphAddChildGraphNode", file, line);
    NewNode new = {node, graph, {0}, "cudaGraphAddChildGraphNode", {file, line}};
    if (!graph_exists(child, new.what, new.place)) {
        return invalid(new.what, new.place);
    }
    cudaError_t error = prepare(&new, before, count);
    if (error == cudaSuccess) {
        cudaGraph_t copy =
            graph_copy(child); /* before it is added: a graph may hold its own copy */
        *node = graph_add(graph, cudaGraphNodeTypeGraph, NULL, &new.before);
        (*node)->child = copy;
        nodes_clear(&new.before);
    }
    return error;
}
