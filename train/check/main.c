/* ranks-check: what ranks do together, on the CPU and on the GPU. Over MPI each process is a rank;
   else the argument says how many there are in this one.

     build/bin/ranks-check 3
     mpirun -n 3 build/mpi/bin/ranks-check */
#include <stdio.h>
#include <stdlib.h>

#include "train/check/ranks.h"

#if !defined WITH_MPI && !defined BACKEND_CUDA
#include <cudasim_ranks.h>
#endif

static void check(Comm *comm, Device *device) {
    CHECK(device != NULL, "no device");
    if (comm_connect(comm, device) == 0) {
        check_calls(comm, device);
        check_windows(comm, device);
        if (comm_rank(comm) == 0) {
            printf("ranks: %d, %s: good\n", comm_size(comm), device->name);
        }
    }
    comm_disconnect(comm);
    device_free(device);
}

static void rank(int number, void *context) {
    (void)number, (void)context;
    Comm *comm = comm_open();
    check(comm, device_cpu_new(64 << 20));
    comm_choose_gpu(comm);
    check(comm, device_gpu_new(ops_gpu));
    comm_close(comm);
}

int main(int argc, char **argv) {
    int ranks = argc > 1 ? atoi(argv[1]) : 1;
    if (ranks < 1) {
        fprintf(stderr, "ranks-check: how many ranks?\n");
        return 2;
    }
#if !defined WITH_MPI && !defined BACKEND_CUDA
    return cudasim_ranks_run(ranks, rank, NULL);
#else
    rank(0, NULL);
    return 0;
#endif
}
