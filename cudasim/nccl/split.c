#include "communicator.h"

/* ncclCommSplit(): every rank says its color and key, and learns those of all. */

/* The part that a rank wants to have in a split. */
typedef struct Wish {
    int color, key;
} Wish;

ncclResult_t cudasim_nccl_split(const char *file, int line, ncclComm_t comm, int color, int key,
                                ncclComm_t *made, ncclConfig_t *config) {
    ENTER("ncclCommSplit", file, line);
    CallSite caller = {"ncclCommSplit", {file, line}};
    ncclResult_t result = comm_usable(comm, caller);
    if (result == ncclSuccess) {
        result = comm_check_config(config, caller);
    }
    if (result != ncclSuccess) {
        return result;
    }
    if (made == NULL || (color < 0 && color != NCCL_SPLIT_NOCOLOR)) {
        return nccl_wrong(ncclInvalidArgument, "NCCL argument", caller,
                          "color %d, result at %p: colors are 0 or more, or NCCL_SPLIT_NOCOLOR",
                          color, (void *)made);
    }
    *made = NULL;
    sim_transport.bring(comm, &(Wish){color, key}, sizeof(Wish));
    group_add_split((Split){.parent = comm, .made = made, .caller = caller});
    return ncclSuccess;
}

/* The ranks of a color in the order of keys, and of ranks where those are equal; their number. */
static int members_of(const Wish *wishes, int ranks, int color, int *members) {
    int count = 0;
    for (int r = 0; r < ranks; r++) {
        if (wishes[r].color != color) {
            continue;
        }
        int place = count++;
        for (; place > 0 && wishes[members[place - 1]].key > wishes[r].key; place--) {
            members[place] = members[place - 1];
        }
        members[place] = r;
    }
    return count;
}

/* All ranks of the new communicator must come to the same id, and no other. */
static ncclUniqueId split_id(const Communicator *parent, int color) {
    ncclUniqueId id = {{0}};
    snprintf(id.internal, sizeof id.internal, "split %llu of %llu, color %d",
             (unsigned long long)parent->splits, (unsigned long long)parent->number, color);
    return id;
}

void split_form(Split *split) {
    Communicator *parent = split->parent;
    size_t ranks = (size_t)parent->ranks;
    Wish *wishes = sim_realloc(NULL, ranks * sizeof *wishes);
    int *members = sim_realloc(NULL, ranks * sizeof *members);
    sim_transport.fetch(parent, wishes, split->caller.function, split->caller.place);
    parent->splits++;
    int color = wishes[parent->rank].color;
    if (color != NCCL_SPLIT_NOCOLOR) {
        int count = members_of(wishes, parent->ranks, color, members), rank = 0;
        while (members[rank] != parent->rank) {
            rank++;
        }
        ncclUniqueId id = split_id(parent, color);
        Communicator *child = comm_new(rank, count, parent->device, split->caller);
        child->on_host = parent->on_host;
        child->wire_rank = parent->wire_rank;
        sim_transport.arrive(child, &id, parent, members);
        sim_handle_made(child, split->caller.function, split->caller.place);
        *split->made = split->child = child;
    }
    free(wishes);
    free(members);
}

void split_join(Split *split) {
    if (split->child != NULL) {
        comm_join(split->child, split->caller);
    }
}
