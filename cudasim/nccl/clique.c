#include "clique.h"

#include "../device.h"

/* How ranks of one process find each other, and tell each other a few bytes. A clique is never
   freed: ranks may still look at it, and its id must not be used again. */

/* The bytes that all ranks bring, once. */
typedef struct Round {
    uint64_t number;
    size_t bytes;
    char *data;           /* (ranks, bytes) */
    int brought, fetched; /* by how many ranks */
    struct Round *next;
} Round;

static Clique *cliques;
static uint64_t clique_count, id_count;

/* ---- making ---------------------------------------------------------------------------------- */

static const char of_ids[] = "cudasim id ";

void clique_make_id(ncclUniqueId *id) {
    snprintf(id->internal, sizeof id->internal, "%s%llu", of_ids, (unsigned long long)++id_count);
}

static Clique *clique_with(const ncclUniqueId *id) {
    Clique *clique = cliques;
    while (clique != NULL && memcmp(&clique->id, id, sizeof *id) != 0) {
        clique = clique->next;
    }
    return clique;
}

static Clique *new_clique(const ncclUniqueId *id, int ranks) {
    Clique *clique = sim_realloc(NULL, sizeof *clique);
    size_t bytes = (size_t)ranks * sizeof *clique->members;
    *clique = (Clique){.id = *id,
                       .number = ++clique_count,
                       .ranks = ranks,
                       .members = memset(sim_realloc(NULL, bytes), 0, bytes),
                       .next = cliques};
    cliques = clique;
    return clique;
}

static bool wrong_id(const Communicator *comm, const char *why, const Member *other) {
    sim_report("NCCL argument", "%s at %s:%d: rank %d of %d: %s", comm->maker, sim_file(comm->made),
               comm->made.line, comm->rank, comm->ranks, why);
    if (other != NULL) {
        sim_detail("%s at %s:%d has come with the same id", other->maker, sim_file(other->made),
                   other->made.line);
    }
    return false;
}

/* A rank that has come to a clique. */
static const Member *any_member(const Clique *clique) {
    const Member *member = clique->members;
    while (member->maker == NULL) {
        member++;
    }
    return member;
}

/* A rank that has come before with the same device; or NULL. In a dry run there may be more ranks
   than devices, and each counts as one with a device of its own. */
static const Member *on_device(const Clique *clique, int device) {
    bool own = sim_settings.dry && clique->ranks > sim_device_count();
    for (int r = 0; r < clique->ranks && !own; r++) {
        const Communicator *comm = clique->members[r].comm;
        if (comm != NULL && comm->device == device) {
            return &clique->members[r];
        }
    }
    return NULL;
}

bool clique_arrive(Communicator *comm, const ncclUniqueId *id, const Communicator *parent,
                   const int *members) {
    (void)members;
    Clique *clique = clique_with(id);
    if (parent == NULL && strncmp(id->internal, of_ids, strlen(of_ids)) != 0) {
        return wrong_id(comm, "the unique id is not one that ncclGetUniqueId has made", NULL);
    }
    if (clique == NULL) {
        clique = new_clique(id, comm->ranks);
    }
    Member *member = &clique->members[comm->rank];
    if (clique->ranks != comm->ranks) {
        char why[100];
        snprintf(why, sizeof why, "others with this unique id say that there are %d ranks",
                 clique->ranks);
        return wrong_id(comm, why, any_member(clique));
    }
    if (clique->arrived == clique->ranks) {
        return wrong_id(comm, "the unique id has made a communicator already: each needs its own",
                        member);
    }
    if (member->maker != NULL) {
        return wrong_id(comm, "this rank has come before", member);
    }
    const Member *neighbour = on_device(clique, comm->device);
    if (neighbour != NULL) {
        return wrong_id(comm,
                        "another rank has the same device: call cudaSetDevice() with one of "
                        "its own for each",
                        neighbour);
    }
    *member = (Member){.comm = comm, .maker = comm->maker, .made = comm->made};
    clique->arrived++;
    comm->link = clique;
    comm->number = clique->number;
    return true;
}

/* ---- waiting --------------------------------------------------------------------------------- */

static bool all_arrived(void *context) {
    const Clique *clique = context;
    return clique->arrived == clique->ranks;
}

/* The ranks for which `lacks` holds: "rank 1", "ranks 1, 2, 5"; cut where there is no more room. */
static void list_ranks(const Clique *clique, bool (*lacks)(const Member *, const void *),
                       const void *context, char *text, size_t size) {
    size_t length = 0;
    for (int r = 0; r < clique->ranks && length + 20 < size; r++) {
        if (lacks(&clique->members[r], context)) {
            length += (size_t)snprintf(text + length, size - length, "%s%d",
                                       length == 0 ? "rank " : ", ", r);
        }
    }
}

static bool has_not_come(const Member *member, const void *context) {
    (void)context;
    return member->maker == NULL;
}

static void tell_arrivals(void *context, char *text, size_t size) {
    const Clique *clique = context;
    char ranks[200] = "";
    list_ranks(clique, has_not_come, NULL, ranks, sizeof ranks);
    snprintf(text, size, "%s of %d, who came with no such unique id (\"%s\")", ranks, clique->ranks,
             clique->id.internal);
}

/* In a dry run nobody waits: so ranks run one after the other, however many there are. */
void clique_join(Communicator *comm, const char *call, Place place) {
    if (!sim_settings.dry) {
        rank_wait(&(RankWait){.call = call,
                              .place = place,
                              .ready = all_arrived,
                              .context = comm->link,
                              .tell = tell_arrivals});
    }
}

/* ---- what all ranks bring -------------------------------------------------------------------- */

static Round *round_of(Clique *clique, uint64_t number, size_t bytes) {
    Round **link = &clique->rounds;
    while (*link != NULL && (*link)->number != number) {
        link = &(*link)->next;
    }
    if (*link == NULL) {
        *link = sim_realloc(NULL, sizeof **link);
        **link = (Round){.number = number,
                         .bytes = bytes,
                         .data = sim_realloc(NULL, (size_t)clique->ranks * bytes)};
    }
    return *link;
}

void clique_bring(Communicator *comm, const void *mine, size_t bytes) {
    Clique *clique = comm->link;
    Round *round = round_of(clique, ++clique->members[comm->rank].brought, bytes);
    memcpy(round->data + (size_t)comm->rank * bytes, mine, bytes);
    round->brought++;
}

static bool has_not_brought(const Member *member, const void *context) {
    return member->brought < *(const uint64_t *)context;
}

/* A round for which someone waits. */
typedef struct ExpectedRound {
    Clique *clique;
    uint64_t number;
} ExpectedRound;

static bool all_brought(void *context) {
    const ExpectedRound *expected = context;
    const Round *round = expected->clique->rounds;
    while (round != NULL && round->number != expected->number) {
        round = round->next;
    }
    return round != NULL && round->brought == expected->clique->ranks;
}

static void tell_bringers(void *context, char *text, size_t size) {
    const ExpectedRound *expected = context;
    char ranks[200] = "";
    list_ranks(expected->clique, has_not_brought, &expected->number, ranks, sizeof ranks);
    snprintf(text, size, "%s to make the same call", ranks);
}

void clique_fetch(Communicator *comm, void *all, const char *call, Place place) {
    Clique *clique = comm->link;
    ExpectedRound expected = {clique, ++clique->members[comm->rank].fetched};
    rank_wait(&(RankWait){.call = call,
                          .place = place,
                          .ready = all_brought,
                          .context = &expected,
                          .tell = tell_bringers,
                          .bytes = sizeof expected});
    Round *round = round_of(clique, expected.number, 0);
    memcpy(all, round->data, (size_t)clique->ranks * round->bytes);
    if (++round->fetched == clique->ranks) {
        Round **link = &clique->rounds;
        while (*link != round) {
            link = &(*link)->next;
        }
        *link = round->next;
        free(round->data);
        free(round);
    }
}
