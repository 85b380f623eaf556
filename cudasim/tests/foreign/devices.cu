/* Several devices: which there are and which is current, memory, streams and events of each, copies
   between them, peer access, errors. devices: 4 */
#include <cuda_runtime.h>

#include <cublas_v2.h>

#include <string.h>

#include <thread>

#include "check.cuh"

enum { N = 256, DEVICES = 4 };

static __global__ void fill(int *x, int value) {
    x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

static __global__ void add(int *to, const int *from) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    to[i] += from[i];
}

static __global__ void add_through(int *to, const int *const *from) {
    to[threadIdx.x] += (*from)[threadIdx.x];
}

static int *take(int device, int value) {
    int *x;
    OK(cudaSetDevice(device));
    OK(cudaMalloc(&x, N * sizeof *x));
    fill<<<2, N / 2>>>(x, value);
    OK(cudaGetLastError());
    return x;
}

static int last_of(const int *x) {
    int value = -1;
    OK(cudaMemcpy(&value, x + N - 1, sizeof value, cudaMemcpyDefault));
    return value;
}

/* ---- what there is --------------------------------------------------------------------------- */

static void numbers(void) {
    int count, device = -1, bus;
    cudaDeviceProp properties;
    char name[20];
    OK(cudaGetDeviceCount(&count));
    MUST(count == DEVICES);
    OK(cudaGetDevice(&device));
    MUST(device == 0);
    for (int d = 0; d < count; d++) {
        OK(cudaGetDeviceProperties(&properties, d));
        OK(cudaDeviceGetAttribute(&bus, cudaDevAttrPciBusId, d));
        MUST(properties.pciBusID == bus);
        OK(cudaDeviceGetPCIBusId(name, sizeof name, d));
        OK(cudaDeviceGetByPCIBusId(&device, name));
        MUST(device == d);
        OK(cudaSetDevice(d));
        OK(cudaGetDevice(&device));
        MUST(device == d);
    }
    MUST(cudaSetDevice(count) == cudaErrorInvalidDevice);
    MUST(cudaSetDevice(-1) == cudaErrorInvalidDevice);
    MUST(cudaGetLastError() == cudaErrorInvalidDevice);
    MUST(cudaGetDeviceProperties(&properties, count) == cudaErrorInvalidDevice);
    MUST(cudaDeviceGetAttribute(&bus, cudaDevAttrPciBusId, count) == cudaErrorInvalidDevice);
    OK(cudaGetDevice(&device));
    MUST(device == count - 1);
    cudaGetLastError();
}

/* A new thread begins with device 0. */
static void threads(void) {
    OK(cudaSetDevice(2));
    std::thread([] {
        int device = -1;
        OK(cudaGetDevice(&device));
        MUST(device == 0);
        OK(cudaSetDevice(1));
    }).join();
    int device = -1;
    OK(cudaGetDevice(&device));
    MUST(device == 2);
}

static void limits(void) {
    size_t first, second;
    unsigned flags;
    OK(cudaSetDevice(0));
    OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 3 << 20));
    OK(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
    OK(cudaSetDevice(1));
    OK(cudaDeviceGetLimit(&second, cudaLimitMallocHeapSize));
    OK(cudaGetDeviceFlags(&flags));
    MUST(second == 8 << 20 && flags == 0);
    OK(cudaSetDevice(0));
    OK(cudaDeviceGetLimit(&first, cudaLimitMallocHeapSize));
    MUST(first == 3 << 20);
    OK(cudaDeviceReset());
    OK(cudaDeviceGetLimit(&first, cudaLimitMallocHeapSize));
    MUST(first == second);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void memory(void) {
    size_t before[2], after[2], total;
    cudaPointerAttributes attributes;
    for (int d = 0; d < 2; d++) {
        OK(cudaSetDevice(d));
        OK(cudaMemGetInfo(&before[d], &total));
    }
    int *x = take(1, 7);
    for (int d = 0; d < 2; d++) {
        OK(cudaSetDevice(d));
        OK(cudaMemGetInfo(&after[d], &total));
    }
    MUST(after[0] == before[0] && after[1] < before[1]);
    OK(cudaPointerGetAttributes(&attributes, x));
    MUST(attributes.device == 1 && attributes.type == cudaMemoryTypeDevice);
    OK(cudaSetDevice(0));
    OK(cudaFree(x)); /* whichever device is current */
    OK(cudaSetDevice(1));
    OK(cudaMemGetInfo(&after[1], &total));
    MUST(after[1] == before[1]);
    x = take(1, 7);
    OK(cudaDeviceReset());
    OK(cudaMemGetInfo(&after[1], &total));
    MUST(after[1] == before[1]);
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* Without peer access a copy goes through the host. In a default stream it waits for both devices,
   and both wait for it. */
static void copies(void) {
    int *a = take(0, 1), *b = take(1, 2);
    cudaStream_t blocking;
    OK(cudaStreamCreate(&blocking)); /* of device 1 */
    fill<<<2, N / 2, 0, blocking>>>(b, 3);
    OK(cudaSetDevice(0));
    OK(cudaMemcpyPeer(a, 0, b, 1, N * sizeof *a));
    OK(cudaSetDevice(1));
    fill<<<2, N / 2, 0, blocking>>>(b, 4);
    OK(cudaDeviceSynchronize());
    MUST(last_of(a) == 3 && last_of(b) == 4);

    OK(cudaMemcpy(a, b, N * sizeof *a, cudaMemcpyDefault));
    OK(cudaDeviceSynchronize());
    MUST(last_of(a) == 4);
    int host = 0;
    OK(cudaMemcpy(&host, a, sizeof host, cudaMemcpyDeviceToHost)); /* of another device */
    MUST(host == 4);
    OK(cudaMemcpyAsync(a, b, N * sizeof *a, cudaMemcpyDeviceToDevice, blocking));
    OK(cudaMemcpyPeerAsync(a, 0, b, 1, N * sizeof *a, blocking));
    OK(cudaMemcpyPeerAsync(a, 0, b, 1, N * sizeof *a)); /* in the default stream */
    OK(cudaStreamSynchronize(blocking));
    MUST(cudaMemcpyPeer(a, 0, b, DEVICES, N * sizeof *a) == cudaErrorInvalidDevice);
    cudaGetLastError();
    OK(cudaStreamDestroy(blocking));
    OK(cudaFree(a));
    OK(cudaFree(b));
}

static void peers(void) {
    int *a = take(0, 1), *b = take(1, 2), can = -1, **box;
    OK(cudaDeviceCanAccessPeer(&can, 0, 0));
    MUST(can == 0);
    OK(cudaDeviceCanAccessPeer(&can, 0, 1));
    MUST(can == 1);
    MUST(cudaDeviceCanAccessPeer(&can, 0, DEVICES) == cudaErrorInvalidDevice);
    OK(cudaDeviceSynchronize());
    OK(cudaSetDevice(0));
    MUST(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorInvalidDevice);
    MUST(cudaDeviceEnablePeerAccess(1, 1) == cudaErrorInvalidValue);
    MUST(cudaDeviceDisablePeerAccess(1) == cudaErrorPeerAccessNotEnabled);
    OK(cudaDeviceEnablePeerAccess(1, 0));
    MUST(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorPeerAccessAlreadyEnabled);
    MUST(cudaGetLastError() == cudaErrorPeerAccessAlreadyEnabled);
    add<<<2, N / 2>>>(a, b);
    OK(cudaMalloc(&box, sizeof *box));
    OK(cudaMemcpy(box, &b, sizeof b, cudaMemcpyHostToDevice));
    add_through<<<1, N>>>(a, box);
    OK(cudaDeviceSynchronize());
    MUST(last_of(a) == 5);
    OK(cudaDeviceDisablePeerAccess(1));
    OK(cudaFree(box));
    OK(cudaFree(a));
    OK(cudaFree(b));
}

/* Memory of a pool has an access of its own. */
static void pool_access(void) {
    cudaMemPool_t pool;
    cudaMemAccessFlags flags;
    cudaStream_t stream;
    int *x, *y = take(2, 5);
    OK(cudaDeviceSynchronize());
    OK(cudaSetDevice(3));
    OK(cudaDeviceGetDefaultMemPool(&pool, 3));
    cudaMemAccessDesc access = {};
    access.location.type = cudaMemLocationTypeDevice;
    access.location.id = 2;
    OK(cudaMemPoolGetAccess(&flags, pool, &access.location));
    MUST(flags == cudaMemAccessFlagsProtNone);
    access.flags = cudaMemAccessFlagsProtReadWrite;
    OK(cudaMemPoolSetAccess(pool, &access, 1));
    OK(cudaStreamCreate(&stream));
    OK(cudaMallocAsync(&x, N * sizeof *x, stream));
    fill<<<1, N, 0, stream>>>(x, 6);
    OK(cudaStreamSynchronize(stream));
    OK(cudaSetDevice(2));
    add<<<1, N>>>(y, x);
    OK(cudaDeviceSynchronize());
    MUST(last_of(y) == 11);
    OK(cudaFreeAsync(x, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(y));
}

/* ---- streams and events ---------------------------------------------------------------------- */

/* A stream of one device waits for an event of another. */
static void waits(void) {
    int *a = take(0, 1), *b = take(1, 2);
    cudaStream_t s, t;
    cudaEvent_t filled, again;
    OK(cudaDeviceSynchronize());
    OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    OK(cudaEventCreate(&filled));
    fill<<<1, N, 0, t>>>(b, 9);
    OK(cudaEventRecord(filled, t));
    OK(cudaSetDevice(0));
    OK(cudaDeviceSynchronize());
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaStreamWaitEvent(s, filled, 0));
    OK(cudaMemcpyPeerAsync(a, 0, b, 1, N * sizeof *a, s));
    OK(cudaEventCreate(&again));
    OK(cudaEventRecord(again, s));
    OK(cudaEventSynchronize(again)); /* whichever device is current */
    OK(cudaSetDevice(2));
    OK(cudaEventSynchronize(again));
    while (cudaEventQuery(filled) == cudaErrorNotReady) {
    }
    MUST(last_of(a) == 9);
    OK(cudaMemsetAsync(a, 0, N * sizeof *a, s)); /* only a launch needs the stream's device */
    OK(cudaStreamSynchronize(s));
    MUST(last_of(a) == 0);
    OK(cudaEventDestroy(again));
    OK(cudaEventDestroy(filled));
    OK(cudaStreamDestroy(s));
    OK(cudaStreamDestroy(t));
    OK(cudaFree(a));
    OK(cudaFree(b));
}

/* A graph whose nodes run on two devices. */
static void graphs(void) {
    int *a = take(0, 1), *b = take(1, 2);
    OK(cudaDeviceSynchronize());
    OK(cudaSetDevice(0));
    OK(cudaDeviceSynchronize());
    OK(cudaDeviceEnablePeerAccess(1, 0));
    cudaStream_t s, t;
    cudaEvent_t forked, joined;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    OK(cudaStreamCreate(&s));
    OK(cudaEventCreate(&forked));
    OK(cudaSetDevice(1));
    OK(cudaStreamCreate(&t));
    OK(cudaEventCreate(&joined));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    OK(cudaEventRecord(forked, s));
    OK(cudaStreamWaitEvent(t, forked, 0));
    fill<<<1, N, 0, t>>>(b, 4);
    OK(cudaEventRecord(joined, t));
    OK(cudaSetDevice(0));
    fill<<<1, N, 0, s>>>(a, 3);
    OK(cudaStreamWaitEvent(s, joined, 0));
    add<<<1, N, 0, s>>>(a, b);
    OK(cudaStreamEndCapture(s, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; i++) {
        OK(cudaGraphLaunch(exec, s));
    }
    OK(cudaStreamSynchronize(s));
    MUST(last_of(a) == 7 && last_of(b) == 4);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaDeviceDisablePeerAccess(1));
    OK(cudaStreamDestroy(s));
    OK(cudaStreamDestroy(t));
    OK(cudaEventDestroy(forked));
    OK(cudaEventDestroy(joined));
    OK(cudaFree(a));
    OK(cudaFree(b));
}

/* Only the current device is waited for, and a default stream orders its own device alone. */
static void default_streams(void) {
    int *a = take(0, 1), *b = take(1, 2);
    cudaEvent_t done;
    OK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    OK(cudaEventRecord(done)); /* device 1's default stream */
    OK(cudaSetDevice(0));
    OK(cudaDeviceSynchronize());
    MUST(last_of(a) == 1);
    OK(cudaEventSynchronize(done));
    MUST(last_of(b) == 2);
    OK(cudaEventDestroy(done));
    OK(cudaFree(a));
    OK(cudaFree(b));
}

/* Memory that all devices can use. */
static void host_memory(void) {
    int *pinned, *managed, *b = take(1, 2);
    OK(cudaDeviceSynchronize());
    OK(cudaSetDevice(0));
    OK(cudaMallocHost(&pinned, N * sizeof *pinned));
    OK(cudaMallocManaged(&managed, N * sizeof *managed));
    for (int i = 0; i < N; i++) {
        pinned[i] = 5;
        managed[i] = 6;
    }
    OK(cudaSetDevice(1));
    add<<<1, N>>>(b, pinned);
    add<<<1, N>>>(b, managed);
    OK(cudaDeviceSynchronize());
    MUST(last_of(b) == 13);
    OK(cudaFreeHost(pinned));
    OK(cudaFree(managed));
    OK(cudaFree(b));
}

static void products(void) {
    float one = 1, zero = 0, *x[2], got = 0;
    for (int d = 0; d < 2; d++) {
        cublasHandle_t handle;
        OK(cudaSetDevice(d));
        OK(cudaMalloc(&x[d], 4 * sizeof(float)));
        OK(cudaMemset(x[d], 0, 4 * sizeof(float)));
        MUST(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS);
        OK(cudaMemcpy(x[d], &one, sizeof one, cudaMemcpyHostToDevice));
        MUST(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, x[d], 1, x[d], 1, &zero,
                         x[d] + 1, 1) == CUBLAS_STATUS_SUCCESS);
        OK(cudaMemcpy(&got, x[d] + 1, sizeof got, cudaMemcpyDeviceToHost));
        MUST(got == 1);
        MUST(cublasDestroy(handle) == CUBLAS_STATUS_SUCCESS);
        OK(cudaFree(x[d]));
    }
}

int main() {
    numbers();
    threads();
    limits();
    memory();
    copies();
    peers();
    pool_access();
    waits();
    graphs();
    default_streams();
    host_memory();
    products();
    for (int d = 0; d < DEVICES; d++) {
        OK(cudaSetDevice(d));
        OK(cudaDeviceSynchronize());
    }
    puts("good");
}
