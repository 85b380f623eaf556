#include "communicator.h"

#include "cudasim_nccl.h"
#include "cudasim_record.h"

/* The calls between ncclGroupStart and ncclGroupEnd are launched when the group ends. A call
   outside of one is a group of its own. */

typedef struct Join {
    Communicator *comm;
    CallSite caller;
} Join;

/* The open group of a host. */
typedef struct Group {
    const Host *host;
    int depth; /* of ncclGroupStart; 0: none is open */
    Place begun;
    uint64_t number;
    QueuedCall *first, **end;
    ncclResult_t result; /* of its first call that failed */
    Join *joins;
    int join_count;
    Split *splits;
    int split_count;
    struct Group *next;
} Group;

static Group *groups; /* one for each host that has ever had one */
static uint64_t group_count;

/* ---- which is open --------------------------------------------------------------------------- */

static void report_open(const Group *group, const char *when) {
    nccl_wrong(ncclInvalidUsage, "NCCL misuse", (CallSite){"ncclGroupStart", group->begun},
               "the group is still open when %s", when);
    sim_detail("its calls were not even begun: call ncclGroupEnd()");
}

static void at_exit(void) {
    for (const Group *group = groups; group != NULL; group = group->next) {
        if (group->depth > 0) {
            report_open(group, "the program ends");
        }
    }
}

static Group *group_of_host(void) {
    const Host *host = sim_host();
    for (Group *group = groups; group != NULL; group = group->next) {
        if (group->host == host) {
            return group;
        }
    }
    if (groups == NULL) {
        atexit(at_exit);
    }
    Group *group = sim_realloc(NULL, sizeof *group);
    *group = (Group){.host = host, .next = groups};
    groups = group;
    return group;
}

bool group_is_open(void) {
    return group_of_host()->depth > 0;
}

/* ---- a call in its queue --------------------------------------------------------------------- */

int launch_lacks(CallLaunch *launch) {
    int queue = launch->begun ? -1 : queue_lacking(launch->before, -1);
    launch->begun = queue < 0;
    return queue;
}

/* In a dry run nothing is moved between devices, and nobody waits for the others. */
static bool only_recorded(const QueuedCall *queued) {
    return sim_settings.dry && !queued->comm->on_host;
}

/* But what ranks tell each other of the host decides what they do next, so that is moved: within
   the call, for many ranks share a queue, and one's call would wait there for another's. */
static void meet_in_dry_run(QueuedCall *queued) {
    sim_transport.entered(queued);
    while (!queued->done) {
        if (sim_transport.needs(queued) >= 0) {
            sim_transport.run(queued);
        }
    }
}

static void entered(void *context, const Operation *operation) {
    QueuedCall *queued = context;
    const CollectiveCall *call = &queued->call;
    queued->operation = operation;
    sim_guard(call->in, collective_in_bytes(call), false, operation);
    sim_guard(call->out, collective_out_bytes(call), true, operation);
    comm_queued(queued->comm, queued, operation->number);
    if (!queued->done && !only_recorded(queued)) {
        sim_transport.entered(queued);
    }
}

static int needs(void *context) {
    QueuedCall *queued = context;
    int queue = launch_lacks(queued->launch);
    return queue >= 0                              ? queue
           : queued->done || only_recorded(queued) ? queued->slot
                                                   : sim_transport.needs(queued);
}

static void tell(const void *context, char *text, size_t size) {
    sim_transport.tell(context, text, size);
}

static void run(void *context) {
    QueuedCall *queued = context;
    if (only_recorded(queued)) {
        call_done(queued);
    } else if (!queued->done) {
        sim_transport.run(queued);
    }
}

static void release(void *context) {
    QueuedCall *queued = context;
    if (!queued->done) {
        sim_transport.forget(queued);
    }
    comm_drop(queued->comm);
    if (--queued->launch->holders == 0) {
        free(queued->launch->before);
        free(queued->launch);
    }
    free(queued);
}

/* ---- memory ---------------------------------------------------------------------------------- */

void call_touch(const QueuedCall *queued) {
    if (queued->comm->on_host) {
        return;
    }
    const CollectiveCall *call = &queued->call;
    size_t in = collective_in_bytes(call), out = collective_out_bytes(call);
    const Operation *before = queue_act_for(queued->operation);
    if (in > 0) {
        sim_touch(call->in, in, false);
    }
    if (out > 0) {
        sim_touch(call->out, out, true);
    }
    queue_act_for(before);
}

/* The operation that comes next uses the memory; whether that is there. */
static bool use(const QueuedCall *queued) {
    const CollectiveCall *call = &queued->call;
    const char *name = collective_name(call->kind);
    const void *ends[] = {collective_in_bytes(call) > 0 ? call->in : NULL,
                          collective_out_bytes(call) > 0 ? call->out : NULL};
    bool good = true;
    for (int i = 0; i < 2 && !queued->comm->on_host; i++) {
        Allocation *allocation = ends[i] != NULL ? sim_allocation(ends[i]) : NULL;
        good = good && (allocation == NULL || sim_use(allocation, queued->slot, name, call->place));
    }
    return good;
}

/* ---- bytes on the wire ----------------------------------------------------------------------- */

static double *wire;
static int wire_count;

double cudasim_wire_bytes(int rank) {
    return rank >= 0 && rank < wire_count ? wire[rank] : 0;
}

void call_done(QueuedCall *queued) {
    int rank = queued->comm->wire_rank;
    double bytes = collective_wire_bytes(&queued->call);
    for (; wire_count <= rank; wire_count++) {
        wire = sim_realloc(wire, (size_t)(wire_count + 1) * sizeof *wire);
        wire[wire_count] = 0;
    }
    wire[rank] += bytes;
    queued->done = true;
    sim_event("wire %d %s %llu %llu %.17g", rank, collective_name(queued->call.kind),
              (unsigned long long)queued->comm->number, (unsigned long long)queued->call.number,
              bytes);
}

/* ---- launches -------------------------------------------------------------------------------- */

static bool overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes) {
    return (const char *)a < (const char *)b + b_bytes &&
           (const char *)b < (const char *)a + a_bytes && a_bytes > 0 && b_bytes > 0;
}

/* Calls of one launch get on side by side, so none may store what another one uses. */
static void check_apart(const QueuedCall *a, const QueuedCall *b) {
    const CollectiveCall *x = &a->call, *y = &b->call;
    size_t x_in = collective_in_bytes(x), x_out = collective_out_bytes(x);
    size_t y_in = collective_in_bytes(y), y_out = collective_out_bytes(y);
    if (!overlap(x->out, x_out, y->in, y_in) && !overlap(x->out, x_out, y->out, y_out) &&
        !overlap(x->in, x_in, y->out, y_out)) {
        return;
    }
    char text[COLLECTIVE_TEXT];
    collective_describe(x, text);
    nccl_wrong(ncclInvalidUsage, "NCCL argument", (CallSite){collective_name(y->kind), y->place},
               "rank %d uses memory that another call of the group uses, and one of them stores "
               "there",
               y->rank);
    sim_detail("the other is %s", text);
    sim_detail("calls of a group get on side by side: give each memory of its own");
}

/* Takes out of a list the calls that are for the communicator of the first. */
static CallLaunch *next_launch(QueuedCall **list, uint64_t group) {
    CallLaunch *launch = sim_realloc(NULL, sizeof *launch);
    *launch = (CallLaunch){.group = group};
    const Communicator *comm = (*list)->comm;
    QueuedCall **end = &launch->first;
    while (*list != NULL) {
        QueuedCall *queued = *list;
        if (queued->comm != comm) {
            list = &queued->next;
            continue;
        }
        *list = queued->next;
        queued->next = NULL;
        queued->launch = launch;
        launch->holders++;
        *end = queued;
        end = &queued->next;
    }
    return launch;
}

static void account(const void *context, CudasimEntry *entry) {
    static const CudasimCollective kinds[] = {
        [COLLECTIVE_ALL_REDUCE] = CUDASIM_ALL_REDUCE,
        [COLLECTIVE_REDUCE] = CUDASIM_REDUCE_TO_ONE,
        [COLLECTIVE_REDUCE_SCATTER] = CUDASIM_REDUCE_SCATTER,
        [COLLECTIVE_ALL_GATHER] = CUDASIM_ALL_GATHER,
        [COLLECTIVE_BROADCAST] = CUDASIM_BROADCAST,
        [COLLECTIVE_SEND] = CUDASIM_SEND,
        [COLLECTIVE_RECV] = CUDASIM_RECEIVE,
    };
    const QueuedCall *queued = context;
    const CollectiveCall *call = &queued->call;
    size_t in = collective_in_bytes(call), out = collective_out_bytes(call);
    entry->kind = CUDASIM_COLLECTIVE;
    entry->collective = kinds[call->kind];
    entry->bytes = (double)(in > out ? in : out);
    entry->communicator = queued->comm->number;
    entry->call = call->number;
    entry->ranks = call->ranks;
    entry->comm_rank = call->rank;
    entry->peer = call->peer >= 0 ? call->peer : 0;
    entry->group = queued->launch->group;
}

static void submit(QueuedCall *queued) {
    static const Needs joint = {needs, tell};
    HeldWork *job = held_work_new((Work){.what = collective_name(queued->call.kind),
                                         .place = queued->call.place,
                                         .run = run,
                                         .release = release,
                                         .context = queued,
                                         .entered = entered,
                                         .account = account,
                                         .needs = &joint});
    job->device = queue_of(queued->slot)->device;
    if (!use(queued)) {
        sim_stop();
    }
    if (sim_settings.dry && queued->comm->on_host) {
        meet_in_dry_run(queued);
    }
    queue_add(queued->slot, job, (Place){NULL, 0});
    held_work_drop(job);
}

/* All queues of a launch wait for each other: before it, and after it. */
static void join_queues(const int *slots, int count, Clock *clock) {
    sim_clock_of(slots[0], clock);
    for (int i = 1; i < count; i++) {
        Clock other;
        sim_clock_of(slots[i], &other);
        clock_join(clock, &other);
    }
    for (int i = 0; i < count && count > 1; i++) {
        clock_join(&queue_of(slots[i])->clock, clock);
    }
}

/* The queues of a launch, each once; their number. */
static int queues_of(const CallLaunch *launch, int *slots) {
    int count = 0;
    for (const QueuedCall *queued = launch->first; queued != NULL; queued = queued->next) {
        int i = 0;
        while (i < count && slots[i] != queued->slot) {
            i++;
        }
        slots[i] = queued->slot;
        count += i == count;
    }
    return count;
}

static uint64_t *counter_of(Communicator *comm, const CollectiveCall *call) {
    return call->kind == COLLECTIVE_SEND   ? &comm->sends[call->peer]
           : call->kind == COLLECTIVE_RECV ? &comm->receives[call->peer]
                                           : &comm->collectives;
}

static void start(CallLaunch *launch) {
    for (QueuedCall *queued = launch->first; queued != NULL; queued = queued->next) {
        queued->call.number = ++*counter_of(queued->comm, &queued->call);
    }
    for (const QueuedCall *a = launch->first; a != NULL; a = a->next) {
        for (const QueuedCall *b = a->next; b != NULL; b = b->next) {
            check_apart(a, b);
        }
    }
    int slots[QUEUES] = {0}, count = queues_of(launch, slots);
    Clock clock;
    join_queues(slots, count, &clock);
    launch->before = clock_keep(NULL, &clock);
    /* A full queue makes room: a call may be over, and gone, before the next one has entered. */
    for (QueuedCall *queued = launch->first, *next; queued != NULL; queued = next) {
        next = queued->next;
        submit(queued);
    }
    if (count > 1) {
        join_queues(slots, count, &clock);
    }
}

static void start_all(QueuedCall *calls, uint64_t group) {
    while (calls != NULL) {
        start(next_launch(&calls, group));
    }
}

/* ---- groups ---------------------------------------------------------------------------------- */

void group_add_join(Communicator *comm, CallSite caller) {
    Group *group = group_of_host();
    group->joins = sim_realloc(group->joins, (size_t)(group->join_count + 1) * sizeof(Join));
    group->joins[group->join_count++] = (Join){comm, caller};
}

void group_add_split(Split split) {
    Group *group = group_of_host();
    if (group->depth == 0) {
        split_form(&split);
        split_join(&split);
        return;
    }
    group->splits = sim_realloc(group->splits, (size_t)(group->split_count + 1) * sizeof split);
    group->splits[group->split_count++] = split;
}

void group_add_call(QueuedCall call) {
    Group *group = group_of_host();
    QueuedCall *queued = sim_realloc(NULL, sizeof *queued);
    *queued = call;
    comm_hold(call.comm);
    if (group->depth == 0) {
        start_all(queued, 0);
        return;
    }
    *group->end = queued;
    group->end = &queued->next;
}

void group_fail(ncclResult_t result) {
    group_of_host()->result = result;
}

ncclResult_t cudasim_nccl_group_start(const char *file, int line) {
    ENTER("ncclGroupStart", file, line);
    Group *group = group_of_host();
    if (group->depth++ == 0) {
        group->begun = (Place){file, line};
        group->number = ++group_count;
        group->first = NULL;
        group->end = &group->first;
        group->result = ncclSuccess;
    }
    return ncclSuccess;
}

/* The group's calls come to nothing. */
static void drop_calls(QueuedCall *calls) {
    while (calls != NULL) {
        QueuedCall *next = calls->next;
        comm_drop(calls->comm);
        free(calls);
        calls = next;
    }
}

void group_abandon(CallSite caller) {
    Group *group = group_of_host();
    char when[100];
    snprintf(when, sizeof when, "%s is called at %s:%d", caller.function, sim_file(caller.place),
             caller.place.line);
    report_open(group, when);
    drop_calls(group->first);
    group->depth = group->join_count = group->split_count = 0;
}

/* Each step is done by all before the next one begins, for that may wait for them. */
static void end_group(Group *group) {
    for (int i = 0; i < group->split_count; i++) {
        split_form(&group->splits[i]);
    }
    for (int i = 0; i < group->split_count; i++) {
        split_join(&group->splits[i]);
    }
    for (int i = 0; i < group->join_count; i++) {
        comm_join(group->joins[i].comm, group->joins[i].caller);
    }
    group->split_count = group->join_count = 0;
    if (group->result == ncclSuccess) {
        start_all(group->first, group->number);
    } else {
        drop_calls(group->first);
    }
}

ncclResult_t cudasim_nccl_group_end(const char *file, int line) {
    ENTER("ncclGroupEnd", file, line);
    Group *group = group_of_host();
    if (group->depth == 0) {
        return nccl_wrong(ncclInvalidUsage, "NCCL misuse", (CallSite){"ncclGroupEnd", {file, line}},
                          "no group is open: ncclGroupStart was not called before");
    }
    if (--group->depth == 0) {
        end_group(group);
    }
    return group->result;
}
