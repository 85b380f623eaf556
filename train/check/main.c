/* ranks-check: what ranks do together, on the CPU and on the GPU. Over MPI each process is a rank;
   else the argument says how many there are in this one.

     build/bin/ranks-check 3
     mpirun -n 3 build/mpi/bin/ranks-check
     mpirun -n 3 build/mpi/bin/ranks-check differ      # ends with a line: so does drift */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    (void)number;
    const char *wrong = context;
    Comm *comm = comm_open();
    if (wrong != NULL) {
        Device *device = device_cpu_new(64 << 20);
        CHECK(device != NULL && comm_connect(comm, device) == 0, "no device");
        check_drift(comm, device, strcmp(wrong, "drift") == 0);
    }
    check(comm, device_cpu_new(64 << 20));
    comm_choose_gpu(comm);
    check(comm, device_gpu_new(ops_gpu));
    comm_close(comm);
}

int main(int argc, char **argv) {
    char *last = argv[argc - 1];
    char *wrong = strcmp(last, "drift") == 0 || strcmp(last, "differ") == 0 ? last : NULL;
#if !defined WITH_MPI && !defined BACKEND_CUDA
    int ranks = argc > 1 ? atoi(argv[1]) : 0;
    if (ranks < 1 || ranks > 64) {
        fprintf(stderr, "ranks-check: how many ranks? 1 to 64\n");
        return 2;
    }
    return cudasim_ranks_run(ranks, rank, wrong);
#else
    rank(0, wrong);
    return 0;
#endif
}
