/* Lab 14, judged: slices that the judge cuts by itself; a layer, the embedding and the head on
   several ranks, against the whole in double; whole passes; what is sent, and bytes. What is said
   of a mistake is in grader/labs/14_tensor/. */
#include <stdio.h>

#include "grader/labs/14_tensor/cuts.h"
#include "grader/labs/14_tensor/heads.h"
#include "grader/labs/14_tensor/layers.h"
#include "grader/labs/14_tensor/numbers.h"
#include "grader/labs/14_tensor/whole.h"

/* ---- task 1 ---------------------------------------------------------------------------------- */

enum { ROWS_ASKED = 24 };

/* V, ranks and rank of each question: a label has them. */
static int32_t rows_asked[ROWS_ASKED][3];

static const char *rows_label(size_t i, char *text) {
    const int32_t *asked = rows_asked[i / 2];
    snprintf(text, CHECK_LABEL, "slice_vocab(%d, %d, %d).%s", asked[0], asked[1], asked[2],
             i % 2 ? "count" : "first");
    return text;
}

GRADED(14_tensor, vocab, "task 1: the rows of the embedding that a rank has") {
    uint64_t want[2 * ROWS_ASKED], last[2 * ROWS_ASKED], up[2 * ROWS_ASKED], down[2 * ROWS_ASKED];
    uint64_t chunk[2 * ROWS_ASKED];
    for (int i = 0; i < ROWS_ASKED; i++) {
        bool apart = i == 0; /* a rank whose rows are others by each rule that a term may have */
        int R = check_int(check, apart ? 5 : 2, 9), V = R * check_int(check, 30, 7000);
        V += apart ? 2 : i % 3 == 0 ? 0 : check_int(check, 1, R - 1);
        int rank = apart ? (R - 1) / 2 : i % 4 == 1 ? R - 1 : check_int(check, 0, R - 1);
        int first, count;
        rows_asked[i][0] = V;
        rows_asked[i][1] = R;
        rows_asked[i][2] = rank;
        judge_rows(V, R, rank, &first, &count);
        want[2 * i] = (uint64_t)first;
        want[2 * i + 1] = (uint64_t)count;
        uint64_t less = (uint64_t)(V / R), more = (uint64_t)((V + R - 1) / R), k = (uint64_t)rank;
        down[2 * i] = last[2 * i] = k * less;
        down[2 * i + 1] = less;
        last[2 * i + 1] = rank == R - 1 ? (uint64_t)V - k * less : less;
        up[2 * i] = chunk[2 * i] = k * more;
        up[2 * i + 1] = more;
        chunk[2 * i + 1] = rank == R - 1 ? (uint64_t)V - k * more : more;
    }
    ExactSuspect suspects[] = {
        {"the rows that are left over belong to nobody", down},
        {"the last rank has all rows that are left over: sizes differ by at most one", last},
        {"every rank has as many rows as the largest: beyond V there are none, and padding is not "
         "part of a softmax",
         up},
        {"cut as torch.chunk cuts: the last rank gets what the others leave, and sizes differ by "
         "at "
         "most one",
         chunk},
        {NULL, NULL},
        {NULL, NULL}};
    const Term term = TERM_ROWS;
    uint64_t others[TERM_MOST][2 * ROWS_ASKED];
    char text[TERM_MOST][TERM_TEXT];
    for (int k = 0, at = 4; k < term.count; k++) {
        for (int i = 0; i < ROWS_ASKED; i++) {
            int first, count;
            judge_rows_by((RowsRule)k, rows_asked[i][0], rows_asked[i][1], rows_asked[i][2], &first,
                          &count);
            others[k][2 * i] = (uint64_t)first;
            others[k][2 * i + 1] = (uint64_t)count;
        }
        if (k != term.now) {
            suspects[at++] = (ExactSuspect){term_mistake(&term, k, text[k]), others[k]};
        }
    }
    check_give(check, "asked", WIRE_I32, rows_asked, (size_t)ROWS_ASKED * 3);
    check_want(check, "rows", WIRE_U64, 2 * (size_t)ROWS_ASKED);
    if (check_run(check, "vocab", SECONDS)) {
        check_equal_of(check, "rows", rows_label, want, 2 * (size_t)ROWS_ASKED, suspects,
                       4 + term.count - 1);
    }
}

GRADED(14_tensor, cut, "task 1: a rank's slice of each parameter") {
    cuts_judge(check, false);
}

GRADED(14_tensor, join, "task 1: and back into the whole") {
    cuts_judge(check, true);
}

/* ---- task 2 ---------------------------------------------------------------------------------- */

/* Of each layer some check runs backward, whatever is drawn. */
GRADED(14_tensor, column_qkv, "task 2: queries, keys and values of a rank's heads") {
    layers_judge(check, LINEAR_QKV, F32, false, check_on_gpu());
}

GRADED(14_tensor, column_fc, "task 2: columns of the MLP, whose bias GELU adds") {
    layers_judge(check, LINEAR_FC, F32, false, check_on_gpu());
}

GRADED(14_tensor, row, "task 2: the parts of a row layer make the whole, the bias counts once") {
    layers_judge(check, LINEAR_FCPROJ, F32, false, check_on_gpu());
}

GRADED(14_tensor, column_backward, "task 2: the gradient of a column layer's input is whole") {
    check_after(check, "column_qkv column_fc");
    layers_judge(check, LINEAR_FC, F32, true, check_on_gpu());
}

GRADED(14_tensor, row_backward, "task 2: the bias of a row layer has its gradient on each rank") {
    check_after(check, "row");
    layers_judge(check, LINEAR_PROJ, F32, true, check_on_gpu());
}

/* A row layer and a column layer: both sum in half. */
GRADED(14_tensor, half, "task 2: a row layer in half, on simulated GPUs") {
    check_after(check, "column_qkv column_fc row column_backward row_backward");
    layers_judge_half(check, LINEAR_FCPROJ);
}

GRADED(14_tensor, on_the_gpu, "task 2: a column layer in half, on simulated GPUs") {
    check_after(check, "column_qkv column_fc row column_backward row_backward half");
    layers_judge_half(check, LINEAR_QKV);
}

/* ---- task 3 ---------------------------------------------------------------------------------- */

GRADED(14_tensor, norm, "task 3: the norm of the whole model's gradients, on each rank") {
    numbers_judge_norm(check);
}

GRADED(14_tensor, overflow, "task 3: an overflow of one rank is one of all") {
    numbers_judge_overflow(check);
}

/* ---- task 4 ---------------------------------------------------------------------------------- */

/* In half, and loss_half in the other one: the sum is of stored numbers. */
GRADED(14_tensor, embed, "task 4: tokens of all ranks' rows, the position once") {
    check_after(check, "vocab");
    heads_judge_embed(check, false, BF16);
}

GRADED(14_tensor, embed_backward, "task 4: the gradients of a rank's rows, and of the positions") {
    check_after(check, "vocab embed");
    heads_judge_embed(check, true, F32);
}

GRADED(14_tensor, loss, "task 4: the loss over a vocabulary that the ranks do not divide") {
    check_after(check, "vocab");
    heads_judge_loss(check, false, false, F32, check_on_gpu());
}

GRADED(14_tensor, loss_large, "task 4: logits of some hundreds") {
    check_after(check, "vocab loss");
    heads_judge_loss(check, false, true, F32, check_on_gpu());
}

GRADED(14_tensor, loss_backward, "task 4: the gradients of x, of a rank's rows, of ln_f") {
    check_after(check, "vocab loss");
    heads_judge_loss(check, true, false, F32, check_on_gpu());
}

GRADED(14_tensor, loss_half, "task 4: the same in half, on simulated GPUs") {
    check_after(check, "vocab loss loss_backward");
    heads_judge_loss(check, true, false, F16, true);
}

/* ---- all together ---------------------------------------------------------------------------- */

GRADED(14_tensor, gradients, "tasks 2, 4: a whole model on several ranks, against double") {
    check_after(check, "vocab column_qkv column_fc row column_backward row_backward embed "
                       "embed_backward loss loss_backward");
    whole_judge_gradients(check);
}

GRADED(14_tensor, replicated,
       "tasks 2 to 4: after three updates, what all ranks have is the same") {
    check_after(check, "vocab column_qkv column_fc row column_backward row_backward embed "
                       "embed_backward loss loss_backward norm gradients");
    whole_judge_replicated(check);
}

GRADED(14_tensor, calls, "tasks 2, 4: four all-reduces in a block, and not a byte more") {
    check_after(check, "row column_backward embed loss loss_backward");
    whole_judge_calls(check);
}

GRADED(14_tensor, memory, "task 4: no tensor of (N, V): the bytes of a rank, under a budget") {
    check_after(check, "gradients");
    whole_judge_memory(check);
}

/* ---- task 5 ---------------------------------------------------------------------------------- */

GRADED(14_tensor, states, "task 5: weights, gradients and states of a rank, to the byte") {
    numbers_judge_states(check);
}

GRADED(14_tensor, activations, "task 5: the most activation bytes of a rank, to the byte") {
    numbers_judge_activations(check);
}

GRADED(14_tensor, wire, "task 5: the bytes that all ranks send in a pass") {
    numbers_judge_wire(check);
}
