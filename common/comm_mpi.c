/* Ranks that are processes, started by mpirun. The contract is in comm.h and comm_inside.h. */
#ifdef WITH_MPI
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/comm_inside.h"
#include "common/lab.h"

/* The processes of mpirun, apart from the messages of others. */
static MPI_Comm processes(const Comm *comm) {
    return *(const MPI_Comm *)comm->world;
}

void world_begin(Comm *comm) {
    int begun, level;
    MPI_Comm host, *world = malloc(sizeof *world);
    CHECK(world != NULL, "no memory for a few bytes");
    MPI_Initialized(&begun);
    if (!begun) {
        MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, world);
    MPI_Comm_rank(*world, &comm->rank);
    MPI_Comm_size(*world, &comm->size);
    MPI_Comm_split_type(*world, MPI_COMM_TYPE_SHARED, comm->rank, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &comm->local_rank);
    MPI_Comm_free(&host);
    comm->world = world;
}

void world_end(Comm *comm) {
    MPI_Comm_free(comm->world);
    free(comm->world);
    MPI_Finalize();
}

/* mpirun ends all others when one has ended without MPI_Finalize. MPI_Abort does that too, with a
   page of its own words. */
void comm_abandon(const Comm *comm, int status) {
    (void)comm;
    fflush(NULL);
    _Exit(status);
}

/* Asked again and again, and not waited for: there may be more ranks than cores, and a rank may
   have gone. */
static void wait_for_all(const Comm *comm, MPI_Request *request) {
    double began = MPI_Wtime();
    for (int done = 0; MPI_Test(request, &done, MPI_STATUS_IGNORE), !done;) {
        double waited = MPI_Wtime() - began;
        if (comm->timeout > 0 && waited > comm->timeout) {
            fprintf(stderr,
                    "rank %d has waited %d seconds for the others: one of them does not "
                    "go on\n",
                    comm->rank, comm->timeout);
            comm_abandon(comm, EXIT_RUN);
        }
        struct timespec moment = {.tv_nsec = waited < 1e-3 ? 0 : 100000};
        nanosleep(&moment, NULL);
    }
}

void comm_gather(Comm *comm, const void *mine, size_t bytes, void *all) {
    MPI_Request request;
    MPI_Iallgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, processes(comm),
                   &request);
    wait_for_all(comm, &request);
}
#endif
