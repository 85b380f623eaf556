#include "grader/labs/04_checkpoint/bytes_as.h"

#include "grader/judge_peak.h"

static const char never_at_once[] =
    "the head's backward and a block's are never at the same time: the larger counts";
static const char four_floats[] =
    "the head has four floats for each token, in half too: mean, rstd, the loss and its lse";
static const char one_tensor[] =
    "one tensor of the residual stream too many or too few: dx, x[0], and the output of each "
    "segment but the last; blocks that are kept have their own outputs";
static const char own_probs[] =
    "with attention_only one block at a time has its probabilities: the one that runs backward, "
    "not the one below the head";

const char *const checkpoint_bytes_sentence[BYTES_MISTAKES] = {
    [BYTES_PLAIN] = "these are the bytes of a plain step",
    [BYTES_LAST_FULL] =
        "the last segment is counted as a full one: it has the blocks that are left",
    [BYTES_LAST_EMPTY] = "where segments divide the blocks, an empty one is counted after them",
    [BYTES_CONFIG_T] = "the sequences have T tokens (the argument), not config->T",
    [BYTES_PROBS_KEPT] = "with attention_only the probabilities of a block are no longer kept",
    [BYTES_PROBS_NEVER] = own_probs,
    [BYTES_PROBS_AT_HEAD] = own_probs,
    [BYTES_ONE_HEAD] = "the probabilities are those of one head: each has its own (T, T)",
    [BYTES_PROBS_IN_FLOATS] = "probabilities are stored in the model's precision, not in floats",
    [BYTES_FLASH_PROBS] = "flash attention keeps no probabilities: there are none to leave out",
    [BYTES_HEAD_ADDED] = never_at_once,
    [BYTES_NO_HEAD] = never_at_once,
    [BYTES_NO_BACKWARD] = never_at_once,
    [BYTES_NO_BACKWARD_OF_ONE] = never_at_once,
    [BYTES_NO_PADDING] =
        "a row of logits takes V numbers rounded up to a multiple of 64: logits_stride(V)",
    [BYTES_NO_FLOATS] = four_floats,
    [BYTES_THREE_FLOATS] = four_floats,
    [BYTES_FLOATS_IN_HALF] = four_floats,
    [BYTES_INPUT_MORE] = one_tensor,
    [BYTES_INPUT_LESS] = one_tensor,
    [BYTES_SHORT_NOT_COUNTED] = "where the last segment is short, the one before it is full, and "
                                "its output is kept: segments are counted rounded up",
    [BYTES_NO_OUTPUT] = "the output of each kept block is missing: it is the next one's input",
    [BYTES_FOUR_TENSORS] = "a block's backward takes five tensors of the residual stream's size "
                           "beside what the block has kept",
    [BYTES_LAST_ONLY] =
        "L is not a multiple of the segment: the last one is short, and another moment may be the "
        "peak",
    [BYTES_INPUT_STAYS] =
        "while the segment before the last one runs backward, its output is gone: "
        "one tensor of the residual stream less than below the head",
    [BYTES_HEAD_BEFORE] = "while the segment before the last one is kept, the head is over: what "
                          "counts then is a block's backward",
};

/* The parts of which the moments of a step are made. */
typedef struct Parts {
    size_t stream;     /* of the residual stream, one tensor */
    size_t kept;       /* what a block keeps, its output included */
    size_t head;       /* what the head's backward takes */
    size_t backward;   /* what a block's backward takes */
    size_t full, last; /* blocks in a full segment, and in the last one */
    size_t before;     /* segments before the last */
} Parts;

static size_t larger_of(size_t a, size_t b) {
    return a > b ? a : b;
}

static size_t tokens_of(const Shape *s) {
    return (size_t)s->B * (size_t)s->T;
}

static size_t probs_of(const Shape *s, CheckpointBytes mistake) {
    bool plain = s->config.attention == ATTENTION_PLAIN || mistake == BYTES_FLASH_PROBS;
    size_t heads = mistake == BYTES_ONE_HEAD ? 1 : (size_t)s->config.NH;
    size_t number = precision_bytes(mistake == BYTES_PROBS_IN_FLOATS ? F32 : s->config.precision);
    return s->checkpoint.attention_only && plain ? tokens_of(s) * heads * (size_t)s->T * number : 0;
}

static size_t head_of(const Shape *s, size_t stream, CheckpointBytes mistake) {
    size_t number = precision_bytes(s->config.precision);
    size_t row = (size_t)(mistake == BYTES_NO_PADDING ? s->config.V : logits_stride(s->config.V));
    size_t floats = mistake == BYTES_NO_FLOATS ? 0 : mistake == BYTES_THREE_FLOATS ? 3 : 4;
    size_t each = mistake == BYTES_FLOATS_IN_HALF ? number : sizeof(float);
    return 2 * stream + tokens_of(s) * (row * number + floats * each);
}

static Parts parts_of(const Shape *s, CheckpointBytes mistake) {
    size_t stream = tokens_of(s) * (size_t)s->config.C * precision_bytes(s->config.precision);
    size_t probs = probs_of(s, mistake), L = (size_t)s->config.L, S = (size_t)s->checkpoint.segment;
    Parts parts = {.stream = stream, .head = head_of(s, stream, mistake)};
    parts.kept = peak_of_block(&s->config, s->B, s->T) - probs;
    parts.kept -= mistake == BYTES_NO_OUTPUT ? stream : 0;
    parts.backward = (mistake == BYTES_FOUR_TENSORS ? 4 : 5) * stream +
                     (mistake == BYTES_PROBS_NEVER ? 0 : probs);
    parts.head += mistake == BYTES_PROBS_AT_HEAD ? probs : 0;
    parts.full = s->checkpoint.segment > 0 && S < L ? S : L;
    parts.before = (mistake == BYTES_LAST_EMPTY ? L : L - 1) / parts.full;
    parts.last = L - parts.before * parts.full;
    return parts;
}

/* The bytes above the last segment: those of the head, or of a block's backward. */
static size_t above_last(const Parts *p, bool one_block, CheckpointBytes mistake) {
    switch (mistake) {
    case BYTES_HEAD_ADDED:
        return p->head + p->backward;
    case BYTES_NO_HEAD:
        return p->backward;
    case BYTES_NO_BACKWARD:
        return p->head;
    case BYTES_NO_BACKWARD_OF_ONE:
        return one_block ? p->head : larger_of(p->head, p->backward);
    default:
        return larger_of(p->head, p->backward);
    }
}

/* The shape that is worked out in place of the one that was asked about. */
static Shape taken_for(const Shape *shape, CheckpointBytes mistake) {
    Shape s = *shape;
    int S = s.checkpoint.segment, L = s.config.L;
    if (mistake == BYTES_PLAIN) {
        s.checkpoint = (Checkpoint){0};
    } else if (mistake == BYTES_CONFIG_T) {
        s.T = s.config.T;
    } else if (mistake == BYTES_PROBS_KEPT) {
        s.checkpoint.attention_only = false;
    } else if (mistake == BYTES_LAST_FULL && S > 0 && S < L) {
        s.config.L = (L + S - 1) / S * S;
    }
    return s;
}

size_t checkpoint_bytes_as(const Shape *shape, CheckpointBytes mistake) {
    Shape s = taken_for(shape, mistake);
    Parts p = parts_of(&s, mistake);
    size_t inputs = (2 + p.before) * p.stream;
    inputs += mistake == BYTES_INPUT_MORE ? p.stream : 0;
    inputs -= mistake == BYTES_INPUT_LESS ? p.stream : 0;
    inputs -= mistake == BYTES_SHORT_NOT_COUNTED && p.last < p.full ? p.stream : 0;
    size_t at_last = inputs + p.last * p.kept + above_last(&p, s.config.L == 1, mistake);
    if (p.before == 0 || mistake == BYTES_LAST_ONLY) {
        return at_last;
    }
    size_t above = mistake == BYTES_HEAD_BEFORE ? larger_of(p.head, p.backward) : p.backward;
    size_t gone = mistake == BYTES_INPUT_STAYS ? 0 : p.stream;
    return larger_of(at_last, inputs - gone + p.full * p.kept + above);
}
