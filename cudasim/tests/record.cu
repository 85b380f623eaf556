/* Could these two overlap? Small programs of streams, of which it is known; and in all of them the
   clocks of the record say what its predecessors say. */
#include <string.h>

#include "cudasim_record.h"
#include "foreign/check.cuh"

enum { N = 64, BYTES = N * sizeof(float) };

static __global__ void one(float *x) {
    x[threadIdx.x] = 1;
}

static __global__ void other(float *x) {
    x[threadIdx.x] = 2;
}

static __global__ void third(float *x) {
    x[threadIdx.x] = 3;
}

static float *x, *y, *z, *pinned, pageable[N];
static cudaStream_t s1, s2, s3, free1, free2; /* free: not ordered with the default stream */
static cudaEvent_t event, event2;

static void one_in(cudaStream_t stream) {
    one<<<1, N, 0, stream>>>(x);
}

static void other_in(cudaStream_t stream) {
    other<<<1, N, 0, stream>>>(y);
}

static void third_in(cudaStream_t stream) {
    third<<<1, N, 0, stream>>>(z);
}

static void order(cudaStream_t first, cudaStream_t second) {
    OK(cudaEventRecord(event, first));
    OK(cudaStreamWaitEvent(second, event, 0));
}

/* ---- they may -------------------------------------------------------------------------------- */

static void two_streams() {
    one_in(s1);
    other_in(s2);
}

static void free_stream_and_default() {
    one_in(free1);
    other_in(0);
}

static void free_streams_around_default() {
    one_in(free1);
    third_in(0);
    other_in(free2);
}

static void event_recorded_too_early() {
    OK(cudaEventRecord(event, s1));
    one_in(s1);
    OK(cudaStreamWaitEvent(s2, event, 0));
    other_in(s2);
}

static void event_recorded_again_after_the_wait() {
    third_in(s1);
    order(s1, s2);
    one_in(s1);
    OK(cudaEventRecord(event, s1));
    other_in(s2);
}

static void another_stream_waits() {
    one_in(s1);
    order(s1, s3);
    other_in(s2);
}

static void host_waits_for_another_stream() {
    one_in(s1);
    third_in(s2);
    OK(cudaStreamSynchronize(s2));
    other_in(s2);
}

static void both_after_a_third() {
    third_in(s1);
    order(s1, s2);
    one_in(s1);
    other_in(s2);
}

static void begin_graph() {
    OK(cudaStreamBeginCapture(s1, cudaStreamCaptureModeGlobal));
}

static void launch_graph(cudaStream_t stream) {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    OK(cudaStreamEndCapture(s1, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
}

static void branches_of_a_graph() {
    begin_graph();
    order(s1, s2);
    one_in(s1);
    other_in(s2);
    order(s2, s1);
    launch_graph(s1);
}

static void graph_and_another_stream() {
    begin_graph();
    one_in(s1);
    launch_graph(s1);
    other_in(s2);
}

static void event_never_recorded() {
    cudaEvent_t fresh;
    OK(cudaEventCreate(&fresh));
    one_in(s1);
    OK(cudaStreamWaitEvent(s2, fresh, 0));
    other_in(s2);
    OK(cudaEventDestroy(fresh));
}

static void pageable_copy_to_device() {
    one_in(s1);
    OK(cudaMemcpyAsync(z, pageable, BYTES, cudaMemcpyHostToDevice, s1));
    other_in(s2);
}

/* ---- they cannot ----------------------------------------------------------------------------- */

static void one_stream() {
    one_in(s1);
    other_in(s1);
}

static void event_between() {
    one_in(s1);
    order(s1, s2);
    other_in(s2);
}

static void default_between() {
    one_in(s1);
    third_in(0);
    other_in(s2);
}

static void default_after() {
    one_in(s1);
    other_in(0);
}

static void event_recorded_again_before_the_wait() {
    OK(cudaEventRecord(event, s1));
    one_in(s1);
    order(s1, s2);
    other_in(s2);
}

static void three_streams() {
    one_in(s1);
    order(s1, s2);
    third_in(s2);
    OK(cudaEventRecord(event2, s2));
    OK(cudaStreamWaitEvent(s3, event2, 0));
    other_in(s3);
}

static void host_waits_for_the_stream() {
    one_in(s1);
    OK(cudaStreamSynchronize(s1));
    other_in(s2);
}

static void host_waits_for_the_event() {
    one_in(free1);
    OK(cudaEventRecord(event, free1));
    third_in(free1);
    OK(cudaEventSynchronize(event));
    other_in(free2);
}

static void host_waits_for_all() {
    one_in(free1);
    OK(cudaDeviceSynchronize());
    other_in(free2);
}

static void freed_between() {
    float *some;
    OK(cudaMalloc(&some, BYTES));
    one_in(free1);
    OK(cudaFree(some));
    other_in(free2);
}

static void copy_that_waits() {
    one_in(s1);
    OK(cudaMemcpy(pageable, z, BYTES, cudaMemcpyDeviceToHost));
    other_in(free1);
}

static void pageable_copy_to_host() {
    one_in(free1);
    OK(cudaMemcpyAsync(pageable, z, BYTES, cudaMemcpyDeviceToHost, free1));
    other_in(free2);
}

static void after_a_graph() {
    begin_graph();
    one_in(s1);
    launch_graph(s2);
    other_in(s2);
}

static void path_in_a_graph() {
    begin_graph();
    one_in(s1);
    order(s1, s2);
    other_in(s2);
    order(s2, s1);
    launch_graph(free1);
}

/* ---- what the record says -------------------------------------------------------------------- */

static int problems;

static uint64_t find(const char *name, uint64_t from) {
    for (uint64_t id = from; cudasim_entry(id) != NULL; id++) {
        if (strcmp(cudasim_entry(id)->name, name) == 0) {
            return id;
        }
    }
    fprintf(stderr, "no entry %s\n", name);
    exit(1);
}

static void try_one(const char *name, void (*program)(), bool may) {
    uint64_t from = cudasim_record().count + 1;
    program();
    bool got = cudasim_may_overlap(find("one", from), find("other", from));
    if (got != may || cudasim_may_overlap(find("other", from), find("one", from)) != may) {
        fprintf(stderr, "%s: they %s overlap, the record says\n", name, got ? "may" : "cannot");
        problems++;
    }
    OK(cudaDeviceSynchronize());
}

#define MAY(program) try_one(#program, program, true)
#define CANNOT(program) try_one(#program, program, false)

/* before[j * n + i]: entry i comes before entry j, by the predecessors. */
static void check_predecessors() {
    CudasimRecord record = cudasim_record();
    size_t n = record.count;
    bool *before = (bool *)calloc(n * n, 1);
    for (size_t j = 0; j < n; j++) {
        const CudasimEntry *e = &record.entry[j];
        for (int k = 0; k < e->after_count; k++) {
            size_t p = e->after[k] - 1;
            before[j * n + p] = true;
            for (size_t i = 0; i < p; i++) {
                before[j * n + i] |= before[p * n + i];
            }
        }
        for (size_t i = 0; i < j; i++) {
            if (cudasim_may_overlap(i + 1, j + 1) == before[j * n + i]) {
                fprintf(stderr, "entries %zu (%s) and %zu (%s): clocks and predecessors differ\n",
                        i + 1, record.entry[i].name, j + 1, e->name);
                problems++;
            }
        }
    }
    free(before);
    printf("%zu entries\n", n);
}

static void check_entries() {
    uint64_t from = cudasim_record().count + 1;
    one_in(s1);
    OK(cudaMemcpyAsync(z, pinned, BYTES, cudaMemcpyHostToDevice, s2));
    OK(cudaMemsetAsync(y, 0, BYTES, s3));
    order(s1, s3);
    const CudasimEntry *copy = cudasim_entry(find("cudaMemcpyAsync", from));
    const CudasimEntry *fill = cudasim_entry(find("cudaMemsetAsync", from));
    const CudasimEntry *kernel = cudasim_entry(find("one", from));
    const CudasimEntry *wait = cudasim_entry(find("cudaStreamWaitEvent", from));
    const CudasimEntry *record = cudasim_entry(find("cudaEventRecord", from));
    if (wait->kind != CUDASIM_WAIT || record->kind != CUDASIM_EVENT || wait->after_count != 2 ||
        wait->after[0] != fill->id || wait->after[1] != record->id) {
        fprintf(stderr, "a wait is not after its event and the stream's last entry\n");
        problems++;
    }
    if (!cudasim_may_overlap(kernel->id, copy->id) || !cudasim_may_overlap(fill->id, copy->id) ||
        copy->bytes != BYTES || copy->way != CUDASIM_TO_DEVICE || fill->bytes != BYTES ||
        kernel->block[0] != N || kernel->grid[0] != 1) {
        fprintf(stderr, "a copy, a fill or a launch is not what was asked for\n");
        problems++;
    }
    OK(cudaDeviceSynchronize());
}

static void check_notes() {
    uint64_t from = cudasim_record().count + 1;
    cudasim_note("noted", 100, 200);
    one_in(s1);
    other_in(s1);
    cudasim_op_begin("op", 300, 400, CUDASIM_F16);
    one_in(s1);
    other_in(s1);
    cudasim_op_end();
    third_in(s1);
    const CudasimEntry *e = cudasim_entry(from);
    bool good = strcmp(e[0].op, "noted") == 0 && e[0].flops == 100 && e[0].bytes == 200 &&
                e[1].op == NULL && strcmp(e[2].op, "op") == 0 && e[2].flops == 300 &&
                e[2].precision == CUDASIM_F16 && strcmp(e[3].op, "op") == 0 && e[3].flops == 0 &&
                e[3].bytes == 0 && e[4].op == NULL;
    if (!good) {
        fprintf(stderr, "notes are not where they belong\n");
        problems++;
    }
    OK(cudaDeviceSynchronize());
}

int main(void) {
    cudasim_record_begin();
    OK(cudaMalloc(&x, BYTES));
    OK(cudaMalloc(&y, BYTES));
    OK(cudaMalloc(&z, BYTES));
    OK(cudaMallocHost(&pinned, BYTES));
    OK(cudaMemset(z, 0, BYTES));
    OK(cudaStreamCreate(&s1));
    OK(cudaStreamCreate(&s2));
    OK(cudaStreamCreate(&s3));
    OK(cudaStreamCreateWithFlags(&free1, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&free2, cudaStreamNonBlocking));
    OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    OK(cudaEventCreateWithFlags(&event2, cudaEventDisableTiming));
    OK(cudaDeviceSynchronize());

    MAY(two_streams);
    MAY(free_stream_and_default);
    MAY(free_streams_around_default);
    MAY(event_recorded_too_early);
    MAY(event_recorded_again_after_the_wait);
    MAY(another_stream_waits);
    MAY(host_waits_for_another_stream);
    MAY(both_after_a_third);
    MAY(branches_of_a_graph);
    MAY(graph_and_another_stream);
    MAY(event_never_recorded);
    MAY(pageable_copy_to_device);

    CANNOT(one_stream);
    CANNOT(event_between);
    CANNOT(default_between);
    CANNOT(default_after);
    CANNOT(event_recorded_again_before_the_wait);
    CANNOT(three_streams);
    CANNOT(host_waits_for_the_stream);
    CANNOT(host_waits_for_the_event);
    CANNOT(host_waits_for_all);
    CANNOT(freed_between);
    CANNOT(copy_that_waits);
    CANNOT(pageable_copy_to_host);
    CANNOT(after_a_graph);
    CANNOT(path_in_a_graph);

    check_entries();
    check_notes();
    check_predecessors();
    return problems > 0;
}
