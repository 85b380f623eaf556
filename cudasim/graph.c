#include "graph.h"

#include <errno.h>
#include <stdarg.h>

/* A graph as data: nodes, what each waits for, and what programs ask of them. */

cudaError_t graph_misuse(cudaError_t error, const char *what, Place place, const char *format,
                         ...) {
    ENTER("graph_misuse", NULL, 0);
    char why[500];
    va_list values;
    va_start(values, format);
    vsnprintf(why, sizeof why, format, values);
    va_end(values);
    sim_report("graph misuse", "%s at %s:%d: %s", what, sim_file(place), place.line, why);
    sim_detail("a GPU only returns \"%s\"", cudaGetErrorString(error));
    return sim_error(error, what, place, false);
}

/* ---- sets of nodes --------------------------------------------------------------------------- */

bool nodes_have(const NodeSet *set, const Node *node) {
    for (int i = set->count - 1; i >= 0; i--) {
        if (set->node[i] == node) {
            return true;
        }
    }
    return false;
}

static void append(NodeSet *set, Node *node) {
    if ((set->count & (set->count - 1)) == 0) {
        size_t room = set->count == 0 ? 1 : 2 * (size_t)set->count;
        set->node = sim_realloc(set->node, room * sizeof(Node *));
    }
    set->node[set->count++] = node;
}

void nodes_add(NodeSet *set, Node *node) {
    if (!nodes_have(set, node)) {
        append(set, node);
    }
}

void nodes_join(NodeSet *set, const NodeSet *other) {
    for (int i = 0; i < other->count; i++) {
        nodes_add(set, other->node[i]);
    }
}

void nodes_clear(NodeSet *set) {
    free(set->node);
    *set = (NodeSet){0};
}

static bool nodes_remove(NodeSet *set, const Node *node) {
    for (int i = 0; i < set->count; i++) {
        if (set->node[i] == node) {
            NodeSet rest = {0};
            for (int k = 0; k < set->count; k++) {
                if (k != i) {
                    append(&rest, set->node[k]);
                }
            }
            nodes_clear(set);
            *set = rest;
            return true;
        }
    }
    return false;
}

/* ---- making and freeing ---------------------------------------------------------------------- */

cudaGraph_t graph_new(void) {
    cudaGraph_t graph = sim_realloc(NULL, sizeof *graph);
    *graph = (struct CUgraph_st){0};
    return graph;
}

static void free_node(Node *node) {
    held_work_drop(node->job);
    if (node->child != NULL) {
        graph_free(node->child);
    }
    nodes_clear(&node->before);
    free(node);
}

void graph_free(void *p) {
    cudaGraph_t graph = p;
    for (int i = 0; i < graph->nodes.count; i++) {
        free_node(graph->nodes.node[i]);
    }
    nodes_clear(&graph->nodes);
    free(graph);
}

Node *graph_add(cudaGraph_t graph, cudaGraphNodeType type, HeldWork *job, const NodeSet *before) {
    Node *node = sim_realloc(NULL, sizeof *node);
    *node = (Node){.graph = graph,
                   .index = graph->nodes.count,
                   .type = type,
                   .job = job != NULL ? held_work_hold(job) : NULL};
    if (before != NULL) {
        nodes_join(&node->before, before);
    }
    append(&graph->nodes, node);
    return node;
}

cudaGraph_t graph_copy(cudaGraph_t graph) {
    cudaGraph_t copy = graph_new();
    for (int i = 0; i < graph->nodes.count; i++) {
        const Node *node = graph->nodes.node[i];
        Node *same = graph_add(copy, node->type, node->job, NULL);
        same->original = node;
        same->child = node->child != NULL ? graph_copy(node->child) : NULL;
    }
    for (int i = 0; i < graph->nodes.count; i++) {
        const NodeSet *before = &graph->nodes.node[i]->before;
        for (int k = 0; k < before->count; k++) {
            append(&copy->nodes.node[i]->before, copy->nodes.node[before->node[k]->index]);
        }
    }
    return copy;
}

Node *graph_find_copy(cudaGraph_t copy, const Node *original) {
    Node *found = NULL;
    for (int i = 0; i < copy->nodes.count && found == NULL; i++) {
        Node *node = copy->nodes.node[i];
        found = node->original == original ? node
                : node->child != NULL      ? graph_find_copy(node->child, original)
                                           : NULL;
    }
    return found;
}

void graph_take_jobs(cudaGraph_t copy, cudaGraph_t from) {
    for (int i = 0; i < copy->nodes.count; i++) {
        Node *to = copy->nodes.node[i];
        const Node *new = from->nodes.node[i];
        if (to->child != NULL) {
            graph_take_jobs(to->child, new->child);
        } else if (new->job != NULL) {
            held_work_hold(new->job);
            held_work_drop(to->job);
            to->job = new->job;
        }
    }
}

bool graph_exists(cudaGraph_t graph, const char *what, Place place) {
    return sim_handle_exists(graph, "graph", what, place);
}

/* ---- what programs call ---------------------------------------------------------------------- */

static cudaError_t invalid(const char *what, Place place) {
    return sim_error(cudaErrorInvalidValue, what, place, false);
}

cudaError_t cudasim_graph_create(const char *file, int line, cudaGraph_t *graph, unsigned flags) {
    ENTER("cudaGraphCreate", file, line);
    if (graph == NULL || flags != 0) {
        return invalid("cudaGraphCreate", (Place){file, line});
    }
    *graph = graph_new();
    sim_handle_made(*graph, "cudaGraphCreate", (Place){file, line});
    return sim_device_error();
}

cudaError_t cudasim_graph_destroy(const char *file, int line, cudaGraph_t graph) {
    ENTER("cudaGraphDestroy", file, line);
    Place place = {file, line};
    if (!graph_exists(graph, "cudaGraphDestroy", place)) {
        return invalid("cudaGraphDestroy", place);
    }
    sim_handle_ended(graph, "cudaGraphDestroy", place, graph_free);
    return sim_device_error();
}

cudaError_t cudasim_graph_clone(const char *file, int line, cudaGraph_t *clone,
                                cudaGraph_t original) {
    ENTER("cudaGraphClone", file, line);
    Place place = {file, line};
    if (clone == NULL || !graph_exists(original, "cudaGraphClone", place)) {
        return invalid("cudaGraphClone", place);
    }
    *clone = graph_copy(original);
    sim_handle_made(*clone, "cudaGraphClone", place);
    return sim_device_error();
}

cudaError_t cudasim_graph_find_in_clone(const char *file, int line, cudaGraphNode_t *node,
                                        cudaGraphNode_t original, cudaGraph_t clone) {
    ENTER("cudaGraphNodeFindInClone", file, line);
    Place place = {file, line};
    if (!graph_exists(clone, "cudaGraphNodeFindInClone", place) ||
        (*node = graph_find_copy(clone, original)) == NULL) {
        return invalid("cudaGraphNodeFindInClone", place);
    }
    return sim_device_error();
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType *type) {
    ENTER("cudaGraphNodeGetType", NULL, 0);
    if (node == NULL || type == NULL) {
        return cudaErrorInvalidValue;
    }
    *type = node->type;
    return cudaSuccess;
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph) {
    ENTER("cudaGraphChildGraphNodeGetGraph", NULL, 0);
    if (node == NULL || graph == NULL || node->child == NULL) {
        return cudaErrorInvalidValue;
    }
    *graph = node->child;
    return cudaSuccess;
}

/* With no array only the count is asked for; else at most *count are given, then NULL. */
static void give(const NodeSet *set, cudaGraphNode_t *to, size_t *count) {
    for (size_t i = 0; to != NULL && i < *count; i++) {
        to[i] = i < (size_t)set->count ? set->node[i] : NULL;
    }
    *count = to == NULL || *count > (size_t)set->count ? (size_t)set->count : *count;
}

cudaError_t cudasim_graph_nodes(const char *file, int line, cudaGraph_t graph,
                                cudaGraphNode_t *nodes, size_t *count) {
    ENTER("cudaGraphGetNodes", file, line);
    Place place = {file, line};
    if (!graph_exists(graph, "cudaGraphGetNodes", place) || count == NULL) {
        return invalid("cudaGraphGetNodes", place);
    }
    give(&graph->nodes, nodes, count);
    return sim_device_error();
}

cudaError_t cudasim_graph_roots(const char *file, int line, cudaGraph_t graph,
                                cudaGraphNode_t *nodes, size_t *count) {
    ENTER("cudaGraphGetRootNodes", file, line);
    Place place = {file, line};
    if (!graph_exists(graph, "cudaGraphGetRootNodes", place) || count == NULL) {
        return invalid("cudaGraphGetRootNodes", place);
    }
    NodeSet roots = {0};
    for (int i = 0; i < graph->nodes.count; i++) {
        if (graph->nodes.node[i]->before.count == 0) {
            append(&roots, graph->nodes.node[i]);
        }
    }
    give(&roots, nodes, count);
    nodes_clear(&roots);
    return sim_device_error();
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                         size_t *count) {
    ENTER("cudaGraphNodeGetDependencies", NULL, 0);
    if (node == NULL || count == NULL) {
        return cudaErrorInvalidValue;
    }
    give(&node->before, nodes, count);
    return cudaSuccess;
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                           size_t *count) {
    ENTER("cudaGraphNodeGetDependentNodes", NULL, 0);
    if (node == NULL || count == NULL) {
        return cudaErrorInvalidValue;
    }
    NodeSet after = {0};
    for (int i = 0; i < node->graph->nodes.count; i++) {
        if (nodes_have(&node->graph->nodes.node[i]->before, node)) {
            append(&after, node->graph->nodes.node[i]);
        }
    }
    give(&after, nodes, count);
    nodes_clear(&after);
    return cudaSuccess;
}

cudaError_t cudasim_graph_edges(const char *file, int line, cudaGraph_t graph,
                                cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count) {
    ENTER("cudaGraphGetEdges", file, line);
    Place place = {file, line};
    if (!graph_exists(graph, "cudaGraphGetEdges", place) || count == NULL ||
        (from == NULL) != (to == NULL)) {
        return invalid("cudaGraphGetEdges", place);
    }
    NodeSet begins = {0}, ends = {0};
    for (int i = 0; i < graph->nodes.count; i++) {
        Node *node = graph->nodes.node[i];
        for (int k = 0; k < node->before.count; k++) {
            append(&begins, node->before.node[k]);
            append(&ends, node);
        }
    }
    size_t room = *count;
    give(&begins, from, count);
    give(&ends, to, &room);
    nodes_clear(&begins);
    nodes_clear(&ends);
    return sim_device_error();
}

/* ---- edges ----------------------------------------------------------------------------------- */

cudaError_t cudasim_graph_change_edges(const char *file, int line, const char *what, int add,
                                       cudaGraph_t graph, const cudaGraphNode_t *from,
                                       const cudaGraphNode_t *to, size_t count) {
    ENTER("cudaGraphAddDependencies", file, line);
    Place place = {file, line};
    if (!graph_exists(graph, what, place)) {
        return invalid(what, place);
    }
    for (size_t i = 0; i < count; i++) {
        if (from[i] == NULL || to[i] == NULL || from[i]->graph != graph || to[i]->graph != graph) {
            return graph_misuse(cudaErrorInvalidValue, what, place,
                                "edge %zu has a node that is not of this graph", i);
        }
        if (from[i] == to[i] || nodes_have(&to[i]->before, from[i]) == (add != 0)) {
            return graph_misuse(cudaErrorInvalidValue, what, place, "edge %zu %s", i,
                                from[i] == to[i] ? "begins and ends at the same node"
                                : add            ? "is there already"
                                                 : "is not there");
        }
        if (add) {
            nodes_add(&to[i]->before, from[i]);
        } else {
            nodes_remove(&to[i]->before, from[i]);
        }
    }
    return sim_device_error();
}

cudaError_t cudasim_graph_destroy_node(const char *file, int line, cudaGraphNode_t node) {
    ENTER("cudaGraphDestroyNode", file, line);
    if (node == NULL) {
        return invalid("cudaGraphDestroyNode", (Place){file, line});
    }
    cudaGraph_t graph = node->graph;
    for (int i = 0; i < graph->nodes.count; i++) {
        nodes_remove(&graph->nodes.node[i]->before, node);
    }
    nodes_remove(&graph->nodes, node);
    for (int i = 0; i < graph->nodes.count; i++) {
        graph->nodes.node[i]->index = i;
    }
    free_node(node);
    return sim_device_error();
}

/* ---- a picture ------------------------------------------------------------------------------- */

static const char *label(const Node *node) {
    return node->job != NULL                      ? node->job->work.what
           : node->type == cudaGraphNodeTypeGraph ? "graph"
                                                  : "empty";
}

static void print_dot(FILE *file, cudaGraph_t graph) {
    for (int i = 0; i < graph->nodes.count; i++) {
        const Node *node = graph->nodes.node[i];
        fprintf(file, "  n%d [label=\"%d %s\"];\n", i, i, label(node));
        for (int k = 0; k < node->before.count; k++) {
            fprintf(file, "  n%d -> n%d;\n", node->before.node[k]->index, i);
        }
    }
}

cudaError_t cudasim_graph_print(const char *file, int line, cudaGraph_t graph, const char *path,
                                unsigned flags) {
    ENTER("cudaGraphDebugDotPrint", file, line);
    Place place = {file, line};
    (void)flags;
    if (!graph_exists(graph, "cudaGraphDebugDotPrint", place)) {
        return invalid("cudaGraphDebugDotPrint", place);
    }
    FILE *out = fopen(path, "w");
    if (out == NULL) {
        fprintf(stderr, "[cudasim] %s: %s\n", path, strerror(errno));
        return sim_error(cudaErrorOperatingSystem, "cudaGraphDebugDotPrint", place, false);
    }
    fprintf(out, "digraph cuda {\n");
    print_dot(out, graph);
    fprintf(out, "}\n");
    bool good = !ferror(out);
    return fclose(out) == 0 && good
               ? sim_device_error()
               : sim_error(cudaErrorOperatingSystem, "cudaGraphDebugDotPrint", place, false);
}
