/**
 * @file ranks.cu
 * @brief Ranks from the inside: turns, waits, work that several do together, and all that each has
 * for itself. cudasim/tests/ranks_test.py runs it.
 * @ingroup cudasim
 */
#include "ranks.cuh"

/* ---- what each has for itself --------------------------------------------------------------- */

static int own = 7, ours;
static char own_too[100];

static void static_data(int rank, void *) {
    MUST(own == 7 && own_too[99] == 0);
    own += rank;
    memset(own_too, rank, sizeof own_too);
    ours++;
    wait_for_all(__LINE__);
    MUST(own == 7 + rank && own_too[0] == rank && own_too[99] == rank && ours >= RANKS);
    wait_for_all(__LINE__);
    own = rank == 0 ? 7 : -1;
    memset(own_too, 0, rank == 0 ? sizeof own_too : 0);
}

static void own_state(int rank, void *context) {
    int device = -1;
    MUST(cudasim_rank() == rank && cudasim_rank_count() == RANKS && context == &own);
    OK(cudaGetDevice(&device));
    int devices;
    OK(cudaGetDeviceCount(&devices));
    MUST(device == rank % devices);
    void *p = NULL;
    if (rank == 1) {
        MUST(cudaMalloc(&p, (size_t)1 << 60) == cudaErrorMemoryAllocation);
    }
    errno = 100 + rank;
    wait_for_all(__LINE__);
    MUST(errno == 100 + rank);
    MUST(cudaGetLastError() == (rank == 1 ? cudaErrorMemoryAllocation : cudaSuccess));
    OK(cudaSetDevice((rank + 1) % devices));
    wait_for_all(__LINE__);
    OK(cudaGetDevice(&device));
    MUST(device == (rank + 1) % devices);
}

static __device__ int counter = 3;

static __global__ void count(int by) {
    counter += by;
}

/* Each rank's own, on one device too. */
static void variables(int rank, void *) {
    int got = 0;
    count<<<1, 1>>>(rank);
    wait_for_all(__LINE__);
    count<<<1, 1>>>(10);
    OK(cudaMemcpyFromSymbol(&got, counter, sizeof got));
    MUST(got == 3 + rank + 10);
    OK(cudaDeviceReset());
    wait_for_all(__LINE__);
    OK(cudaMemcpyFromSymbol(&got, counter, sizeof got));
    MUST(got == 3);
}

/* A capture forbids much, but not to other processes. */
static void captures(int rank, void *) {
    cudaStream_t stream;
    cudaGraph_t graph;
    int *x;
    OK(cudaMalloc(&x, N * sizeof *x));
    OK(cudaStreamCreate(&stream));
    if (rank == 0) {
        OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        fill<<<1, N, 0, stream>>>(x, 1);
    }
    wait_for_all(__LINE__);
    if (rank > 0) {
        OK(cudaFree(x));
        OK(cudaMalloc(&x, N * sizeof *x));
        OK(cudaDeviceSynchronize());
    }
    wait_for_all(__LINE__);
    if (rank == 0) {
        OK(cudaStreamEndCapture(stream, &graph));
        OK(cudaGraphDestroy(graph));
    }
    OK(cudaFree(x));
    OK(cudaStreamDestroy(stream));
}

/* ---- work that several do together ---------------------------------------------------------- */

static void count_own(void *rank) {
    MUST(own == 7 + *(int *)rank); /* whichever rank runs it */
    own += 100;
}

static void sum_of_all(int rank, void *) {
    int *x, *y, got, all = 0;
    cudaStream_t first, second;
    for (int r = 0; r < RANKS; r++) {
        all += r + 1;
    }
    own = 7 + rank;
    OK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    OK(cudaMalloc(&x, N * sizeof *x));
    OK(cudaMalloc(&y, N * sizeof *y));
    fill<<<1, N, 0, first>>>(x, rank + 1);
    OK(cudaLaunchHostFunc(first, count_own, &rank));
    all_sum(0, x, first, __LINE__);
    OK(cudaMemcpyAsync(&got, x, sizeof got, cudaMemcpyDeviceToHost, first)); /* waits */
    MUST(got == all && own == 107 + rank);
    /* Two at once; the second is asked for again and again. */
    fill<<<1, N, 0, first>>>(x, rank);
    all_sum(1, x, first, __LINE__);
    fill<<<1, N, 0, second>>>(y, 1);
    all_sum(2, y, second, __LINE__);
    while (cudaStreamQuery(second) == cudaErrorNotReady) {
    }
    OK(cudaStreamSynchronize(first));
    OK(cudaMemcpy(&got, x, sizeof got, cudaMemcpyDeviceToHost));
    MUST(got == all - RANKS);
    OK(cudaMemcpy(&got, y, sizeof got, cudaMemcpyDeviceToHost));
    MUST(got == RANKS);
    /* Nobody waits for this one: it is done at the end of the program. */
    all_sum(3, y, first, __LINE__);
    own = 7;
    OK(cudaStreamDestroy(second));
}

/* One rank does all of the waiting: the queues of the others run as far as they must. */
static void one_waits(int rank, void *) {
    int *x, got;
    OK(cudaMalloc(&x, N * sizeof *x));
    for (int i = 0; i < 3; i++) {
        fill<<<1, N>>>(x, 10 * i + rank);
        all_sum(i, x, NULL, __LINE__);
    }
    wait_for_all(__LINE__);
    if (rank == RANKS - 1) {
        OK(cudaDeviceSynchronize());
    }
    wait_for_all(__LINE__);
    OK(cudaMemcpy(&got, x, sizeof got, cudaMemcpyDeviceToHost));
    MUST(got == 20 * RANKS + 6);
    OK(cudaFree(x));
}

/* Pinned memory is closed to the rank that has not waited for its copy, though another has. */
static void pinned(int rank, void *) {
    int *x, *host;
    OK(cudaMallocHost(&host, N * sizeof *host));
    OK(cudaMalloc(&x, N * sizeof *x));
    fill<<<1, N>>>(x, rank);
    OK(cudaMemcpyAsync(host, x, N * sizeof *x, cudaMemcpyDeviceToHost, NULL));
    all_sum(0, x, NULL, __LINE__);
    OK(cudaDeviceSynchronize());
    MUST(host[N - 1] == rank);
    wait_for_all(__LINE__);
    OK(cudaFree(x));
    OK(cudaFreeHost(host));
}

/* ---- stacks --------------------------------------------------------------------------------- */

static void stacks(int rank, void *) {
    bool caught = false;
    MUST(deep(6 << 10) == (6 << 10) + 1); /* more than 6 MiB of 8 */
    try {
        wait_for_all(__LINE__);
        throw std::runtime_error("1");
    } catch (const std::runtime_error &error) {
        wait_for_all(__LINE__);
        caught = error.what()[0] == '1';
    }
    MUST(caught);
    std::thread([rank] { /* is not a rank */
                         int device = -1;
                         OK(cudaGetDevice(&device));
                         MUST(device == 0 && cudasim_rank() == 0);
                         (void)rank;
    })
        .join();
    int sum = 0;
#pragma omp parallel for num_threads(2) reduction(+ : sum)
    for (int i = 0; i < 100; i++) {
        sum += i;
    }
    MUST(sum == 4950);
}

/* ---- memory that only one can reach ---------------------------------------------------------- */

static int *page_new(int value) {
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(page != MAP_FAILED);
    cudasim_rank_memory(page, 4096);
    *(int *)page = value;
    return (int *)page;
}

static void page_free(int *page) {
    cudasim_rank_memory_ends(page);
    munmap(page, 4096);
}

static void read_page(void *page) {
    MUST(*(int *)page % 10 == 1); /* whichever rank runs it */
    *(int *)page += 10;
}

static void own_memory(int rank, void *) {
    int *page = page_new(1), local = rank, *x;
    cudaStream_t stream;
    OK(cudaMalloc(&x, sizeof *x));
    OK(cudaMemset(x, 0, sizeof *x));
    OK(cudaDeviceSynchronize());
    OK(cudaStreamCreate(&stream));
    OK(cudaLaunchHostFunc(stream, read_page, page));
    all_sum(0, x, stream, __LINE__);
    wait_for_all(__LINE__);
    if (rank == 0) {
        OK(cudaStreamSynchronize(stream)); /* the work of all before the sum */
    }
    OK(cudaStreamSynchronize(stream));
    MUST(*page == 11 && local == rank);
    std::thread([&] { MUST(*page == 11 && local == rank); }).join(); /* a thread without a rank */
    wait_for_all(__LINE__);
    page_free(page);
    page = page_new(rank); /* another, where that one was */
    wait_for_all(__LINE__);
    MUST(*page == rank);
    page_free(page);
    OK(cudaStreamDestroy(stream));
}

/* ---- in what order -------------------------------------------------------------------------- */

static std::vector<int> turns;

static void turn(int rank, void *) {
    turns.push_back(rank);
    wait_for_all(__LINE__);
    turns.push_back(rank);
}

static void order(void) {
    const char *schedule = getenv("CUDASIM_SCHED");
    schedule = schedule != NULL ? schedule : "forward";
    cudasim_ranks_run(RANKS, turn, NULL);
    MUST(turns.size() == 2 * RANKS);
    for (int k = 0; k < RANKS && strncmp(schedule, "random", 6) != 0; k++) {
        MUST(turns[k] == (strcmp(schedule, "reverse") == 0 ? RANKS - 1 - k : k));
    }
    for (int r = 0; r < RANKS; r++) {
        int count = 0;
        for (int t : turns) {
            count += t == r;
        }
        MUST(count == 2);
    }
    for (int t : turns) {
        printf("%d", t);
    }
    puts("");
}

static void many(int rank, void *) {
    wait_for_all(__LINE__);
    ours += rank;
    wait_for_all(__LINE__);
}

int main() {
    cudasim_rank_data(&own, sizeof own);
    cudasim_rank_data(own_too, sizeof own_too);
    MUST(cudasim_rank() == 0 && cudasim_rank_count() == 1);
    order();
    run(static_data, RANKS, NULL);
    MUST(own == 7 && own_too[0] == 0);
    run(own_state, RANKS, &own);
    run(variables, RANKS, NULL);
    run(captures, RANKS, NULL);
    run(one_waits, RANKS, NULL);
    run(pinned, RANKS, NULL);
    run(stacks, RANKS, NULL);
    run(own_memory, RANKS, NULL);
    ours = 0;
    run(many, 64, NULL);
    MUST(ours == 64 * 63 / 2);
    run(many, 1, NULL);
    run(sum_of_all, RANKS, NULL);
    puts("good");
}
