#include "grader/labs/00_bytes/block.h"

#include <stdlib.h>
#include <string.h>

#include "grader/labs/00_bytes/states.h"

/* Task 3: what a block keeps. */

/* The bytes that block_alloc() puts on the stack. */
static MemoryUse block_counted(const Shape *shape) {
    Model *model = judge_model_count(judge_device(THREADS), &shape->config);
    int N = shape->B * shape->T;
    int32_t *ids = calloc((size_t)N, sizeof *ids);
    CHECK(ids != NULL, "no memory for %d ids", N);
    model_begin(model,
                &(Batch){.B = shape->B, .T = shape->T, .tokens = ids, .targets = ids, .valid = N},
                true);
    MemoryUse before = memory_now(model->memory);
    block_alloc(model, 0);
    MemoryUse after = memory_now(model->memory);
    model_end(model);
    judge_model_close(model);
    free(ids);
    return answer_one(memory_total(&after) - memory_total(&before));
}

/* However large a shape is: with each token of a sequence, the bytes of a token grow by the same
   number, so one sequence of 1 token and one of 2 say it for all. */
MemoryUse by_the_token(answer_fn *counted, const Shape *shape) {
    Shape one = *shape, two = *shape;
    one.B = two.B = one.T = 1;
    two.T = 2;
    size_t of_one = answer_once(counted, &one).bytes[0];
    size_t of_two = answer_once(counted, &two).bytes[0] / 2;
    size_t B = (size_t)shape->B, T = (size_t)shape->T;
    return answer_one(B * T * (of_one + (T - 1) * (of_two - of_one)));
}

/* Of a model that has one block and few words: the rest of it makes no block larger. */
MemoryUse block_right(const Shape *shape) {
    Shape small = *shape;
    small.config.L = 1;
    small.config.V = 256;
    small.config.T = 2;
    return by_the_token(block_counted, &small);
}

/* That many more numbers, floats and bytes for each token. */
static MemoryUse block_and(const Shape *s, long numbers, long floats, long bytes) {
    long number = (long)precision_bytes(s->config.precision);
    long more = numbers * number + floats * 4 + bytes;
    return answer_one(block_right(s).bytes[0] + (size_t)(more * s->B * s->T));
}

/* Numbers of the probabilities, for each token; 0 with flash attention. */
static long block_probs(const Shape *s) {
    return s->config.attention == ATTENTION_PLAIN ? (long)s->config.NH * s->T : 0;
}
static long block_lse(const Shape *s) {
    return s->config.attention == ATTENTION_FLASH ? s->config.NH : 0;
}

/* By how many bytes a float is larger than a number: in f32 nobody takes one for the other. */
static long half_less(const Shape *s) {
    return s->config.precision == F32 ? 0 : -2;
}
static MemoryUse block_half_statistics(const Shape *s) {
    return block_and(s, 0, 0, half_less(s) * 4);
}
static MemoryUse block_half_floats(const Shape *s) {
    return block_and(s, 0, 0, half_less(s) * (4 + block_lse(s)));
}
static MemoryUse block_half_lse(const Shape *s) {
    return block_and(s, 0, 0, half_less(s) * block_lse(s));
}
static MemoryUse block_no_statistics(const Shape *s) {
    return block_and(s, 0, -4, 0);
}
static MemoryUse block_half_of_statistics(const Shape *s) {
    return block_and(s, 0, -2, 0);
}
static MemoryUse block_no_probs(const Shape *s) {
    return block_and(s, -block_probs(s), 0, 0);
}
static MemoryUse block_float_probs(const Shape *s) {
    return block_and(s, -block_probs(s), block_probs(s), 0);
}
static MemoryUse block_one_head(const Shape *s) {
    return block_and(s, block_probs(s) > 0 ? s->T - block_probs(s) : 0, 0, 0);
}
static MemoryUse block_scores_too(const Shape *s) {
    return block_and(s, block_probs(s), 0, 0);
}
static MemoryUse block_longest_rows(const Shape *s) {
    return block_and(s, block_probs(s) / s->T * (s->config.T - s->T), 0, 0);
}
static MemoryUse block_longest_square(const Shape *s) {
    size_t more = (size_t)(block_probs(s) / s->T) *
                  (size_t)(s->config.T * s->config.T - s->T * s->T) * (size_t)s->B;
    return answer_one(block_right(s).bytes[0] + more * precision_bytes(s->config.precision));
}
static MemoryUse block_always_plain(const Shape *s) {
    return block_and(s, block_lse(s) > 0 ? (long)s->config.NH * s->T : 0, -block_lse(s), 0);
}
static MemoryUse block_plain_and_flash(const Shape *s) {
    return block_and(s, block_lse(s) ? (long)s->config.NH * s->T : 0, 0, 0);
}
static MemoryUse block_lse_always(const Shape *s) {
    return block_and(s, 0, s->config.NH - block_lse(s), 0);
}
static MemoryUse block_no_lse(const Shape *s) {
    return block_and(s, 0, -block_lse(s), 0);
}
static MemoryUse block_one_lse(const Shape *s) {
    return block_and(s, 0, block_lse(s) > 0 ? 1 - block_lse(s) : 0, 0);
}
static MemoryUse block_two_lse(const Shape *s) {
    return block_and(s, 0, block_lse(s), 0);
}
static MemoryUse block_one_sequence(const Shape *s) {
    return block_right(&(Shape){.config = s->config, .B = 1, .T = s->T});
}
static MemoryUse block_longest(const Shape *s) {
    return block_right(&(Shape){.config = s->config, .B = s->B, .T = s->config.T});
}
static MemoryUse block_two_more(const Shape *s) {
    return block_and(s, 2L * s->config.C, 0, 0);
}
/* Numbers of the masks of both residual branches, for each token. */
static long block_mask(const Shape *s) {
    return s->config.dropout > 0 ? 2L * s->config.C : 0;
}
static MemoryUse block_masks(const Shape *s) {
    return block_and(s, block_mask(s), 0, 0);
}
static MemoryUse block_byte_masks(const Shape *s) {
    return block_and(s, 0, 0, block_mask(s));
}
static MemoryUse block_always_byte_masks(const Shape *s) {
    return block_and(s, 0, 0, 2L * s->config.C);
}
static MemoryUse block_four_less(const Shape *s) {
    return block_and(s, -4L * s->config.C, 0, 0);
}
static MemoryUse block_and_input(const Shape *s) {
    return block_and(s, s->config.C, 0, 0);
}
static MemoryUse block_minus_one(const Shape *s) {
    return block_and(s, -(long)s->config.C, 0, 0);
}
static MemoryUse block_two_less(const Shape *s) {
    return block_and(s, -2L * s->config.C, 0, 0);
}
static MemoryUse block_wide_bf16(const Shape *s) {
    Shape wide = shape_of_wide_bf16(s);
    return block_right(&wide);
}
static MemoryUse block_of_floats(const Shape *s) {
    Shape floats = *s;
    floats.config.precision = F32;
    return block_right(&floats);
}
static MemoryUse block_all_blocks(const Shape *s) {
    return answer_one(block_right(s).bytes[0] * (size_t)s->config.L);
}

/* In all blocks of a model these are the same bytes, whichever tensor it is. */
const char block_stream[] =
    "one tensor of C numbers a token is missing in each block: ln1, attention, mid and ln2 are all "
    "kept, and from task 4 on the output, which is the next block's input";

static const Mistake block_list[] = {
    {"mean and rstd of the layer norms are floats: 4 bytes, in half too", block_half_statistics},
    {"mean, rstd and the log-sums are floats: 4 bytes, in half too", block_half_floats},
    {"the log-sums of flash attention are floats: 4 bytes, in half too", block_half_lse},
    {"mean and rstd of the two layer norms are missing: 4 floats a token", block_no_statistics},
    {"each of the two layer norms keeps mean and rstd: 4 floats a token", block_half_of_statistics},
    {"the (T, T) probabilities of plain attention are missing: B * NH * T * T numbers",
     block_no_probs},
    {"the probabilities are stored in the model's precision, not in float", block_float_probs},
    {"there is a (T, T) matrix of probabilities for each of the NH heads", block_one_head},
    {"the scores before the softmax are not kept, only the probabilities", block_scores_too},
    {"the rows of probabilities are as long as the sequences of the batch (T), not as long as they "
     "may be (config->T)",
     block_longest_rows},
    {"the matrices of probabilities are (T, T), the argument; config->T is only the most that T "
     "may "
     "be",
     block_longest_square},
    {"flash attention keeps no probabilities: one float for each row of each head",
     block_always_plain},
    {"with flash attention the (T, T) probabilities are not kept", block_plain_and_flash},
    {"the log-sums belong to flash attention; plain attention keeps probabilities instead",
     block_lse_always},
    {"flash attention keeps the log-sum of each row: B * NH * T floats", block_no_lse},
    {"flash attention keeps a log-sum for each of the NH heads", block_one_lse},
    {"flash attention keeps one float for each row of each head, the log-sum, not two",
     block_two_lse},
    {"this is for T tokens; a micro-batch has B * T", block_one_sequence},
    {"the sequences have T tokens (the argument); config->T is only the longest that they may have",
     block_longest},
    {"dropout masks are never stored: they are drawn again", block_masks},
    {"dropout masks are never stored: they are drawn again", block_byte_masks},
    {"dropout masks are never stored: they are drawn again", block_always_byte_masks},
    {"4 C numbers a token are missing in each block: both fc and gelu are kept, 4 C each, and all "
     "of ln1, attention, mid and ln2, C each",
     block_four_less},
    {"input and output of a block are not counted here (task 4 has them)", block_and_input},
    {"2 C numbers a token are too many in each block: input and output of a block are not counted "
     "here (task 4 has them), and masks of dropout are not kept",
     block_two_more},
    {block_stream, block_minus_one},
    {"2 C numbers a token are missing in each block: queries, keys and values are 3 C, and all of "
     "ln1, attention, mid and ln2 are kept, C each",
     block_two_less},
    {"this is for all blocks; task 3 asks for one", block_all_blocks},
    {BF16_IS_HALF, block_wide_bf16},
    {"in half a number takes 2 bytes: precision_bytes(); only statistics and log-sums are floats",
     block_of_floats},
};

Mistakes block_mistakes(lift_fn *lift, lift_fn *then) {
    return MISTAKES(block_list, lift, then);
}

const Task *task_block(void) {
    static Task task = {
        .probe_case = "block", .numbers = 1, .right = block_right, .counted = block_counted};
    task.lists[0] = block_mistakes(NULL, NULL);
    task.list_count = 1;
    return &task;
}
