/**
 * @file ranks_wrong.cu
 * @brief What ranks must not do, each by its name. cudasim/tests/ranks_test.py runs it, and says
 * what must be reported.
 * @ingroup cudasim
 */
#include "ranks.cuh"

static void one_ends(int rank, void *) {
    if (rank != 2) {
        wait_for_all(__LINE__);
    }
}

static void sum_without_one(int rank, void *) {
    int *x;
    OK(cudaMalloc(&x, sizeof *x));
    if (rank != 1) {
        all_sum(0, x, NULL, __LINE__);
    }
    OK(cudaDeviceSynchronize());
}

/* Each has both sums in one stream, in different orders. */
static void sums_in_other_order(int rank, void *) {
    int *x, *y;
    OK(cudaMalloc(&x, sizeof *x));
    OK(cudaMalloc(&y, sizeof *y));
    OK(cudaMemset(x, 0, sizeof *x));
    OK(cudaMemset(y, 0, sizeof *y));
    all_sum(rank == 0, x, NULL, __LINE__);
    all_sum(rank != 0, y, NULL, __LINE__);
    OK(cudaDeviceSynchronize());
}

static void one_exits(int rank, void *) {
    if (rank == 1) {
        exit(3);
    }
    wait_for_all(__LINE__);
}

static void overflow(int rank, void *) {
    if (rank == 1) {
        printf("%d\n", deep(9 << 10));
    }
}

static void wait_in_region(int, void *) {
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) {
        wait_for_all(__LINE__);
    }
}

static void host_function_waits(void *) {
    wait_for_all(__LINE__);
}

static void wait_in_host_function(int rank, void *) {
    if (rank == 1) {
        OK(cudaLaunchHostFunc(NULL, host_function_waits, NULL));
        OK(cudaDeviceSynchronize());
    }
}

static void kernel_fails(int rank, void *) {
    int *x;
    OK(cudaMalloc(&x, N * sizeof *x));
    fill<<<1, N>>>(rank == 2 ? x + 1 : x, 1);
    OK(cudaDeviceSynchronize());
}

static void unseen_error(int rank, void *) {
    int *x;
    OK(cudaMalloc(&x, N * sizeof *x));
    if (rank == 1) {
        fill<<<1, 2000>>>(x, 1);
    }
}

static int *of_first;

static int *one_page() {
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cudasim_rank_memory(page, 4096);
    return (int *)page;
}

static void reads_memory(int rank, void *) {
    int *page = one_page();
    *page = rank;
    of_first = rank == 0 ? page : of_first;
    wait_for_all(__LINE__);
    printf("%d\n", rank == 2 ? *of_first : 0);
}

static void writes_stack(int rank, void *) {
    int local = *one_page() = rank;
    of_first = rank == 0 ? &local : of_first;
    wait_for_all(__LINE__);
    if (rank == 1) {
        *of_first = 7;
    }
    wait_for_all(__LINE__);
}

static void half_a_page(int, void *) {
    cudasim_rank_memory((char *)one_page() + 256, 4096);
}

static const struct {
    const char *name;
    cudasim_rank_body body;
} broken[] = {{"one_ends", one_ends},
              {"sum_without_one", sum_without_one},
              {"sums_in_other_order", sums_in_other_order},
              {"one_exits", one_exits},
              {"overflow", overflow},
              {"wait_in_region", wait_in_region},
              {"wait_in_host_function", wait_in_host_function},
              {"kernel_fails", kernel_fails},
              {"unseen_error", unseen_error},
              {"reads_memory", reads_memory},
              {"writes_stack", writes_stack},
              {"half_a_page", half_a_page}};

/* Without a name there is nothing to do, and nothing wrong. */
int main(int argc, char **argv) {
    if (argc < 2) {
        return 0;
    }
    for (const auto &way : broken) {
        if (strcmp(argv[1], way.name) == 0) {
            run(way.body, 3, NULL);
            return 0;
        }
    }
    MUST(strcmp(argv[1], "no_ranks") == 0);
    wait_for_all(__LINE__);
    barrier.came = -1;
    wait_for_all(__LINE__);
}
