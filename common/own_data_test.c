/* The static data of labs' files, in ranks of this process. */
#include "common/own_data.h"

#include <criterion/criterion.h>
#include <cudasim_ranks.h>

#include "common/comm.h"

/* Each rank writes where the two pieces begin, waits for the others, and reads. */
static void write_and_read(int rank, void *context) {
    int *differ = context;
    OwnData piece[OWN_DATA_PIECES];
    Comm *comm = comm_open();
    own_data(piece);
    for (int i = 0; i < OWN_DATA_PIECES; i++) {
        piece[i].begin[0] = (char)(10 * rank + i);
    }
    comm_barrier(comm);
    for (int i = 0; i < OWN_DATA_PIECES; i++) {
        differ[i] += piece[i].begin[0] != (char)(10 * rank + i);
    }
    comm_close(comm);
}

Test(own_data, each_rank_has_a_copy) {
    OwnData piece[OWN_DATA_PIECES];
    int differ[OWN_DATA_PIECES] = {0};
    own_data(piece);
    cr_assert_gt(piece[0].bytes, 0, "no piece that begins with values");
    cr_assert_gt(piece[1].bytes, 0, "no piece that begins as zero");
    cr_assert(own_data_for_ranks());
    cudasim_ranks_run(3, write_and_read, differ);
    cr_assert_eq(differ[0], 0, "values are shared");
    cr_assert_eq(differ[1], 0, "zeros are shared");
}

/* A collective takes it from where it is: while another rank runs, that is not its place. */
static void tell_all(int rank, void *context) {
    enum { MOST = 3 };
    int *differ = context;
    char all[MOST];
    OwnData piece[OWN_DATA_PIECES];
    Comm *comm = comm_open();
    own_data(piece);
    for (int i = 0; i < OWN_DATA_PIECES; i++) {
        piece[i].begin[0] = (char)(10 * rank + i);
        comm_gather(comm, piece[i].begin, 1, all);
        for (int r = 0; r < MOST; r++) {
            differ[i] += all[r] != (char)(10 * r + i);
        }
    }
    comm_close(comm);
}

Test(own_data, a_collective_takes_each_ranks_copy) {
    int differ[OWN_DATA_PIECES] = {0};
    cr_assert(own_data_for_ranks());
    cudasim_ranks_run(3, tell_all, differ);
    cr_assert_eq(differ[0], 0, "values of another rank");
    cr_assert_eq(differ[1], 0, "zeros of another rank");
}
