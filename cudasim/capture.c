#include "device.h"
#include "graph.h"
#include "rank.h"

/* Capture: what a stream is given becomes nodes of a graph. Each captured stream knows the nodes
   that its next one comes after; an event takes them along, and a stream that waits for the event
   is captured from there on. */

/* One capture, from its begin to its end. */
typedef struct Capture {
    uint64_t id;
    cudaGraph_t graph;
    cudaStreamCaptureMode mode;
    int origin;       /* the slot that it began in */
    const Host *host; /* and the thread, or rank */
    Place begun;
    bool invalid; /* something forbidden was done */
    struct Capture *next;
} Capture;

static Capture *captures; /* that have not ended */
static uint64_t ids;
static struct {
    Capture *capture; /* NULL: the stream is not captured */
    NodeSet last;     /* that its next node comes after */
} captured[QUEUES];

/* ---- rules ----------------------------------------------------------------------------------- */

bool capture_takes(int slot) {
    return slot >= 0 && captured[slot].capture != NULL;
}

/* Ranks are like processes: none knows of another's captures. */
static bool is_of_process(const Capture *capture) {
    return capture->host->rank == sim_host()->rank;
}

/* A blocking stream of the current device. */
static bool captures_blocking(const Capture *capture) {
    int device = sim_device();
    for (int s = 1; s < queue_count(); s++) {
        if (captured[s].capture == capture && queue_of(s)->blocking &&
            queue_of(s)->device == device && is_of_process(capture)) {
            return true;
        }
    }
    return false;
}

static bool is_default(int slot) {
    return queue_of(slot)->kind == QUEUE_DEFAULT;
}

/* Of the captures, those that a call breaks: it is reported once, and they are lost. */
static cudaError_t break_captures(bool (*broken)(const Capture *), cudaError_t error,
                                  const char *what, Place place, const char *why) {
    const Capture *first = NULL;
    for (Capture *c = captures; c != NULL; c = c->next) {
        if (broken(c)) {
            first = first == NULL && !c->invalid ? c : first;
            c->invalid = true;
        }
    }
    if (first != NULL) {
        graph_misuse(error, what, place, "%s", why);
        sim_detail("the capture begun at %s:%d is lost", sim_file(first->begun), first->begun.line);
    }
    return sim_error(error, what, place, false);
}

static cudaError_t break_one(Capture *capture, cudaError_t error, const char *what, Place place,
                             const char *why) {
    bool lost = capture->invalid;
    capture->invalid = true;
    if (!lost) {
        graph_misuse(error, what, place, "%s", why);
        sim_detail("the capture begun at %s:%d is lost", sim_file(capture->begun),
                   capture->begun.line);
    }
    return sim_error(lost ? cudaErrorStreamCaptureInvalidated : error, what, place, false);
}

cudaError_t sim_may_submit(cudaStream_t stream, const char *what, Place place, int *slot) {
    *slot = sim_stream_slot(stream, what, place);
    sim_tell_refused();
    if (*slot < 0) {
        return sim_error(cudaErrorInvalidResourceHandle, what, place, false);
    }
    if (capture_takes(*slot) && captured[*slot].capture->invalid) {
        return sim_error(cudaErrorStreamCaptureInvalidated, what, place, false);
    }
    for (const Capture *c = captures; c != NULL && is_default(*slot); c = c->next) {
        if (captures_blocking(c)) {
            return break_captures(
                captures_blocking, cudaErrorStreamCaptureImplicit, what, place,
                "uses the default stream, which waits for all streams, while one is captured");
        }
    }
    return sim_device_error();
}

cudaError_t sim_may_wait_stream(int slot, const char *what, Place place) {
    if (capture_takes(slot)) {
        return break_one(captured[slot].capture, cudaErrorStreamCaptureUnsupported, what, place,
                         "a captured stream runs nothing, so there is nothing to wait for");
    }
    return cudaSuccess;
}

cudaError_t sim_may_wait_device(const char *what, Place place) {
    for (const Capture *c = captures; c != NULL; c = c->next) {
        if (is_of_process(c)) {
            return break_captures(is_of_process, cudaErrorStreamCaptureUnsupported, what, place,
                                  "waits for all streams, and one is captured: it runs nothing");
        }
    }
    return cudaSuccess;
}

/* Whether the calling thread must not do what could wait, as long as this goes on. */
static bool is_strict(const Capture *capture) {
    cudaStreamCaptureMode mode = sim_host()->mode;
    return is_of_process(capture) && mode != cudaStreamCaptureModeRelaxed &&
           capture->mode != cudaStreamCaptureModeRelaxed &&
           (capture->host == sim_host() ||
            (capture->mode == cudaStreamCaptureModeGlobal && mode == cudaStreamCaptureModeGlobal));
}

cudaError_t sim_may_allocate(const char *what, Place place) {
    sim_refuse_in_host_function(what, place);
    sim_tell_refused();
    for (const Capture *c = captures; c != NULL; c = c->next) {
        if (is_strict(c)) {
            return break_captures(is_strict, cudaErrorStreamCaptureUnsupported, what, place,
                                  "may wait for the device, and that is forbidden while a stream "
                                  "is captured: do it before");
        }
    }
    return cudaSuccess;
}

cudaError_t capture_forbids_event(const CaptureMark *mark, const char *what, Place place) {
    if (mark->capture == 0) {
        return sim_may_allocate(what, place);
    }
    for (Capture *c = captures; c != NULL; c = c->next) {
        if (c->id == mark->capture) {
            return break_one(c, cudaErrorCapturedEvent, what, place,
                             "the event was recorded in a captured stream, and is never reached");
        }
    }
    return graph_misuse(cudaErrorCapturedEvent, what, place,
                        "the event was last recorded in a capture, and is never reached");
}

cudaError_t capture_forbids_graph(int slot, Place place) {
    return break_one(captured[slot].capture, cudaErrorStreamCaptureUnsupported, "cudaGraphLaunch",
                     place,
                     "a captured stream takes no graph: cudaGraphAddChildGraphNode puts one into "
                     "another");
}

/* ---- nodes ----------------------------------------------------------------------------------- */

Node *capture_add(int slot, cudaGraphNodeType type, HeldWork *job) {
    NodeSet *last = &captured[slot].last;
    Node *node = graph_add(captured[slot].capture->graph, type, job, last);
    nodes_clear(last);
    nodes_add(last, node);
    return node;
}

void capture_mark(int slot, CaptureMark *mark) {
    nodes_clear(&mark->nodes);
    mark->capture = captured[slot].capture->id;
    nodes_join(&mark->nodes, &captured[slot].last);
}

cudaError_t capture_wait(int slot, const CaptureMark *mark, bool recorded, Place place) {
    static const char what[] = "cudaStreamWaitEvent";
    Capture *here = captured[slot].capture, *there = captures;
    while (there != NULL && there->id != mark->capture) {
        there = there->next;
    }
    if (mark->capture == 0) {
        return !recorded ? cudaSuccess
                         : break_one(here, cudaErrorStreamCaptureIsolation, what, place,
                                     "a captured stream waits for an event that was recorded "
                                     "outside of the capture");
    }
    if (there == NULL) {
        return graph_misuse(cudaErrorCapturedEvent, what, place,
                            "the event was last recorded in a capture that has ended");
    }
    if (is_default(slot)) {
        return break_one(there, cudaErrorStreamCaptureImplicit, what, place,
                         "the default stream cannot be captured");
    }
    if (here != NULL && here != there) {
        there->invalid = true;
        return break_one(here, cudaErrorStreamCaptureMerge, what, place,
                         "this would join two captures");
    }
    if (there->invalid) {
        return sim_error(cudaErrorStreamCaptureInvalidated, what, place, false);
    }
    captured[slot].capture = there;
    nodes_join(&captured[slot].last, &mark->nodes);
    return sim_device_error();
}

/* ---- begin and end --------------------------------------------------------------------------- */

static Capture *begin(cudaGraph_t graph, int slot, cudaStreamCaptureMode mode, Place place) {
    Capture *capture = sim_realloc(NULL, sizeof *capture);
    *capture = (Capture){++ids, graph, mode, slot, sim_host(), place, false, captures};
    captures = capture;
    captured[slot].capture = capture;
    return capture;
}

/* Its streams are streams again. */
static void end(Capture *capture) {
    for (int s = 0; s < queue_count(); s++) {
        if (captured[s].capture == capture) {
            captured[s].capture = NULL;
            nodes_clear(&captured[s].last);
        }
    }
    Capture **link = &captures;
    while (*link != capture) {
        link = &(*link)->next;
    }
    *link = capture->next;
    free(capture);
}

cudaError_t cudasim_begin_capture(const char *file, int line, cudaStream_t stream,
                                  cudaStreamCaptureMode mode) {
    ENTER("cudaStreamBeginCapture", file, line);
    static const char what[] = "cudaStreamBeginCapture";
    Place place = {file, line};
    int slot = sim_stream_slot(stream, what, place);
    if (slot < 0 || mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed) {
        return sim_error(cudaErrorInvalidValue, what, place, false);
    }
    if (is_default(slot) && stream != cudaStreamPerThread) {
        return graph_misuse(cudaErrorStreamCaptureUnsupported, what, place,
                            "the default stream cannot be captured: make one with "
                            "cudaStreamCreate");
    }
    if (capture_takes(slot)) {
        return graph_misuse(cudaErrorIllegalState, what, place, "the stream is captured already");
    }
    begin(graph_new(), slot, mode, place);
    return sim_device_error();
}

/* Marks the nodes before those of a set. A captured node comes after those made before it. */
static bool *nodes_before(const Capture *capture, const NodeSet *set) {
    int count = capture->graph->nodes.count;
    bool *before = memset(sim_realloc(NULL, (size_t)count + 1), 0, (size_t)count + 1);
    for (int i = 0; i < set->count; i++) {
        before[set->node[i]->index] = true;
    }
    for (int i = count - 1; i >= 0; i--) {
        const NodeSet *edges = &capture->graph->nodes.node[i]->before;
        for (int k = 0; before[i] && k < edges->count; k++) {
            before[edges->node[k]->index] = true;
        }
    }
    return before;
}

/* The last node of a stream that its origin has not waited for; or NULL. */
static const Node *unjoined(const Capture *capture) {
    bool *joined = nodes_before(capture, &captured[capture->origin].last);
    const Node *node = NULL;
    for (int s = 1; s < queue_count() && node == NULL; s++) {
        for (int i = 0; captured[s].capture == capture && i < captured[s].last.count; i++) {
            const Node *last = captured[s].last.node[i];
            node = joined[last->index] ? node : last;
        }
    }
    free(joined);
    return node;
}

/* Why a capture that ends gives no graph. */
static cudaError_t judge(const Capture *capture, const char *what, Place place) {
    const Node *node = unjoined(capture);
    if (capture->invalid) {
        return sim_error(cudaErrorStreamCaptureInvalidated, what, place, false);
    }
    if (node != NULL) {
        Place work = node->job != NULL ? node->job->work.place : place;
        return graph_misuse(cudaErrorStreamCaptureUnjoined, what, place,
                            "the stream has not waited for %s at %s:%d, in another stream: record "
                            "an event there and let this stream wait for it",
                            node->job != NULL ? node->job->work.what : "a node", sim_file(work),
                            work.line);
    }
    return cudaSuccess;
}

cudaError_t cudasim_end_capture(const char *file, int line, cudaStream_t stream,
                                cudaGraph_t *graph) {
    ENTER("cudaStreamEndCapture", file, line);
    static const char what[] = "cudaStreamEndCapture";
    Place place = {file, line};
    int slot = sim_stream_slot(stream, what, place);
    if (slot < 0 || graph == NULL) {
        return sim_error(cudaErrorInvalidValue, what, place, false);
    }
    *graph = NULL;
    Capture *capture = captured[slot].capture;
    if (capture == NULL) {
        return graph_misuse(cudaErrorIllegalState, what, place, "the stream is not captured");
    }
    if (capture->origin != slot) {
        return break_one(capture, cudaErrorStreamCaptureUnmatched, what, place,
                         "the capture began in another stream");
    }
    if (capture->mode != cudaStreamCaptureModeRelaxed && capture->host != sim_host()) {
        return graph_misuse(cudaErrorStreamCaptureWrongThread, what, place,
                            "the capture began in another thread");
    }
    cudaError_t error = judge(capture, what, place);
    cudaGraph_t made = capture->graph;
    end(capture);
    if (error != cudaSuccess) {
        graph_free(made);
        return error;
    }
    *graph = made;
    sim_handle_made(made, what, place);
    return sim_device_error();
}

/* ---- questions ------------------------------------------------------------------------------- */

static cudaStreamCaptureStatus status_of(int slot) {
    const Capture *capture = captured[slot].capture;
    return capture == NULL    ? cudaStreamCaptureStatusNone
           : capture->invalid ? cudaStreamCaptureStatusInvalidated
                              : cudaStreamCaptureStatusActive;
}

cudaError_t cudasim_capture_info(const char *file, int line, const char *what, cudaStream_t stream,
                                 cudaStreamCaptureStatus *status, unsigned long long *id,
                                 cudaGraph_t *graph, const cudaGraphNode_t **last, size_t *count) {
    ENTER("cudaStreamIsCapturing", file, line);
    Place place = {file, line};
    int slot = sim_stream_slot(stream, what, place);
    if (slot < 0 || status == NULL) {
        return sim_error(cudaErrorInvalidValue, what, place, false);
    }
    *status = status_of(slot);
    const Capture *capture = captured[slot].capture;
    if (capture != NULL && id != NULL) {
        *id = capture->id;
    }
    if (capture != NULL && graph != NULL) {
        *graph = capture->graph;
    }
    if (capture != NULL && last != NULL) {
        *last = captured[slot].last.node;
    }
    if (capture != NULL && count != NULL) {
        *count = (size_t)captured[slot].last.count;
    }
    return sim_device_error();
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode) {
    ENTER("cudaThreadExchangeStreamCaptureMode", NULL, 0);
    if (mode == NULL || *mode < cudaStreamCaptureModeGlobal ||
        *mode > cudaStreamCaptureModeRelaxed) {
        return cudaErrorInvalidValue;
    }
    cudaStreamCaptureMode before = sim_host()->mode;
    sim_host()->mode = *mode;
    *mode = before;
    return cudaSuccess;
}

/* ---- one call -------------------------------------------------------------------------------- */

static int count_before; /* nodes of the recorder's graph */

/* The slot of the stream that the call is given. */
static int recorder(void) {
    static int slot;
    static char handle;
    if (slot == 0) {
        slot = queue_take(sim_device(), QUEUE_RECORDER);
        if (slot < 0) {
            fprintf(stderr, "[cudasim] at most %d streams\n", QUEUES);
            sim_stop();
        }
        queue_of(slot)->handle = (cudaStream_t)&handle;
    }
    queue_of(slot)->device = sim_device();
    return slot;
}

cudaStream_t capture_recorder(void) {
    return queue_of(recorder())->handle;
}

void capture_into(cudaGraph_t graph, const NodeSet *before) {
    /* It breaks no rule of other captures: nothing of it is strict. */
    int slot = recorder();
    begin(graph, slot, cudaStreamCaptureModeRelaxed, (Place){NULL, 0});
    nodes_join(&captured[slot].last, before);
    count_before = graph->nodes.count;
}

Node *capture_made(void) {
    Capture *capture = captured[recorder()].capture;
    cudaGraph_t graph = capture->graph;
    end(capture);
    return graph->nodes.count > count_before ? graph->nodes.node[graph->nodes.count - 1] : NULL;
}
