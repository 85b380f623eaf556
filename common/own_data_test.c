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
