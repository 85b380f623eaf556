/**
 * @file graph.h
 * @brief The inside of cudasim, graphs: work that is noted once and launched many times.
 * @ingroup cudasim
 *
 * A node of a graph holds a job (HeldWork), as an operation in a queue does. A captured stream
 * gives its jobs to a graph instead of its queue (capture.c); a node by API is one call that is
 * captured in a stream of its own (graph_node.c); a launch puts the jobs into queues, with the
 * waits between them that the edges ask for (graph_exec.c). So all that is known of queues, order
 * and races holds for graphs.
 */
#ifndef CUDASIM_GRAPH_H
#define CUDASIM_GRAPH_H

#include "queue.h"

/** A node of a graph. */
typedef struct CUgraphNode_st Node;

/** Some nodes, each once. */
typedef struct NodeSet {
    Node **node; /**< [0, count); owned by the set */
    int count;   /**< how many */
} NodeSet;

/** A node: its work, and the nodes that come before it. */
struct CUgraphNode_st {
    cudaGraph_t graph;      /**< that it is in */
    int index;              /**< its place there, from 0 on */
    cudaGraphNodeType type; /**< what it does */
    HeldWork *job;          /**< held; NULL: an empty node, or one with a child */
    cudaGraph_t child;      /**< a graph that it owns, or NULL */
    NodeSet before;         /**< what must be done before it */
    const Node *original;   /**< of which it is a clone, or NULL */
};

/** A graph: its nodes. */
struct CUgraph_st {
    NodeSet nodes; /**< in the order of their making; it owns them */
};

/** Adds a node to a set, if it is not in it. */
void nodes_add(NodeSet *set, Node *node);

/** Adds all of another set. */
void nodes_join(NodeSet *set, const NodeSet *other);

/** Whether a node is in a set. */
bool nodes_have(const NodeSet *set, const Node *node);

/** Leaves the set empty. */
void nodes_clear(NodeSet *set);

/** A graph without nodes. */
cudaGraph_t graph_new(void);

/** Frees a graph and drops its jobs. */
void graph_free(void *graph);

/** A graph like it, whose nodes hold the same jobs. */
cudaGraph_t graph_copy(cudaGraph_t graph);

/** A new node after the nodes of a set; it holds the job. */
Node *graph_add(cudaGraph_t graph, cudaGraphNodeType type, HeldWork *job, const NodeSet *before);

/** The node of a copy (or of a graph within it) that was made of a node; NULL if there is none. */
Node *graph_find_copy(cudaGraph_t copy, const Node *original);

/** Gives the nodes of a copy the jobs of another graph of the same shape. */
void graph_take_jobs(cudaGraph_t copy, cudaGraph_t from);

/** Whether a graph exists; else that is reported. */
bool graph_exists(cudaGraph_t graph, const char *what, Place place);

/**
 * Reports a mistake with graphs, and returns the error.
 *
 * @param error  what CUDA returns
 * @param what   the function that was called
 * @param place  where
 * @param format printf format of what is wrong, then its values
 */
cudaError_t graph_misuse(cudaError_t error, const char *what, Place place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- capture.c ------------------------------------------------------------------------------- */

/** The place of an event that was recorded in a captured stream. */
typedef struct CaptureMark {
    uint64_t capture; /**< which; 0: none */
    NodeSet nodes;    /**< what comes before it */
} CaptureMark;

/** Whether work for a stream is noted in a graph. */
bool capture_takes(int slot);

/** Notes a node after the last of the stream; it holds the job, which may be NULL. */
Node *capture_add(int slot, cudaGraphNodeType type, HeldWork *job);

/** An event is recorded in a captured stream. */
void capture_mark(int slot, CaptureMark *mark);

/**
 * A stream waits for an event, and one of them is captured: the stream is captured as well.
 *
 * @param slot     the stream
 * @param mark     of the event
 * @param recorded whether the event was recorded outside of captures
 * @param place    of the call
 */
cudaError_t capture_wait(int slot, const CaptureMark *mark, bool recorded, Place place);

/** An event cannot be waited for that was recorded in a capture. */
cudaError_t capture_forbids_event(const CaptureMark *mark, const char *what, Place place);

/** cudaGraphLaunch() into a captured stream: CUDA refuses it. */
cudaError_t capture_forbids_graph(int slot, Place place);

/** Captures into a graph what one call gives to the recorder, after some nodes. */
void capture_into(cudaGraph_t graph, const NodeSet *before);

/** The node that this call has made, or NULL: it has failed. */
Node *capture_made(void);

/** The stream to give to that call. */
cudaStream_t capture_recorder(void);

/* ---- graph_exec.c ---------------------------------------------------------------------------- */

/** The node of an executable graph for one of the graph that it was made of; or NULL, reported. */
Node *exec_node(cudaGraphExec_t exec, const Node *original, const char *what, Place place);

#endif
