#include "clique.h"

/* Ranks that are all in this process: as fibers, as threads of the host, or all of one thread.
   Their memory is in reach, so a collective is done for all ranks at once, by the rank that comes
   last. */

/* ---- calls that belong together -------------------------------------------------------------- */

static bool is_pair(const CollectiveCall *call) {
    return call->kind == COLLECTIVE_SEND || call->kind == COLLECTIVE_RECV;
}

static bool belong_together(const CollectiveCall *a, const CollectiveCall *b) {
    if (is_pair(a) || is_pair(b)) {
        return is_pair(a) && is_pair(b) && a->kind != b->kind && a->peer == b->rank &&
               b->peer == a->rank && a->number == b->number;
    }
    return a->number == b->number;
}

/* The call of a rank that belongs to another rank's; NULL: it was not called. */
static QueuedCall *partner(const QueuedCall *queued, int rank) {
    const Clique *clique = queued->comm->link;
    if (rank == queued->call.rank && !is_pair(&queued->call)) {
        return (QueuedCall *)(uintptr_t)queued;
    }
    QueuedCall *other = clique->members[rank].first;
    while (other != NULL && !belong_together(&queued->call, &other->call)) {
        other = other->pending;
    }
    return other;
}

/* The ranks [first, end) that a call needs. */
static int first_partner(const QueuedCall *queued) {
    return is_pair(&queued->call) ? queued->call.peer : 0;
}

static int end_of_partners(const QueuedCall *queued) {
    return is_pair(&queued->call) ? queued->call.peer + 1 : queued->call.ranks;
}

/* NCCL may wait for the other ranks within a call: who calls for several must say so by a group. */
static void check_group(const QueuedCall *queued, const QueuedCall *other) {
    if (other == NULL || other->comm == queued->comm || other->caller != queued->caller ||
        (queued->launch->group != 0 && queued->launch->group == other->launch->group)) {
        return;
    }
    char mine[COLLECTIVE_TEXT], theirs[COLLECTIVE_TEXT];
    collective_describe(&queued->call, mine);
    collective_describe(&other->call, theirs);
    sim_report("NCCL misuse", "one thread calls %s for rank %d and %s for rank %d, not in a group",
               theirs, other->call.rank, mine, queued->call.rank);
    sim_detail("the first call may wait for the second: call both between ncclGroupStart() and "
               "ncclGroupEnd()");
}

static void entered(QueuedCall *queued) {
    Clique *clique = queued->comm->link;
    for (int r = first_partner(queued); r < end_of_partners(queued); r++) {
        check_group(queued, partner(queued, r));
    }
    Member *member = &clique->members[queued->call.rank];
    member->last = queued->call;
    QueuedCall **end = &member->first;
    while (*end != NULL) {
        end = &(*end)->pending;
    }
    *end = queued;
    queued->pending = NULL;
    queued->met = first_partner(queued);
}

static void forget(QueuedCall *queued) {
    Clique *clique = queued->comm->link;
    QueuedCall **link = &clique->members[queued->call.rank].first;
    while (*link != queued) {
        link = &(*link)->pending;
    }
    *link = queued->pending;
}

/* ---- when is it their turn? ------------------------------------------------------------------ */

static const char *partner_name(const CollectiveCall *call) {
    return collective_name(call->kind == COLLECTIVE_SEND   ? COLLECTIVE_RECV
                           : call->kind == COLLECTIVE_RECV ? COLLECTIVE_SEND
                                                           : call->kind);
}

/* "rank 1, which has not called ncclAllReduce #2; its last call was ncclAllReduce #1 (...)" */
static void tell_absent(const QueuedCall *queued, int rank, char *text, size_t size) {
    const Member *member = &((const Clique *)queued->comm->link)->members[rank];
    char last[COLLECTIVE_TEXT] = "it has called nothing";
    if (member->last.ranks > 0) {
        collective_describe(&member->last, last);
    }
    int length = snprintf(text, size, "rank %d, which has not called %s #%llu; %s%s", rank,
                          partner_name(&queued->call), (unsigned long long)queued->call.number,
                          member->last.ranks > 0 ? "its last call is " : "", last);
    if (member->left.file != NULL && length > 0 && (size_t)length < size) {
        snprintf(text + length, size - (size_t)length,
                 "; and it has ended its communicator at %s:%d", sim_file(member->left),
                 member->left.line);
    }
}

/* A call that waits for that of another rank. It may be over, and gone, when it is looked at. */
typedef struct Awaited {
    QueuedCall mine;
    int rank;
} Awaited;

static bool has_come(void *context) {
    const Awaited *awaited = context;
    const CollectiveCall *mine = &awaited->mine.call;
    const Clique *clique = awaited->mine.comm->link;
    const QueuedCall *waits = clique->members[mine->rank].first;
    while (waits != NULL && !(waits->call.kind == mine->kind && waits->call.peer == mine->peer &&
                              waits->call.number == mine->number)) {
        waits = waits->pending;
    }
    return waits == NULL || partner(&awaited->mine, awaited->rank) != NULL;
}

static void tell_awaited(void *context, char *text, size_t size) {
    const Awaited *awaited = context;
    tell_absent(&awaited->mine, awaited->rank, text, size);
}

/* The rank of a call that is not of the one which waits; -1 if it is. */
static int others_rank(const QueuedCall *queued) {
    int rank = queued->operation != NULL ? queued->operation->rank : NO_RANK;
    return rank == sim_host()->rank ? -1 : rank;
}

static void wait_for(const QueuedCall *queued, int rank) {
    if (queue_only_asked()) {
        return;
    }
    sim_close_memory();
    Awaited awaited = {*queued, rank};
    Communicator *comm = comm_hold(queued->comm);
    rank_wait(&(RankWait){.call = collective_name(queued->call.kind),
                          .place = queued->call.place,
                          .ready = has_come,
                          .context = &awaited,
                          .tell = tell_awaited,
                          .bytes = sizeof awaited,
                          .of = others_rank(queued) + 1});
    comm_drop(comm);
}

/* The queue that another rank's call waits for; -1: none. In a dry run they meet before they are in
   a queue, and there is nothing on a device to wait for. */
static int lacks(const QueuedCall *other) {
    return sim_settings.dry ? -1 : launch_lacks(other->launch);
}

static int needs(QueuedCall *queued) {
    for (; queued->met < end_of_partners(queued); queued->met++) {
        QueuedCall *other = partner(queued, queued->met);
        if (other == NULL) {
            wait_for(queued, queued->met);
            return -1;
        }
        int queue = lacks(other);
        if (queue >= 0) {
            return queue;
        }
    }
    return queued->slot;
}

static void tell(const QueuedCall *queued, char *text, size_t size) {
    char mine[COLLECTIVE_TEXT], theirs[COLLECTIVE_TEXT + 200];
    const QueuedCall *other = partner(queued, queued->met);
    collective_describe(&queued->call, mine);
    if (other != NULL) {
        int length = snprintf(theirs, sizeof theirs, "rank %d's ", queued->met);
        collective_describe(&other->call, theirs + length);
    } else {
        tell_absent(queued, queued->met, theirs, sizeof theirs);
    }
    snprintf(text, size, "rank %d's %s waits for %s", queued->call.rank, mine, theirs);
}

/* ---- the work -------------------------------------------------------------------------------- */

/* Host memory may be that of several ranks by mistake. */
static void check_shared(const CollectiveCall *a, const CollectiveCall *b) {
    const char *x = a->out, *y = b->out;
    if (x + collective_out_bytes(a) <= y || y + collective_out_bytes(b) <= x ||
        collective_out_bytes(a) == 0 || collective_out_bytes(b) == 0) {
        return;
    }
    sim_report("NCCL argument", "%s at %s:%d: ranks %d and %d have the same receive buffer",
               collective_name(b->kind), sim_file(b->place), b->place.line, a->rank, b->rank);
    sim_detail("each rank needs memory of its own, as if it were a process");
}

/* All calls that belong together, in the order of ranks; a send before its receive. */
static int gather(QueuedCall *queued, QueuedCall **all) {
    if (is_pair(&queued->call)) {
        QueuedCall *other = partner(queued, queued->call.peer);
        all[0] = queued->call.kind == COLLECTIVE_SEND ? queued : other;
        all[1] = queued->call.kind == COLLECTIVE_SEND ? other : queued;
        return 2;
    }
    for (int r = 0; r < queued->call.ranks; r++) {
        all[r] = partner(queued, r);
    }
    return queued->call.ranks;
}

/* The memory of a host may be its rank's alone, or static data. */
static void reach(QueuedCall *queued) {
    bool in_queue = queued->operation != NULL; /* in a dry run it is not */
    int rank = in_queue ? queued->operation->rank : sim_host()->rank;
    rank_memory_show_too(rank);
    queued->call.in = rank_place_of(rank, queued->call.in);
    queued->call.out = rank_place_of(rank, queued->call.out);
}

static void run(QueuedCall *queued) {
    size_t room = (size_t)queued->call.ranks + 1;
    QueuedCall **all = sim_realloc(NULL, room * sizeof *all);
    const CollectiveCall **calls = sim_realloc(NULL, room * sizeof *calls);
    int count = gather(queued, all);
    for (int i = 0; i < count; i++) {
        if (queued->comm->on_host) {
            reach(all[i]);
        }
        calls[i] = &all[i]->call;
    }
    if (!collective_check(calls, count)) {
        sim_stop();
    }
    for (int i = 0; i < count; i++) {
        call_touch(all[i]);
        for (int k = 0; k < i && queued->comm->on_host; k++) {
            check_shared(calls[k], calls[i]);
        }
    }
    collective_run(calls, count);
    for (int i = 0; i < count; i++) {
        forget(all[i]);
        call_done(all[i]);
    }
    free(calls);
    free(all);
}

/* ---- the end --------------------------------------------------------------------------------- */

static void leave(Communicator *comm, Place place, bool abort) {
    Member *member = &((Clique *)comm->link)->members[comm->rank];
    member->comm = NULL;
    member->left = place;
    while (abort && member->first != NULL) {
        member->first->done = true;
        member->first = member->first->pending;
    }
}

const Transport sim_transport = {
    .make_id = clique_make_id,
    .arrive = clique_arrive,
    .join = clique_join,
    .bring = clique_bring,
    .fetch = clique_fetch,
    .entered = entered,
    .needs = needs,
    .tell = tell,
    .run = run,
    .forget = forget,
    .leave = leave,
};
