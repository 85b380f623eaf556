/* Graphs by API: nodes of each kind, edges, clones, changed arguments; launches by an address. */
#include <cuda_runtime.h>

#include "check.cuh"

#include <string.h>

enum { N = 64 };

template <class T> __global__ void scale(T *x, T by, int n) {
    if ((int)threadIdx.x < n) {
        x[threadIdx.x] *= by;
    }
}

__global__ void add(float *x, const float *y) {
    x[threadIdx.x] += y[threadIdx.x];
}

static float *x, *y, host[N], back[N];
static cudaStream_t stream;

static void CUDART_CB note(void *data) {
    ++*(int *)data;
}

static cudaKernelNodeParams launch_of(void *function, void **values) {
    cudaKernelNodeParams p = {};
    p.func = function;
    p.gridDim = dim3(1);
    p.blockDim = dim3(N);
    p.kernelParams = values;
    return p;
}

static void run(cudaGraph_t graph, int times) {
    cudaGraphExec_t exec;
    OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < times; i++) {
        OK(cudaGraphLaunch(exec, stream));
    }
    OK(cudaStreamSynchronize(stream));
    OK(cudaGraphExecDestroy(exec));
}

static cudaMemcpy3DParms copy_of(void *to, void *from, cudaMemcpyKind kind) {
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(from, sizeof host, N, 1);
    p.dstPtr = make_cudaPitchedPtr(to, sizeof host, N, 1);
    p.extent = make_cudaExtent(sizeof host, 1, 1);
    p.kind = kind;
    return p;
}

/* x = 2 host + y, with y all 0x40400000, which is 3. */
static void all_kinds(void) {
    cudaGraph_t graph, clone;
    cudaGraphNode_t in, fill, twice, sum, out, call, end, same;
    int calls = 0, n = N;
    float two = 2;
    OK(cudaGraphCreate(&graph, 0));
    cudaMemcpy3DParms copy = copy_of(x, host, cudaMemcpyHostToDevice);
    OK(cudaGraphAddMemcpyNode(&in, graph, NULL, 0, &copy));
    cudaMemsetParams set = {};
    set.dst = y;
    set.value = 0x40400000;
    set.elementSize = 4;
    set.width = N;
    set.height = 1;
    OK(cudaGraphAddMemsetNode(&fill, graph, NULL, 0, &set));
    void *scale_values[] = {&x, &two, &n}, *add_values[] = {&x, &y};
    cudaKernelNodeParams p = launch_of((void *)scale<float>, scale_values);
    OK(cudaGraphAddKernelNode(&twice, graph, &in, 1, &p));
    two = 7; /* it was copied */
    p = launch_of(reinterpret_cast<void *>(&add), add_values);
    cudaGraphNode_t both[] = {twice, fill};
    OK(cudaGraphAddKernelNode(&sum, graph, both, 2, &p));
    OK(cudaGraphAddMemcpyNode1D(&out, graph, &sum, 1, back, x, sizeof back,
                                cudaMemcpyDeviceToHost));
    cudaHostNodeParams host_call = {};
    host_call.fn = note;
    host_call.userData = &calls;
    OK(cudaGraphAddHostNode(&call, graph, NULL, 0, &host_call));
    OK(cudaGraphAddEmptyNode(&end, graph, &out, 1));
#if CUDART_VERSION >= 13000
    OK(cudaGraphAddDependencies(graph, &out, &call, NULL, 1));
#else
    OK(cudaGraphAddDependencies(graph, &out, &call, 1));
#endif
    cudaGraphNodeType type;
    OK(cudaGraphNodeGetType(end, &type));
    MUST(type == cudaGraphNodeTypeEmpty);

    OK(cudaGraphClone(&clone, graph));
    OK(cudaGraphNodeFindInClone(&same, sum, clone));
    OK(cudaGraphNodeGetType(same, &type));
    MUST(same != sum && type == cudaGraphNodeTypeKernel);
    for (int i = 0; i < N; i++) {
        host[i] = (float)i;
    }
    run(graph, 2);
    MUST(calls == 2 && back[1] == 5 && back[N - 1] == 2 * (N - 1) + 3);
    OK(cudaGraphDestroy(graph));
    run(clone, 1);
    MUST(calls == 3 && back[1] == 5);
    OK(cudaGraphDestroy(clone));
}

/* The arguments of a captured launch are read, changed and put back. */
static void changes(void) {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t node;
    size_t count = 1;
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    scale<float><<<1, N, 0, stream>>>(x, 3, N);
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphGetNodes(graph, &node, &count));
    cudaKernelNodeParams p;
    OK(cudaGraphKernelNodeGetParams(node, &p));
    MUST(p.func != NULL && p.blockDim.x == N && *(int *)p.kernelParams[2] == N);
    float five = 5;
    int half = N / 2;
    void *values[] = {p.kernelParams[0], &five, &half};
    p.kernelParams = values;
    OK(cudaGraphExecKernelNodeSetParams(exec, node, &p));
    for (int i = 0; i < N; i++) {
        host[i] = 1;
    }
    OK(cudaMemcpyAsync(x, host, sizeof host, cudaMemcpyHostToDevice, stream));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaMemcpyAsync(back, x, sizeof back, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    MUST(back[0] == 5 && back[N - 1] == 1);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
}

/* A graph with one in it, and a node that records an event. */
static void children(void) {
    cudaGraph_t inner, outer, embedded;
    cudaGraphNode_t node, child, record;
    cudaEvent_t event;
    int n = N;
    float by = 2;
    void *values[] = {&x, &by, &n};
    cudaKernelNodeParams p = launch_of((void *)scale<float>, values);
    OK(cudaEventCreate(&event));
    OK(cudaGraphCreate(&inner, 0));
    OK(cudaGraphCreate(&outer, 0));
    OK(cudaGraphAddKernelNode(&node, inner, NULL, 0, &p));
    OK(cudaGraphAddKernelNode(&node, inner, &node, 1, &p));
    OK(cudaGraphAddChildGraphNode(&child, outer, NULL, 0, inner));
    OK(cudaGraphAddEventRecordNode(&record, outer, &child, 1, event));
    OK(cudaGraphAddChildGraphNode(&child, outer, &record, 1, inner));
    OK(cudaGraphChildGraphNodeGetGraph(child, &embedded));
    OK(cudaGraphDestroy(inner));
    MUST(embedded != inner);
    OK(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    run(outer, 1);
    OK(cudaEventSynchronize(event));
    OK(cudaMemcpy(back, x, sizeof back, cudaMemcpyDeviceToHost));
    MUST(back[3] == 16);
    OK(cudaGraphDestroy(outer));
    OK(cudaEventDestroy(event));
}

/* Nodes that nothing orders: on a GPU in any order, in the simulator in that of the schedule. */
struct Turn {
    int number;
    int *seen, *count;
};

static void CUDART_CB take_turn(void *data) {
    Turn *turn = (Turn *)data;
    turn->seen[(*turn->count)++] = turn->number;
}

static void schedule(void) {
    int seen[3], count = 0;
    Turn turns[3] = {{0, seen, &count}, {1, seen, &count}, {2, seen, &count}};
    cudaGraph_t graph;
    cudaGraphNode_t node;
    OK(cudaGraphCreate(&graph, 0));
    for (int i = 0; i < 3; i++) {
        cudaHostNodeParams call = {};
        call.fn = take_turn;
        call.userData = &turns[i];
        OK(cudaGraphAddHostNode(&node, graph, NULL, 0, &call));
    }
    run(graph, 1);
    MUST(count == 3 && seen[0] + seen[1] + seen[2] == 3);
#ifdef CUDASIM
    const char *order = getenv("CUDASIM_SCHED");
    MUST(seen[0] == (order != NULL && strcmp(order, "reverse") == 0 ? 2 : 0) && seen[1] == 1);
#endif
    OK(cudaGraphDestroy(graph));
}

/* A table of kernels, of which a launch knows only the address. */
static void by_address(void) {
    struct {
        const void *kernel;
        float by;
    } table[] = {{(const void *)scale<float>, 2}, {(const void *)&scale<float>, 0.5f}};
    for (int i = 0; i < 2; i++) {
        int n = N;
        void *values[] = {&x, &table[i].by, &n};
        OK(cudaLaunchKernel(table[i].kernel, dim3(1), dim3(N), values, 0, stream));
    }
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1);
    config.blockDim = dim3(N);
    config.stream = stream;
    OK(cudaLaunchKernelEx(&config, scale<float>, x, 3.0f, N));
    float four = 4;
    int n = N;
    void *values[] = {&x, &four, &n};
    OK(cudaLaunchKernelExC(&config, (const void *)scale<float>, values));
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemcpy(back, x, sizeof back, cudaMemcpyDeviceToHost));
    MUST(back[3] == 16 * 12);
}

int main() {
    OK(cudaStreamCreate(&stream));
    OK(cudaMalloc(&x, sizeof host));
    OK(cudaMalloc(&y, sizeof host));
    all_kinds();
    changes();
    children();
    schedule();
    by_address();
    OK(cudaFree(x));
    OK(cudaFree(y));
    OK(cudaStreamDestroy(stream));
    return 0;
}
