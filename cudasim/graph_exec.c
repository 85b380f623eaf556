#include "graph.h"
#include "rank.h"
#include "record.h"

/* An executable graph is a copy of a graph, with its nodes in an order in which they could run. A
   launch puts them into queues as a program without graphs would put them into streams, with waits
   for what the edges ask for. */

/* A node, or the begin of one that is a graph itself. */
typedef struct GraphStep {
    Node *node;  /* NULL: nothing to do */
    int *before; /* [0, before_count): steps */
    int before_count;
} GraphStep;

struct CUgraphExec_st {
    cudaGraph_t graph; /* its own */
    GraphStep *step;   /* [0, count) */
    int count;
    Clock *ends; /* [count]: when each step is over; of the launch in hand */
    Clock last;  /* when the last launch is over: the next waits for it */
};

static cudaError_t invalid(const char *what, Place place) {
    return sim_error(cudaErrorInvalidValue, what, place, false);
}

/* ---- from nodes to steps --------------------------------------------------------------------- */

static int add_step(cudaGraphExec_t exec, Node *node) {
    if ((exec->count & (exec->count - 1)) == 0) {
        size_t room = exec->count == 0 ? 1 : 2 * (size_t)exec->count;
        exec->step = sim_realloc(exec->step, room * sizeof *exec->step);
    }
    exec->step[exec->count] = (GraphStep){.node = node};
    return exec->count++;
}

static void add_before(cudaGraphExec_t exec, int step, int before) {
    GraphStep *s = &exec->step[step];
    s->before = sim_realloc(s->before, (size_t)(s->before_count + 1) * sizeof *s->before);
    s->before[s->before_count++] = before;
}

/* Of the nodes that could come next, the one that the schedule prefers; or NULL. */
static Node *choose(cudaGraph_t graph, const int *step_of, unsigned *random) {
    Node *chosen = NULL;
    unsigned found = 0;
    for (int i = 0; i < graph->nodes.count; i++) {
        Node *node = graph->nodes.node[i];
        bool ready = step_of[i] < 0;
        for (int k = 0; ready && k < node->before.count; k++) {
            ready = step_of[node->before.node[k]->index] >= 0;
        }
        if (!ready) {
            continue;
        }
        *random = *random * 1664525u + 1013904223u;
        bool take = sim_settings.schedule == REVERSE ||
                    (sim_settings.schedule == RANDOM && (*random >> 16) % (found + 1) == 0);
        found++;
        chosen = chosen == NULL || take ? node : chosen;
    }
    return chosen;
}

static bool add_graph(cudaGraphExec_t exec, cudaGraph_t graph, int entry);

/* A graph within a graph begins with an empty step and ends with one: its own. */
static bool add_node(cudaGraphExec_t exec, Node *node, const int *step_of, int entry) {
    int begin = node->child != NULL ? add_step(exec, NULL) : -1;
    bool good = node->child == NULL || add_graph(exec, node->child, begin);
    int own = add_step(exec, node);
    int waits = node->child != NULL ? begin : own;
    for (int s = begin; begin >= 0 && s < own; s++) {
        add_before(exec, own, s);
    }
    for (int k = 0; k < node->before.count; k++) {
        add_before(exec, waits, step_of[node->before.node[k]->index]);
    }
    if (node->before.count == 0 && entry >= 0) {
        add_before(exec, waits, entry);
    }
    return good;
}

/* False if the nodes wait for each other. */
static bool add_graph(cudaGraphExec_t exec, cudaGraph_t graph, int entry) {
    int count = graph->nodes.count, done = 0;
    unsigned random = sim_settings.seed * 2654435761u + 1;
    int *step_of = sim_realloc(NULL, ((size_t)count + 1) * sizeof *step_of);
    memset(step_of, -1, ((size_t)count + 1) * sizeof *step_of);
    bool good = true;
    for (Node *node; good && (node = choose(graph, step_of, &random)) != NULL; done++) {
        good = add_node(exec, node, step_of, entry);
        step_of[node->index] = exec->count - 1;
    }
    free(step_of);
    return good && done == count;
}

static void exec_free(void *p) {
    cudaGraphExec_t exec = p;
    for (int i = 0; i < exec->count; i++) {
        free(exec->step[i].before);
    }
    free(exec->step);
    free(exec->ends);
    graph_free(exec->graph);
    free(exec);
}

static bool exec_exists(cudaGraphExec_t exec, const char *what, Place place) {
    return sim_handle_exists(exec, "executable graph", what, place);
}

Node *exec_node(cudaGraphExec_t exec, const Node *original, const char *what, Place place) {
    if (!exec_exists(exec, what, place)) {
        return NULL;
    }
    Node *node = graph_find_copy(exec->graph, original);
    if (node == NULL) {
        graph_misuse(cudaErrorInvalidValue, what, place,
                     "the node is not of the graph that was instantiated");
    }
    return node;
}

/* ---- making ---------------------------------------------------------------------------------- */

cudaError_t cudasim_graph_instantiate(const char *file, int line, cudaGraphExec_t *exec,
                                      cudaGraph_t graph, unsigned long long flags) {
    ENTER("cudaGraphInstantiate", file, line);
    static const char what[] = "cudaGraphInstantiate";
    Place place = {file, line};
    if (exec == NULL || !graph_exists(graph, what, place)) {
        return invalid(what, place);
    }
    if (flags & cudaGraphInstantiateFlagDeviceLaunch) {
        sim_report("unsupported", "%s at %s:%d: a graph that kernels launch", what, sim_file(place),
                   line);
        return sim_error(cudaErrorNotSupported, what, place, false);
    }
    cudaGraphExec_t made = sim_realloc(NULL, sizeof *made);
    *made = (struct CUgraphExec_st){.graph = graph_copy(graph)};
    if (!add_graph(made, made->graph, -1)) {
        exec_free(made);
        return graph_misuse(cudaErrorInvalidValue, what, place,
                            "nodes wait for each other in a circle");
    }
    made->ends = sim_realloc(NULL, ((size_t)made->count + 1) * sizeof *made->ends);
    *exec = made;
    sim_handle_made(made, what, place);
    return sim_device_error();
}

cudaError_t cudasim_graph_exec_destroy(const char *file, int line, cudaGraphExec_t exec) {
    ENTER("cudaGraphExecDestroy", file, line);
    static const char what[] = "cudaGraphExecDestroy";
    Place place = {file, line};
    if (!exec_exists(exec, what, place)) {
        return invalid(what, place);
    }
    /* Operations that wait in queues hold their jobs themselves. */
    sim_handle_ended(exec, what, place, exec_free);
    return sim_device_error();
}

/* ---- changing -------------------------------------------------------------------------------- */

static bool same_edges(const NodeSet *a, const NodeSet *b) {
    bool same = a->count == b->count;
    for (int i = 0; same && i < a->count; i++) {
        same = a->node[i]->index == b->node[i]->index;
    }
    return same;
}

/* Whether `new` has the nodes and edges of `old`; else what differs, and at which node. */
static cudaGraphExecUpdateResult compare(cudaGraph_t old, cudaGraph_t new, Node **different) {
    *different = NULL;
    if (old->nodes.count != new->nodes.count) {
        return cudaGraphExecUpdateErrorTopologyChanged;
    }
    for (int i = 0; i < old->nodes.count; i++) {
        const Node *a = old->nodes.node[i];
        Node *b = new->nodes.node[i];
        *different = b;
        if (a->type != b->type || (a->job == NULL) != (b->job == NULL)) {
            return cudaGraphExecUpdateErrorNodeTypeChanged;
        }
        if (!same_edges(&a->before, &b->before)) {
            return cudaGraphExecUpdateErrorTopologyChanged;
        }
        if (a->child != NULL && compare(a->child, b->child, different) != 0) {
            return cudaGraphExecUpdateErrorTopologyChanged;
        }
    }
    *different = NULL;
    return cudaGraphExecUpdateSuccess;
}

cudaError_t cudasim_graph_exec_update(const char *file, int line, cudaGraphExec_t exec,
                                      cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info) {
    ENTER("cudaGraphExecUpdate", file, line);
    static const char what[] = "cudaGraphExecUpdate";
    Place place = {file, line};
    if (!exec_exists(exec, what, place) || !graph_exists(graph, what, place)) {
        return invalid(what, place);
    }
    Node *different;
    cudaGraphExecUpdateResult result = compare(exec->graph, graph, &different);
    if (info != NULL) {
        *info = (cudaGraphExecUpdateResultInfo){.result = result, .errorNode = different};
    }
    if (result != cudaGraphExecUpdateSuccess) {
        /* No mistake: the usual way to find out whether it must be instantiated again. */
        return sim_error(cudaErrorGraphExecUpdateFailure, what, place, false);
    }
    graph_take_jobs(exec->graph, graph);
    return sim_device_error();
}

/* ---- launching ------------------------------------------------------------------------------- */

static bool is_over_by(int slot, const Clock *clock) {
    return clock_at(clock, slot) >= queue_of(slot)->submitted;
}

enum { MOST_LANES = 31 /* of a device */ };

static bool is_lane(const Queue *queue, int device) {
    return queue->kind == QUEUE_LANE && queue->device == device && queue->rank == queue_owner();
}

/* A queue in which a step adds no order that the edges do not ask for: all that is in it comes
   before the step. If there is none, steps share one, and a race between them may go unseen. */
static int queue_for(const Clock *clock, int stream, int device) {
    static int turn;
    int lane[MOST_LANES], lanes = 0;
    if (queue_of(stream)->device == device && is_over_by(stream, clock)) {
        return stream;
    }
    for (int s = 1; s < queue_count(); s++) {
        if (is_lane(queue_of(s), device)) {
            if (is_over_by(s, clock)) {
                return s;
            }
            lane[lanes++] = s;
        }
    }
    int made = lanes < MOST_LANES ? queue_take(device, QUEUE_LANE) : -1;
    return made >= 0 ? made : lanes > 0 ? lane[turn++ % lanes] : queue_default(device);
}

/* Puts one step into a queue; false if its memory is gone. */
static bool launch_step(cudaGraphExec_t exec, int i, const Clock *begin, int stream,
                        Place launched) {
    const GraphStep *step = &exec->step[i];
    Clock *end = &exec->ends[i];
    clock_copy(end, begin);
    for (int k = 0; k < step->before_count; k++) {
        clock_join(end, &exec->ends[step->before[k]]);
    }
    HeldWork *job = step->node != NULL ? step->node->job : NULL;
    if (job == NULL) {
        return true;
    }
    int slot = queue_for(end, stream, job->device);
    clock_join(&queue_of(slot)->clock, end);
    if (!use_again(job, slot, launched)) {
        return false;
    }
    clock_copy(end, queue_add(slot, job, launched)->clock);
    return true;
}

/* The stream goes on when all steps are over. */
static void launch_end(cudaGraphExec_t exec, int stream, Place launched) {
    for (int i = 0; i < exec->count; i++) {
        clock_join(&queue_of(stream)->clock, &exec->ends[i]);
    }
    HeldWork *end = held_work_new((Work){.what = "cudaGraphLaunch", .place = launched});
    clock_copy(&exec->last, queue_add(stream, end, launched)->clock);
    held_work_drop(end);
}

static void launch_steps(cudaGraphExec_t exec, int stream, Place launched) {
    Clock begin;
    sim_clock_of(stream, &begin);
    clock_join(&begin, &exec->last);
    clock_join(&queue_of(stream)->clock, &exec->last);
    for (int i = 0; i < exec->count; i++) {
        if (!launch_step(exec, i, &begin, stream, launched)) {
            sim_fail_device(cudaErrorIllegalAddress);
            return;
        }
    }
    launch_end(exec, stream, launched);
}

cudaError_t cudasim_graph_launch(const char *file, int line, cudaGraphExec_t exec,
                                 cudaStream_t stream) {
    ENTER("cudaGraphLaunch", file, line);
    static const char what[] = "cudaGraphLaunch";
    Place place = {file, line};
    int slot;
    cudaError_t error = sim_may_submit(stream, what, place, &slot);
    if (error != cudaSuccess || !exec_exists(exec, what, place)) {
        return error != cudaSuccess ? error : invalid(what, place);
    }
    if (capture_takes(slot)) {
        return capture_forbids_graph(slot, place);
    }
    if (sim_recording) {
        record_graph(what, place);
    }
    launch_steps(exec, slot, place);
    if (sim_recording) {
        record_graph_over();
    }
    return sim_device_error();
}

cudaError_t cudasim_graph_upload(const char *file, int line, cudaGraphExec_t exec,
                                 cudaStream_t stream) {
    ENTER("cudaGraphUpload", file, line);
    static const char what[] = "cudaGraphUpload";
    Place place = {file, line};
    int slot;
    cudaError_t error = sim_may_submit(stream, what, place, &slot);
    return error != cudaSuccess             ? error
           : exec_exists(exec, what, place) ? sim_device_error()
                                            : invalid(what, place);
}
