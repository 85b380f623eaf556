/* Ranks that are processes, started by mpirun: who they are, and whose turn it is. The contract is
   in cudasim/nccl/transport.h, the rule of order in link.h. */
#include <stdlib.h>

#include "../queue.h"
#include "link.h"

/* An id has the number of its communicator, which is also the tag by which its ranks find each
   other. Processes take numbers in turn, so that no two are the same. */
typedef struct Id {
    char kind[16];
    uint64_t number;
} Id;

static const char KIND[] = "gradus over MPI";
/* Tags on MPI_COMM_WORLD: of ranks that come, and of MPI's own messages when it makes a
   communicator. */
enum { TAGS = 1 << 20, COMING = TAGS, MAKING = 2 * TAGS };

/* The word of a rank that comes, to all processes. */
typedef struct Arrival {
    uint64_t number;
    int rank, ranks, process;
} Arrival;

static Link *links; /* of this process */

/* ---- this process ---------------------------------------------------------------------------- */

static void end_mpi(void) {
    int over;
    MPI_Finalized(&over);
    if (!over) {
        MPI_Finalize();
    }
}

/* A program may leave it to us to begin with MPI. */
static void begin_mpi(void) {
    int begun, level;
    MPI_Initialized(&begun);
    if (!begun) {
        MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
        atexit(end_mpi);
    }
}

static int process(void) {
    int mine;
    MPI_Comm_rank(MPI_COMM_WORLD, &mine);
    return mine;
}

static int processes(void) {
    int count;
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    return count;
}

static void mpi_make_id(ncclUniqueId *id) {
    static uint64_t made;
    begin_mpi();
    Id mine = {.number = made++ * (uint64_t)processes() + (uint64_t)process() + 1};
    memcpy(mine.kind, KIND, sizeof KIND);
    memset(id, 0, sizeof *id);
    memcpy(id, &mine, sizeof mine);
}

/* ---- calls wait for those that were made before ---------------------------------------------- */

/* Calls that are queued, in the order in which they were made. */
static QueuedCall **waiting;
static int waiting_count, waiting_room;

static void mpi_entered(QueuedCall *queued) {
    if (waiting_count == waiting_room) {
        waiting_room = 2 * waiting_room + 16;
        waiting = sim_realloc(waiting, (size_t)waiting_room * sizeof(QueuedCall *));
    }
    waiting[waiting_count++] = queued;
}

/* Takes one out of the list. */
static void mpi_forget(QueuedCall *queued) {
    int kept = 0;
    for (int i = 0; i < waiting_count; i++) {
        if (waiting[i] != queued) {
            waiting[kept++] = waiting[i];
        }
    }
    waiting_count = kept;
}

/* The first call in the list is next, with those of its launch. */
static int mpi_needs(QueuedCall *queued) {
    CallLaunch *next = waiting[0]->launch;
    int lacking = launch_lacks(next);
    return lacking >= 0 ? lacking : next == queued->launch ? queued->slot : waiting[0]->slot;
}

static void mpi_tell(const QueuedCall *queued, char *text, size_t size) {
    char call[COLLECTIVE_TEXT];
    collective_describe(&queued->call, call);
    snprintf(text, size, "rank %d: %s waits for calls that were made before it", queued->call.rank,
             call);
}

static void refuse_late(const QueuedCall *queued) {
    int over;
    MPI_Finalized(&over);
    if (over) {
        char text[COLLECTIVE_TEXT];
        collective_describe(&queued->call, text);
        sim_report("deadlock", "rank %d: nothing waits for %s before MPI_Finalize",
                   queued->call.rank, text);
        sim_stop();
    }
}

/* The calls of the launch that have come, collectives first. */
static void mpi_run(QueuedCall *queued) {
    const CallLaunch *launch = queued->launch;
    int count = 0;
    QueuedCall **calls = sim_realloc(NULL, (size_t)waiting_count * sizeof(QueuedCall *));
    refuse_late(queued);
    for (int i = 0; i < waiting_count; i++) {
        if (waiting[i]->launch == launch) {
            calls[count++] = waiting[i];
        }
    }
    for (int i = 0; i < count; i++) {
        call_touch(calls[i]);
        link_collective(calls[i]);
    }
    link_messages(calls, count);
    for (int i = 0; i < count; i++) {
        call_done(calls[i]);
        mpi_forget(calls[i]);
    }
    free(calls);
}

/* All that was called so far; then the host may wait for the others, who do the same. */
static void run_waiting(void) {
    while (waiting_count > 0) {
        queue_run_to(waiting[0]->slot, waiting[0]->operation->number);
    }
}

/* ---- communicators --------------------------------------------------------------------------- */

static _Noreturn void refuse(const Communicator *comm, const char *text) {
    sim_report("NCCL argument", "%s at %s:%d: rank %d of %d: %s", comm->maker, sim_file(comm->made),
               comm->made.line, comm->rank, comm->ranks, text);
    sim_stop();
}

static int tag_of(uint64_t number, int first) {
    return first + (int)(number % TAGS);
}

/* Who else will come is not known, so all processes hear of it; those that have no part in it never
   look. */
static void announce(const Communicator *comm) {
    Arrival arrival = {comm->number, comm->rank, comm->ranks, process()};
    for (int to = 0; to < processes(); to++) {
        if (to != process()) {
            MPI_Send(&arrival, sizeof arrival, MPI_BYTE, to, tag_of(comm->number, COMING),
                     MPI_COMM_WORLD);
        }
    }
}

/* The number of the communicator that an id stands for. */
static uint64_t number_of(const Communicator *comm, const ncclUniqueId *id) {
    Id theirs;
    memcpy(&theirs, id, sizeof theirs);
    if (memcmp(theirs.kind, KIND, sizeof KIND) != 0) {
        refuse(comm, "the unique id is not one that ncclGetUniqueId has made: has it been sent to "
                     "all ranks?");
    }
    if (comm->ranks > processes()) {
        refuse(comm, "over MPI each process has one rank, and mpirun has started fewer");
    }
    for (const Link *link = links; link != NULL; link = link->next) {
        if (link->number == theirs.number) {
            refuse(comm, "the unique id has brought this process a rank already: over MPI it has "
                         "one rank of each communicator");
        }
    }
    return theirs.number;
}

static bool mpi_arrive(Communicator *comm, const ncclUniqueId *id, const Communicator *parent,
                       const int *members) {
    begin_mpi();
    comm->number = parent != NULL ? 0 : number_of(comm, id);
    Link *link = sim_realloc(NULL, sizeof *link);
    *link = (Link){.number = comm->number, .known = parent != NULL, .next = links};
    link->processes = sim_realloc(NULL, (size_t)comm->ranks * sizeof(int));
    for (int r = 0; r < comm->ranks; r++) {
        link->processes[r] = parent != NULL ? ((Link *)parent->link)->processes[members[r]] : -1;
    }
    link->processes[comm->rank] = process();
    links = link;
    comm->link = link;
    if (parent == NULL) {
        announce(comm);
    }
    return true;
}

/* One more rank is known. */
static void welcome(const Communicator *comm, const Arrival *arrival) {
    Link *link = comm->link;
    if (arrival->ranks != comm->ranks) {
        char text[128];
        snprintf(text, sizeof text, "rank %d comes to a communicator of %d ranks", arrival->rank,
                 arrival->ranks);
        refuse(comm, text);
    }
    if (link->processes[arrival->rank] >= 0) {
        refuse(comm, "another process says that it is the same rank, or two of them do");
    }
    link->processes[arrival->rank] = arrival->process;
}

static _Noreturn void nobody_comes(const Communicator *comm, const char *call, Place place) {
    const Link *link = comm->link;
    char what[160], whom[256] = "";
    for (int r = 0; r < comm->ranks; r++) {
        size_t length = strlen(whom);
        if (link->processes[r] < 0 && length + 16 < sizeof whom) {
            snprintf(whom + length, sizeof whom - length, "%srank %d", length > 0 ? ", " : "", r);
        }
    }
    snprintf(what, sizeof what, "%s at %s:%d", call, sim_file(place), place.line);
    patience_ends(comm->rank, what, whom);
}

static void meet(const Communicator *comm, const char *call, Place place) {
    const Link *link = comm->link;
    for (int known = 1; known < comm->ranks; known++) {
        Arrival arrival;
        MPI_Request request;
        Patience patience = {0};
        MPI_Irecv(&arrival, sizeof arrival, MPI_BYTE, MPI_ANY_SOURCE, tag_of(link->number, COMING),
                  MPI_COMM_WORLD, &request);
        for (int done = 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done;) {
            if (!patience_lasts(&patience)) {
                nobody_comes(comm, call, place);
            }
        }
        welcome(comm, &arrival);
    }
}

/* All are here. A part of another communicator gets its number now: an id that its rank 0 makes. */
static void connect(Communicator *comm) {
    Link *link = comm->link;
    MPI_Group world, group;
    ncclUniqueId id;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, comm->ranks, link->processes, &group);
    MPI_Comm_create_group(MPI_COMM_WORLD, group, tag_of(link->number, MAKING), &link->host);
    MPI_Comm_dup(link->host, &link->device);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    if (link->known) {
        mpi_make_id(&id);
        MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, link->host);
        comm->number = link->number = number_of(comm, &id);
    }
}

static void mpi_join(Communicator *comm, const char *call, Place place) {
    const Link *link = comm->link;
    run_waiting();
    if (!link->known) {
        meet(comm, call, place);
    }
    connect(comm);
}

static void mpi_bring(Communicator *comm, const void *mine, size_t bytes) {
    Link *link = comm->link;
    Exchange **last = &link->brought, *exchange;
    exchange = sim_realloc(NULL, sizeof *exchange + (1 + (size_t)comm->ranks) * bytes);
    *exchange = (Exchange){.bytes = bytes};
    memcpy(exchange->data, mine, bytes);
    MPI_Iallgather(exchange->data, (int)bytes, MPI_BYTE, exchange->data + bytes, (int)bytes,
                   MPI_BYTE, link->host, &exchange->request);
    while (*last != NULL) {
        last = &(*last)->next;
    }
    *last = exchange;
}

static void mpi_fetch(Communicator *comm, void *all, const char *call, Place place) {
    Link *link = comm->link;
    Exchange *exchange = link->brought;
    char what[160];
    run_waiting();
    snprintf(what, sizeof what, "%s at %s:%d", call, sim_file(place), place.line);
    link_wait(&exchange->request, NULL, 1, comm->rank, what);
    memcpy(all, exchange->data + exchange->bytes, (size_t)comm->ranks * exchange->bytes);
    link->brought = exchange->next;
    free(exchange);
}

/* MPI_Comm_free would wait for the others, who may leave in another order or never: MPI_Finalize
   frees what is left. */
static void mpi_leave(Communicator *comm, Place place, bool abort) {
    (void)place;
    Link *link = comm->link;
    for (int i = waiting_count - 1; abort && i >= 0; i--) {
        if (waiting[i]->comm == comm) {
            waiting[i]->done = true;
            mpi_forget(waiting[i]);
        }
    }
    for (Link **at = &links; *at != NULL; at = &(*at)->next) {
        if (*at == link) {
            *at = link->next;
            break;
        }
    }
    free(link->processes);
    free(link);
}

const Transport sim_transport = {
    .make_id = mpi_make_id,
    .arrive = mpi_arrive,
    .join = mpi_join,
    .bring = mpi_bring,
    .fetch = mpi_fetch,
    .entered = mpi_entered,
    .needs = mpi_needs,
    .tell = mpi_tell,
    .run = mpi_run,
    .forget = mpi_forget,
    .leave = mpi_leave,
};
