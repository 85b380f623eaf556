/* The heap of each rank. */
#include "grader/rank_heap.h"

#include <criterion/criterion.h>
#include <cudasim_ranks.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>

#include "common/comm.h"
#include "common/lab.h"
#include "common/testkit/ending.h"

enum { RANKS = 3, CUDASIM_STATUS = 86 };

/* ---- what it gives --------------------------------------------------------------------------- */

/* More in all than a rank may have at once. */
static void use_and_free(int rank, void *context) {
    int *wrong = context;
    for (int i = 0; i < 20; i++) {
        char *a = rank_malloc(RANK_HEAP / 8), *b = rank_calloc(100, 7);
        *wrong += (uintptr_t)a % 16 != 0 || (uintptr_t)b % 16 != 0;
        for (int k = 0; k < 700; k++) {
            *wrong += b[k] != 0;
        }
        memset(a, rank, RANK_HEAP / 8);
        memset(b, rank, 700);
        rank_free(a);
        rank_free(b);
    }
    rank_free(NULL);
}

Test(rank_heap, gives_and_takes_back) {
    int wrong = 0;
    cudasim_ranks_run(RANKS, use_and_free, &wrong);
    cr_assert_eq(wrong, 0);
    use_and_free(0, &wrong); /* outside of ranks */
    cr_assert_eq(wrong, 0);
}

Test(rank_heap, what_no_memory_has_is_not_given) {
    cr_assert_null(rank_malloc(SIZE_MAX - 8));
    cr_assert_null(rank_calloc(SIZE_MAX / 4, 8));
}

Test(rank_heap, fresh_memory_is_not_zero) {
    unsigned char *a = rank_malloc(3 * 4096 + 1);
    for (int i = 0; i < 3 * 4096 + 1; i++) {
        cr_assert_eq(a[i], RANK_HEAP_FRESH);
    }
    rank_free(a);
}

/* Outside of ranks nobody counts. */
Test(rank_heap, has_no_limit_alone) {
    char *large = rank_malloc(4 * (size_t)RANK_HEAP);
    memset(large, 1, 4 * (size_t)RANK_HEAP);
    rank_free(large);
}

static void count_pages(int rank, void *context) {
    int *wrong = context;
    size_t before = rank_heap_used();
    char *a = rank_malloc(100);
    *wrong += before != 0 || rank_heap_used() == 0 || rank_heap_used() % 4096 != 0;
    rank_free(a);
    *wrong += rank_heap_used() != 0 || rank < 0;
}

Test(rank_heap, tells_how_much_a_rank_has) {
    int wrong = 0;
    cudasim_ranks_run(RANKS, count_pages, &wrong);
    cr_assert_eq(wrong, 0);
    cr_assert_eq(rank_heap_used(), 0);
}

/* ---- what it does not give ------------------------------------------------------------------- */

static void take_too_much(int rank, void *context) {
    (void)context;
    for (int i = 0; rank == 1 && i < 9; i++) {
        rank_malloc(RANK_HEAP / 8 - 4096);
    }
}

static void run_greedy(void) {
    cudasim_ranks_run(RANKS, take_too_much, NULL);
}

Test(rank_heap, a_rank_has_so_much_and_no_more) {
    expect_ending(run_greedy, EXIT_RUN, "out of memory: malloc() of 28672 bytes, 256 KiB in use");
}

static char *of_rank_0;

static void read_another(int rank, void *context) {
    Comm *comm = comm_open();
    (void)context;
    if (rank == 0) {
        of_rank_0 = rank_calloc(1, 1);
    }
    comm_barrier(comm);
    if (rank == 2) {
        *of_rank_0 = 1;
    }
    comm_close(comm);
}

static void run_reader(void) {
    cudasim_ranks_run(RANKS, read_another, NULL);
}

Test(rank_heap, no_rank_reaches_anothers) {
    expect_ending(run_reader, CUDASIM_STATUS, "memory of another rank: [rank 2] write at");
}

#ifdef __SANITIZE_ADDRESS__
#define ENDS_BY .exit_code = 1 /* the sanitizer says where */
#else
#define ENDS_BY .signal = SIGSEGV
#endif

static void write_beyond(size_t bytes) {
    char *a = rank_malloc(bytes);
    memset(a, 1, bytes);
    a[(bytes + 15) / 16 * 16] = 1;
}

Test(rank_heap, nobody_writes_beyond_a_block, ENDS_BY) {
    write_beyond(512);
}

Test(rank_heap, nobody_writes_beyond_pages, ENDS_BY) {
    write_beyond(2 * 4096 - 50);
}
