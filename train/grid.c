/* Who is who among the ranks. The contract is in grid.h. */
#include "train/grid.h"

#include <stdio.h>

static int refuse(const TrainOptions *options, int ranks, char *error) {
    const char *start = "--nproc_per_node R, or mpirun -n R, starts them";
    int together = options->pipeline * options->tensor;
    if (ranks > 1) {
        snprintf(error, ERROR_BYTES, "--%s %d: must divide the number of ranks, %d",
                 options->pipeline > 1 ? "pipeline" : "tensor", together, ranks);
    } else if (together > 1) {
        snprintf(error, ERROR_BYTES, "--%s %d needs as many ranks: %s",
                 options->pipeline > 1 ? "pipeline" : "tensor", together, start);
    } else {
        snprintf(error, ERROR_BYTES, "--%s needs several ranks: %s", options->ddp ? "ddp" : "zero",
                 start);
    }
    return -1;
}

int grid_settle(Grid *grid, TrainOptions *options, int rank, int ranks, char *error) {
    int together = options->pipeline * options->tensor;
    bool shared = options->ddp || options->zero > 0 || together > 1;
    if ((shared && ranks == 1) || ranks % together != 0) {
        return refuse(options, ranks, error);
    }
    options->ddp |= options->zero == 0 && ranks / together > 1;
    *grid = (Grid){.replicas = ranks / together,
                   .stages = options->pipeline,
                   .slices = options->tensor,
                   .replica = rank / together,
                   .stage = rank / options->tensor % options->pipeline,
                   .slice = rank % options->tensor};
    return 0;
}

void grid_connect(Grid *grid, Comm *comm) {
    int row = grid->replica * grid->stages + grid->stage;
    if (grid->replicas > 1) {
        grid->of_replicas =
            comm_split(comm, grid->stage * grid->slices + grid->slice, grid->replica);
    }
    if (grid->stages > 1) {
        grid->of_stages = comm_split(comm, grid->replica * grid->slices + grid->slice, grid->stage);
    }
    if (grid->stages > 1) {
        bool end = grid->stage == 0 || grid->stage == grid->stages - 1;
        grid->of_ends = comm_split(comm, 2 * grid->replica + end, grid->stage);
    }
    if (grid->slices > 1) {
        grid->of_slices = comm_split(comm, row, grid->slice);
    }
}

int grid_first(const Grid *grid, int rank) {
    return rank % (grid->stages * grid->slices);
}

bool grid_counts(const Grid *grid, int rank) {
    return rank % grid->slices == 0;
}
