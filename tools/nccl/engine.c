#include "tools/nccl/engine.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef WITH_MPI
#include <mpi.h>
#endif

void engine_check(int status, const char *call, const char *file, int line) {
    if (status != 0) {
        fprintf(stderr, "%s:%d: %s: status %d\n", file, line, call, status);
        exit(1);
    }
}

#ifdef WITH_MPI

static int rank_of_process(void) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

void engine_begin(int *argc, char ***argv) {
    MPI_Init(argc, argv);
}

_Noreturn void engine_end(int status) {
    int all;
    MPI_Allreduce(&status, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    exit(all);
}

/* All processes have a part in a communicator. */
void engine_ranks(int *least, int *most) {
    MPI_Comm_size(MPI_COMM_WORLD, least);
    *most = *least;
}

bool engine_speaks(void) {
    return rank_of_process() == 0;
}

static void init(LocalRanks *engine) {
    ncclUniqueId id;
    engine->first = rank_of_process();
    engine->local = 1;
    if (engine->first == 0) {
        CALL(ncclGetUniqueId(&id));
    }
    MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
    engine->comm = calloc(1, sizeof *engine->comm);
    CALL(ncclCommInitRank(engine->comm, engine->ranks, id, engine->first));
}

#else

void engine_begin(int *argc, char ***argv) {
    (void)argc, (void)argv;
}

_Noreturn void engine_end(int status) {
    exit(status);
}

void engine_ranks(int *least, int *most) {
    *least = 1;
    CALL(cudaGetDeviceCount(most));
    *most = *most < 8 ? *most : 8;
}

bool engine_speaks(void) {
    return true;
}

static void init(LocalRanks *engine) {
    engine->first = 0;
    engine->local = engine->ranks;
    engine->comm = calloc((size_t)engine->ranks, sizeof *engine->comm);
    CALL(ncclCommInitAll(engine->comm, engine->ranks, NULL));
}

#endif

LocalRanks engine_open(int ranks) {
    LocalRanks engine = {.ranks = ranks};
    init(&engine);
    engine.stream = calloc((size_t)engine.local, sizeof *engine.stream);
    for (int i = 0; i < engine.local; i++) {
        engine_choose(&engine, i);
        CALL(cudaStreamCreateWithFlags(&engine.stream[i], cudaStreamNonBlocking));
    }
    return engine;
}

void engine_choose(const LocalRanks *engine, int i) {
    int device;
    CALL(ncclCommCuDevice(engine->comm[i], &device));
    CALL(cudaSetDevice(device));
}

void engine_wait(const LocalRanks *engine) {
    for (int i = 0; i < engine->local; i++) {
        CALL(cudaStreamSynchronize(engine->stream[i]));
    }
}

void engine_close(LocalRanks *engine) {
    for (int i = 0; i < engine->local; i++) {
        engine_choose(engine, i);
        CALL(cudaStreamDestroy(engine->stream[i]));
        CALL(ncclCommDestroy(engine->comm[i]));
    }
    free(engine->stream);
    free(engine->comm);
}
