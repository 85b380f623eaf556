/* Communicators between processes, right and wrong: the argument says which. Built with MPI=1.

     make cu-build FILE=cudasim/mpi/tests/links.cu MPI=1 OUT=build/mpi/cu/links
     tools/mpirun.sh 4 build/mpi/cu/links right */
#include <mpi.h>
#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 1000 };

static int rank, ranks;
static float *a, *b; /* (ranks * N) device memory */

#define EXPECT(call)                                                                               \
    do {                                                                                           \
        int result = (int)(call);                                                                  \
        if (result != 0) {                                                                         \
            printf("%s:%d: %d\n", __FILE__, __LINE__, result);                                     \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* A communicator of `count` processes, of which this one is rank `mine`; process `maker` makes the
   id. */
static ncclComm_t connect(int count, int mine, int maker, MPI_Comm among) {
    ncclUniqueId id;
    ncclComm_t comm;
    if (rank == maker) {
        EXPECT(ncclGetUniqueId(&id));
    }
    MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, among);
    EXPECT(ncclCommInitRank(&comm, count, id, mine));
    return comm;
}

static void put(float *to, float value) {
    float host[N];
    for (int i = 0; i < N; i++) {
        host[i] = value;
    }
    EXPECT(cudaMemcpy(to, host, sizeof host, cudaMemcpyHostToDevice));
}

static void look(const float *from, float want, int line) {
    float host[N];
    EXPECT(cudaMemcpy(host, from, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) {
        if (host[i] != want) {
            printf("links.cu:%d: rank %d: %g, and not %g\n", line, rank, (double)host[i],
                   (double)want);
            exit(1);
        }
    }
}

/* ---- right ----------------------------------------------------------------------------------- */

/* Even and odd processes, each kind with its own id, and the ranks in the opposite order. */
static void halves(void) {
    MPI_Comm kind;
    int size, mine;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &kind);
    MPI_Comm_size(kind, &size);
    MPI_Comm_rank(kind, &mine);
    ncclComm_t comm = connect(size, size - 1 - mine, rank % 2, kind);
    put(a, (float)rank);
    EXPECT(ncclBroadcast(a, b, N, ncclFloat, 0, comm, 0));
    EXPECT(cudaStreamSynchronize(0));
    look(b, (float)(rank % 2 + 2 * (size - 1)), __LINE__);
    EXPECT(ncclCommDestroy(comm));
}

/* Everyone but the last, in the order of keys; then that part once more in two. */
static void splits(ncclComm_t world) {
    ncclComm_t part, part_of;
    int count, mine;
    EXPECT(ncclCommSplit(world, rank == ranks - 1 ? NCCL_SPLIT_NOCOLOR : 7, -rank, &part, NULL));
    if (part == NULL) {
        return;
    }
    EXPECT(ncclCommCount(part, &count));
    EXPECT(ncclCommUserRank(part, &mine));
    EXPECT(count != ranks - 1 || mine != ranks - 2 - rank);
    EXPECT(ncclCommSplit(part, mine % 2, 0, &part_of, NULL));
    put(a, 1);
    EXPECT(ncclAllReduce(a, a, N, ncclFloat, ncclSum, part_of, 0));
    EXPECT(ncclAllReduce(a, a, N, ncclFloat, ncclSum, part, 0));
    EXPECT(cudaStreamSynchronize(0));
    float even = (float)((count + 1) / 2), odd = (float)(count / 2);
    look(a, even * even + odd * odd, __LINE__);
    EXPECT(ncclCommDestroy(part_of));
    EXPECT(ncclCommDestroy(part));
}

/* Two streams with a communicator each, for which even and odd ranks wait in opposite orders. */
static void streams(ncclComm_t world) {
    ncclComm_t other = connect(ranks, rank, 0, MPI_COMM_WORLD);
    cudaStream_t stream[2];
    for (int i = 0; i < 2; i++) {
        EXPECT(cudaStreamCreate(&stream[i]));
    }
    put(a, 1);
    put(b, 2);
    EXPECT(cudaDeviceSynchronize());
    EXPECT(ncclAllReduce(a, a, N, ncclFloat, ncclSum, world, stream[0]));
    EXPECT(ncclAllReduce(b, b, N, ncclFloat, ncclSum, other, stream[1]));
    EXPECT(cudaStreamSynchronize(stream[rank % 2]));
    EXPECT(cudaStreamSynchronize(stream[1 - rank % 2]));
    look(a, (float)ranks, __LINE__);
    look(b, 2 * (float)ranks, __LINE__);
    EXPECT(ncclCommDestroy(other));
}

/* Rank 0 sends to all in one group; each of the others gets it, and hands it on to the next one
   before that asks rank 0 for its own. */
static void relay(ncclComm_t world) {
    put(a, 5 + (float)rank);
    if (rank == 0) {
        EXPECT(ncclGroupStart());
        for (int to = 1; to < ranks; to++) {
            EXPECT(ncclSend(a, N, ncclFloat, to, world, 0));
        }
        EXPECT(ncclGroupEnd());
    }
    if (rank > 1) {
        EXPECT(ncclRecv(b, N, ncclFloat, rank - 1, world, 0));
        EXPECT(cudaStreamSynchronize(0));
        look(b, 5, __LINE__);
    }
    if (rank > 0) {
        EXPECT(ncclRecv(b + N, N, ncclFloat, 0, world, 0));
    }
    if (rank > 0 && rank + 1 < ranks) {
        EXPECT(ncclSend(b + N, N, ncclFloat, rank + 1, world, 0));
    }
    EXPECT(cudaStreamSynchronize(0));
    if (rank > 0) {
        look(b + N, 5, __LINE__);
    }
}

/* Everyone with everyone, and with itself. */
static void exchange(ncclComm_t world) {
    put(a, (float)rank);
    EXPECT(cudaMemset(b, 0, (size_t)ranks * N * sizeof(float)));
    EXPECT(ncclGroupStart());
    for (int peer = 0; peer < ranks; peer++) {
        EXPECT(ncclSend(a, N, ncclFloat, peer, world, 0));
        EXPECT(ncclRecv(b + (size_t)peer * N, N, ncclFloat, peer, world, 0));
    }
    EXPECT(ncclGroupEnd());
    EXPECT(cudaStreamSynchronize(0));
    for (int peer = 0; peer < ranks; peer++) {
        look(b + (size_t)peer * N, (float)peer, __LINE__);
    }
}

/* ---- wrong ----------------------------------------------------------------------------------- */

static void other_count(ncclComm_t world) {
    if (rank == 1) {
        EXPECT(ncclAllReduce(a, a, N / 2, ncclFloat, ncclSum, world, 0));
    } else {
        EXPECT(ncclAllReduce(a, a, N, ncclFloat, ncclSum, world, 0));
    }
    EXPECT(cudaStreamSynchronize(0));
}

static void other_type(ncclComm_t world) {
    if (rank == 0) {
        EXPECT(ncclSend(a, N, ncclFloat, 1, world, 0));
    } else if (rank == 1) {
        EXPECT(ncclRecv(b, N, ncclInt32, 0, world, 0));
    }
    EXPECT(cudaStreamSynchronize(0));
}

/* Rank 1 has something else to do. */
static void absent(ncclComm_t world) {
    if (rank == 1) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    EXPECT(ncclAllReduce(a, a, N, ncclFloat, ncclSum, world, 0));
    EXPECT(cudaStreamSynchronize(0));
    MPI_Barrier(MPI_COMM_WORLD);
}

static void both_send(ncclComm_t world) {
    EXPECT(ncclSend(a, N, ncclFloat, rank ^ 1, world, 0));
    EXPECT(ncclRecv(b, N, ncclFloat, rank ^ 1, world, 0));
    EXPECT(cudaStreamSynchronize(0));
}

static void wrong_root(ncclComm_t world) {
    EXPECT(ncclBroadcast(a, a, N, ncclFloat, ranks, world, 0));
    EXPECT(cudaStreamSynchronize(0));
}

static void no_wait(ncclComm_t world) {
    EXPECT(ncclAllReduce(a, a, N, ncclFloat, ncclSum, world, 0));
    MPI_Finalize();
    exit(0);
}

static void nobody_joins(void) {
    ncclUniqueId id;
    ncclComm_t comm;
    EXPECT(ncclGetUniqueId(&id)); /* each its own */
    EXPECT(ncclCommInitRank(&comm, ranks, id, rank));
}

static void too_many(void) {
    connect(ranks + 1, rank, 0, MPI_COMM_WORLD);
}

static void several_here(void) {
    ncclComm_t comms[2];
    int devices[] = {0, 0};
    EXPECT(ncclCommInitAll(comms, 2, devices));
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*with)(ncclComm_t world);
        void (*without)(void);
    } cases[] = {{"other-count", other_count, NULL},
                 {"other-type", other_type, NULL},
                 {"absent", absent, NULL},
                 {"both-send", both_send, NULL},
                 {"wrong-root", wrong_root, NULL},
                 {"no-wait", no_wait, NULL},
                 {"nobody-joins", NULL, nobody_joins},
                 {"too-many", NULL, too_many},
                 {"several-here", NULL, several_here}};
    const char *name = argc > 1 ? argv[1] : "right";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    EXPECT(cudaMalloc(&a, (size_t)ranks * N * sizeof(float)));
    EXPECT(cudaMalloc(&b, (size_t)ranks * N * sizeof(float)));
    put(a, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(cases[i].name, name) == 0 && cases[i].without != NULL) {
            cases[i].without();
        } else if (strcmp(cases[i].name, name) == 0) {
            cases[i].with(connect(ranks, rank, 0, MPI_COMM_WORLD));
        }
    }
    if (strcmp(name, "right") == 0) {
        ncclComm_t world = connect(ranks, rank, 0, MPI_COMM_WORLD);
        halves();
        splits(world);
        streams(world);
        relay(world);
        exchange(world);
        EXPECT(ncclCommDestroy(world));
        if (rank == 0) {
            printf("links: %d ranks: good\n", ranks);
        }
    }
    MPI_Finalize();
    return 0;
}
