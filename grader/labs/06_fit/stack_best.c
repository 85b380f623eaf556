/* The exact search: all plans of the first blocks that no other plan of them beats. The contract is
   in stack.h. */
#include <math.h>
#include <stdlib.h>

#include "grader/labs/06_fit/stack.h"

/* A plan of the first blocks. */
typedef struct Node {
    size_t kept;
    double cost;
    uint64_t ways;
} Node;

/* Such plans: `kept` rises, `cost` falls. */
typedef struct Nodes {
    Node *at;
    size_t count, room;
} Nodes;

static void nodes_add(Nodes *nodes, Node node) {
    if (nodes->count > 0 && node.cost >= nodes->at[nodes->count - 1].cost) {
        return; /* what is there keeps no more, and costs no more */
    }
    if (nodes->count == nodes->room) {
        nodes->room = 2 * nodes->room + 1024;
        nodes->at = realloc(nodes->at, nodes->room * sizeof(Node));
        CHECK(nodes->at != NULL, "no memory for %zu plans", nodes->room);
    }
    nodes->at[nodes->count++] = node;
}

/* The least cost of the blocks from i on. */
static double rest_least(const PlanOption *option, int i) {
    double sum = 0;
    for (; i < option->blocks; i++) {
        sum += option->block[i].seconds[WAY_KEEP]; /* no other way is cheaper */
    }
    return sum;
}

/* All plans of `from` with a way for block i, those that fit and may still cost `most` or less. */
static void nodes_extend(const Nodes *from, Nodes *to, const PlanOption *option, int i,
                         size_t budget, double most) {
    const PlanBlock *block = &option->block[i];
    size_t at[PLAN_WAYS] = {0};
    double later = rest_least(option, i + 1);
    for (to->count = 0;;) {
        int next = -1;
        Node best = {0};
        for (int way = 0; way < PLAN_WAYS; way++) {
            if (at[way] == from->count || from->at[at[way]].kept + block->working[way] > budget) {
                continue; /* nor does any that follows fit */
            }
            const Node *node = &from->at[at[way]];
            Node grown = {node->kept + block->kept[way], node->cost + block->seconds[way],
                          node->ways | (uint64_t)way << (2 * i)};
            bool before =
                grown.kept < best.kept || (grown.kept == best.kept && grown.cost < best.cost);
            if (next < 0 || before) {
                next = way;
                best = grown;
            }
        }
        if (next < 0) {
            return;
        }
        at[next]++;
        if (best.cost + later <= most) {
            nodes_add(to, best);
        }
    }
}

static Priced option_best(const Stack *stack, int index, size_t budget, double most) {
    const PlanOption *option = &stack->option[index];
    Nodes from = {0}, to = {0};
    Priced best = {.found = false};
    if (option->bytes <= budget && option->seconds + rest_least(option, 0) <= most) {
        nodes_add(&from, (Node){option->bytes, option->seconds, 0});
    }
    for (int i = 0; i < option->blocks; i++) {
        nodes_extend(&from, &to, option, i, budget, most);
        Nodes swap = from;
        from = to;
        to = swap;
    }
    while (from.count > 0 && from.at[from.count - 1].kept + option->head > budget) {
        from.count--;
    }
    if (from.count > 0) {
        PlanChoice choice = {.option = index};
        for (int i = 0; i < option->blocks; i++) {
            choice.way[i] = (unsigned char)(from.at[from.count - 1].ways >> (2 * i) & 3);
        }
        best = stack_price(stack, &choice);
    }
    free(from.at);
    free(to.at);
    return best;
}

static bool priced_before(const Priced *a, const Priced *b) {
    return a->found &&
           (!b->found || a->cost < b->cost || (a->cost == b->cost && a->peak < b->peak));
}

static Priced best_of_options(const Stack *stack, size_t budget, double most) {
    Priced best = {.found = false};
    for (int i = 0; i < stack->count; i++) {
        Priced one = option_best(stack, i, budget, best.found ? best.cost : most);
        best = priced_before(&one, &best) ? one : best;
    }
    return best;
}

Priced stack_best(const Stack *stack, size_t budget) {
    Priced best = best_of_options(stack, budget, (double)INFINITY);
    while (best.found && best.peak > 0) {
        Priced lower = best_of_options(stack, best.peak - 1, best.cost);
        if (!lower.found) {
            break;
        }
        best = lower;
    }
    return best;
}

size_t stack_before_cheaper(const Stack *stack, const Priced *best) {
    size_t same = best->peak, cheaper = stack_most(stack);
    while (cheaper > same + 1) {
        size_t middle = same + (cheaper - same) / 2;
        Priced there = best_of_options(stack, middle, (double)INFINITY);
        if (there.cost < best->cost) {
            cheaper = middle;
        } else {
            same = middle;
        }
    }
    return same;
}

size_t stack_least(const Stack *stack) {
    size_t least = SIZE_MAX;
    for (int i = 0; i < stack->count; i++) {
        PlanChoice choice = {.option = i};
        for (int k = 0; k < stack->option[i].blocks; k++) {
            choice.way[k] = WAY_AGAIN; /* keeps least, and works with no more than the others */
        }
        size_t peak = stack_price(stack, &choice).peak;
        least = peak < least ? peak : least;
    }
    return least;
}

size_t stack_most(const Stack *stack) {
    return stack_best(stack, SIZE_MAX).peak;
}
