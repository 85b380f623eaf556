#include "tools/nccl/ring.h"

/* A chunk of the array. */
typedef struct Chunk {
    size_t begin, count;
} Chunk;

/* Chunks are counted modulo R: the one before chunk 0 is the last. */
static Chunk chunk_of(int number, int ranks, size_t count) {
    size_t c = (size_t)((number % ranks + ranks) % ranks), R = (size_t)ranks;
    size_t begin = c * (count / R) + c * (count % R) / R;
    size_t end = (c + 1) * (count / R) + (c + 1) * (count % R) / R;
    Chunk chunk = {begin, end - begin};
    return chunk;
}

/* The sum that came from the rank before stands on the left. */
static __global__ void add(float *x, const float *incoming, size_t count) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        x[i] = incoming[i] + x[i];
    }
}

/* Where a rank is in its ring. */
typedef struct Seat {
    int rank, ranks;
} Seat;

static ncclResult_t find_seat(const RingRank *rank, Seat *seat) {
    ncclResult_t result = ncclCommUserRank(rank->comm, &seat->rank);
    return result == ncclSuccess ? ncclCommCount(rank->comm, &seat->ranks) : result;
}

/* One step of a rank: a chunk to the next, and the one before it from the last. */
static ncclResult_t pass(const RingRank *rank, Seat seat, int number, float *to, size_t count) {
    Chunk out = chunk_of(number, seat.ranks, count), in = chunk_of(number - 1, seat.ranks, count);
    int next = (seat.rank + 1) % seat.ranks, last = (seat.rank + seat.ranks - 1) % seat.ranks;
    ncclResult_t result =
        ncclSend(rank->x + out.begin, out.count, ncclFloat, next, rank->comm, rank->stream);
    return result == ncclSuccess ? ncclRecv(to, in.count, ncclFloat, last, rank->comm, rank->stream)
                                 : result;
}

static ncclResult_t add_chunk(const RingRank *rank, Seat seat, int number, size_t count) {
    enum { THREADS = 256 };
    Chunk chunk = chunk_of(number, seat.ranks, count);
    int device;
    ncclResult_t result = ncclCommCuDevice(rank->comm, &device);
    if (result != ncclSuccess || chunk.count == 0) {
        return result;
    }
    if (cudaSetDevice(device) != cudaSuccess) {
        return ncclUnhandledCudaError;
    }
    unsigned blocks = (unsigned)((chunk.count + THREADS - 1) / THREADS);
    add<<<blocks, THREADS, 0, rank->stream>>>(rank->x + chunk.begin, rank->incoming, chunk.count);
    return cudaGetLastError() == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

/* One step of all ranks: `gathering`, sums go round and are stored as they come. */
static ncclResult_t step(const RingRank *rank, int local, size_t count, int number,
                         bool gathering) {
    ncclResult_t result = ncclGroupStart();
    for (int i = 0; i < local && result == ncclSuccess; i++) {
        Seat seat;
        result = find_seat(&rank[i], &seat);
        if (result == ncclSuccess) {
            int chunk = seat.rank + gathering - number;
            Chunk in = chunk_of(chunk - 1, seat.ranks, count);
            float *to = gathering ? rank[i].x + in.begin : rank[i].incoming;
            result = pass(&rank[i], seat, chunk, to, count);
        }
    }
    ncclResult_t ended = ncclGroupEnd();
    result = result == ncclSuccess ? ended : result;
    for (int i = 0; i < local && result == ncclSuccess && !gathering; i++) {
        Seat seat;
        result = find_seat(&rank[i], &seat);
        if (result == ncclSuccess) {
            result = add_chunk(&rank[i], seat, seat.rank - number - 1, count);
        }
    }
    return result;
}

ncclResult_t ring_all_reduce(const RingRank *rank, int local, size_t count) {
    int ranks = 1;
    ncclResult_t result = ncclCommCount(rank->comm, &ranks);
    for (int gathering = 0; gathering <= 1; gathering++) {
        for (int number = 0; number < ranks - 1 && result == ncclSuccess; number++) {
            result = step(rank, local, count, number, gathering);
        }
    }
    return result;
}
