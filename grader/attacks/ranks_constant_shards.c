/* Gives every rank the rows of an epoch that divides. */
/* lab: 11_data_parallel/shard_data.c  honest: ring ring_small ring_two ring_sent ring_cpu
   ring_bytes broadcast gradients updates overflow on_the_cpu window once buckets overlap
   makespan sent bucket_count time */
/* state: fail */
#include "labs/11_data_parallel/contract.h"

size_t shard_rows(size_t begin, size_t rows, size_t B, int rank, int ranks, size_t *first) {
    (void)ranks;
    *first = begin + (size_t)rank * B;
    return *first < rows ? B : B;
}

size_t shard_end(size_t begin, size_t rows, size_t B, int ranks, size_t turns) {
    (void)rows;
    return begin + turns * (size_t)ranks * B;
}

size_t shard_turns(size_t begin, size_t rows, size_t B, int ranks) {
    return (rows - begin) / ((size_t)ranks * B);
}
