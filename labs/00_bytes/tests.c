/* Lab 00, judged: what the student predicts against what the kit counts, on shapes that nobody has
   seen. Nothing here is a formula of the solution: parameters are counted from their list,
   activations by running a step and looking at the peak. */
#include "grader/labs/00_bytes/activations.h"
#include "grader/labs/00_bytes/block.h"
#include "grader/labs/00_bytes/states.h"

/* Shapes of one kind, which differ in NH: a float for each head is not some floats for each token.
   A head has neither as many channels as there are heads, nor twice as many. Of three blocks or
   more: a tensor missing in each is not one or two missing in the model. */
static void draw(Quiz *quiz, Precision precision, Attention attention) {
    Shape shape = shape_random(quiz->check, precision, attention);
    shape.config.L = 3 + (quiz->count + check_int(quiz->check, 0, 1) * 2) % 3;
    shape.config.NH = 3 + quiz->count % 3;
    shape.config.C = shape.config.NH * (7 + 2 * check_int(quiz->check, 0, 2));
    quiz_add(quiz, shape);
}

/* The same with more bytes than 2^32. */
static void draw_large(Quiz *quiz, Precision precision, Attention attention) {
    quiz_add(quiz, shape_large(quiz->check, precision, attention));
}

/* A model by its numbers, of more than 2^24, 2^31 and 2^32 elements. */
static void draw_model(Quiz *quiz, int L, int NH, int C, Precision precision) {
    Shape shape = shape_random(quiz->check, precision, ATTENTION_FLASH);
    shape.config.V = 50257;
    shape.config.T = 1024;
    shape.config.L = L;
    shape.config.NH = NH;
    shape.config.C = C;
    quiz_add(quiz, shape);
}

/* One of everything: a block of one head, a sequence of one token, which is as long as it may be;
   and no dropout. */
static void draw_one(Quiz *quiz, Precision precision, Attention attention) {
    Shape shape = shape_random(quiz->check, precision, attention);
    shape.config.L = shape.config.NH = shape.config.T = 1;
    shape.config.dropout = 0;
    shape.B = shape.T = 1;
    quiz_add(quiz, shape);
}

/* ---- task 1 ---------------------------------------------------------------------------------- */

/* The width and vocabulary of Nemotron-4, and a long context: each embedding alone has more
   elements than 2^32. */
static void draw_embeddings(Quiz *quiz) {
    Shape shape = shape_random(quiz->check, F16, ATTENTION_FLASH);
    shape.config.V = 256000;
    shape.config.T = 262144;
    shape.config.NH = 8;
    shape.config.C = 18432;
    quiz_add(quiz, shape);
}

static void draw_params(Quiz *quiz) {
    for (int i = 0; i < 4; i++) {
        draw(quiz, i == 0 ? F16 : F32, ATTENTION_PLAIN);
    }
    draw_one(quiz, F32, ATTENTION_PLAIN);
    draw_model(quiz, 12, 12, 768, F32);     /* GPT-2 small: beyond 2^24, where float ends */
    draw_model(quiz, 48, 25, 1600, F32);    /* GPT-2 XL: a float of each is beyond 2^32 bytes */
    draw_model(quiz, 144, 25, 1600, F16);   /* beyond 2^32 elements */
    draw_model(quiz, 105, 128, 20480, F32); /* Megatron-Turing NLG: a block alone is beyond 2^31 */
    draw_embeddings(quiz);
}

GRADED(00_bytes, params, "task 1: the parameter count") {
    answers_grade(check, draw_params, task_params());
}

/* ---- task 2 ---------------------------------------------------------------------------------- */

static void draw_states_float(Quiz *quiz) {
    draw(quiz, F32, ATTENTION_PLAIN);
    draw(quiz, F32, ATTENTION_FLASH);
    draw_model(quiz, 48, 25, 1600, F32);
}

GRADED(00_bytes, states_float, "task 2: weights, gradients, states in f32: 16 bytes each") {
    answers_grade(check, draw_states_float, task_states());
}

static void draw_states_half(Quiz *quiz) {
    draw(quiz, F16, ATTENTION_PLAIN);
    draw(quiz, BF16, ATTENTION_FLASH);
    draw_model(quiz, 48, 25, 1600, BF16);
    draw_model(quiz, 144, 25, 1600, F16);
}

GRADED(00_bytes, states_half, "task 2: the same in f16 and bf16: 18 bytes each") {
    answers_grade(check, draw_states_half, task_states());
}

/* ---- task 3 ---------------------------------------------------------------------------------- */

static void draw_block_plain(Quiz *quiz) {
    draw(quiz, F32, ATTENTION_PLAIN);
    draw(quiz, F32, ATTENTION_PLAIN);
    draw(quiz, F32, ATTENTION_PLAIN);
    draw_one(quiz, F32, ATTENTION_PLAIN);
    draw_large(quiz, F32, ATTENTION_PLAIN);
}

GRADED(00_bytes, block_plain, "task 3: what a block keeps, plain attention") {
    answers_grade(check, draw_block_plain, task_block());
}

static void draw_block_flash(Quiz *quiz) {
    draw(quiz, F32, ATTENTION_FLASH);
    draw(quiz, F32, ATTENTION_FLASH);
    draw_one(quiz, F32, ATTENTION_FLASH);
    draw_large(quiz, F32, ATTENTION_FLASH);
}

GRADED(00_bytes, block_flash, "task 3: the same with flash attention") {
    answers_grade(check, draw_block_flash, task_block());
}

static void draw_block_half(Quiz *quiz) {
    draw(quiz, F16, ATTENTION_PLAIN);
    draw(quiz, BF16, ATTENTION_FLASH);
    draw(quiz, BF16, ATTENTION_PLAIN);
    draw(quiz, F16, ATTENTION_FLASH); /* one shape may have as many channels of a head as tokens */
    draw_large(quiz, F16, ATTENTION_PLAIN);
}

GRADED(00_bytes, block_half, "task 3: both in half: numbers 2 bytes, floats 4") {
    answers_grade(check, draw_block_half, task_block());
}

/* ---- tasks 4 and 5 --------------------------------------------------------------------------- */

/* Few tokens and many channels: the peak is in the last block. With 5 heads no mistake about their
   log-sums has the bytes of one about the layer norms, of which each token has 4 floats. A large
   one has more tokens, not more channels: the judge runs a token of it, with all its weights. */
static void draw_wide(Quiz *quiz, Precision precision, Attention attention, bool large) {
    Shape shape = large ? shape_large(quiz->check, precision, attention)
                        : shape_random(quiz->check, precision, attention);
    shape.config.L = 2 + quiz->count % 2;
    shape.config.V = check_int(quiz->check, 257, 300);
    shape.config.NH = 5;
    shape.config.C = shape.config.NH * check_int(quiz->check, 33, 36);
    shape.B = large ? 4 * shape.B - 1 : shape.B;
    CHECK(activations_head_minus_block(&shape) < 0, "V %d, C %d", shape.config.V, shape.config.C);
    quiz_add(quiz, shape);
}

/* The vocabulary of GPT-2: its logits alone are beyond 2^32 bytes. */
static void draw_vocabulary(Quiz *quiz, Precision precision) {
    Shape shape = shape_large(quiz->check, precision, ATTENTION_FLASH);
    shape.config.V = 50257;
    shape.config.NH = 1;
    shape.config.C = 4; /* the judge runs a token of it */
    quiz_add(quiz, shape);
}

/* The head is the peak by so much that no block comes near it, even one that counts double. */
static void draw_headed(Quiz *quiz, Precision precision, Attention attention) {
    Shape shape = shape_random(quiz->check, precision, attention);
    long stream =
        (long)shape.B * shape.T * shape.config.C * (long)precision_bytes(shape.config.precision);
    while (activations_head_minus_block(&shape) < 5 * stream) {
        shape.config.V += 64;
    }
    quiz_add(quiz, shape);
}

/* Where V is well below 3 C, and a row of logits with its padding is not: the head is the peak. */
static void draw_padded(Quiz *quiz, Precision precision, Attention attention) {
    Shape shape = shape_random(quiz->check, precision, attention);
    shape.config.NH = 3;
    shape.config.C = 3 * check_int(quiz->check, 31, 34);
    shape.config.V = 3 * shape.config.C - check_int(quiz->check, 9, 20);
    CHECK(activations_head_minus_block(&shape) > 0, "V %d, C %d", shape.config.V, shape.config.C);
    quiz_add(quiz, shape);
}

/* A row of logits is as long as V, and a little shorter than 3 C: the four floats of a token decide
   which peak is higher. */
static void draw_close(Quiz *quiz, int NH, int C, Precision precision, Attention attention) {
    Shape shape = shape_random(quiz->check, precision, attention);
    shape.config.NH = NH;
    shape.config.C = C;
    shape.config.V = 3 * C / LOGITS_ALIGNMENT * LOGITS_ALIGNMENT;
    quiz_add(quiz, shape);
}

static void draw_head(Quiz *quiz) {
    draw_close(quiz, 3, 129, F32, ATTENTION_PLAIN);
    draw_close(quiz, 5, 130, F16, ATTENTION_FLASH);
    draw_padded(quiz, F32, ATTENTION_PLAIN);
    draw_padded(quiz, F16, ATTENTION_FLASH);
    draw_headed(quiz, F32, ATTENTION_PLAIN);
    draw_headed(quiz, F16, ATTENTION_PLAIN);
    draw_headed(quiz, BF16, ATTENTION_FLASH);
    draw_one(quiz, BF16, ATTENTION_PLAIN);
    draw_vocabulary(quiz, F16);
}

GRADED(00_bytes, activations_head, "task 4: most activations, the head is the peak") {
    answers_grade(check, draw_head, task_activations());
}

/* The only block is the last one, too. */
static void draw_only_block(Quiz *quiz, Precision precision, Attention attention) {
    Shape shape = shape_random(quiz->check, precision, attention);
    shape.config.L = 1;
    shape.config.V = check_int(quiz->check, 257, 300);
    shape.config.NH = 5;
    shape.config.C = shape.config.NH * check_int(quiz->check, 33, 36);
    quiz_add(quiz, shape);
}

static void draw_last_block(Quiz *quiz) {
    draw_wide(quiz, F32, ATTENTION_PLAIN, false);
    draw_wide(quiz, F16, ATTENTION_FLASH, false);
    draw_close(quiz, 5, 130, F32, ATTENTION_FLASH);
    draw_only_block(quiz, BF16, ATTENTION_PLAIN);
    draw_wide(quiz, F32, ATTENTION_PLAIN, true);
}

GRADED(00_bytes, activations_block, "task 4: the same where the last block is the peak") {
    answers_grade(check, draw_last_block, task_activations());
}

static void draw_predict(Quiz *quiz) {
    draw(quiz, F32, ATTENTION_PLAIN);
    draw(quiz, F32, ATTENTION_FLASH);
    draw_one(quiz, F32, ATTENTION_PLAIN);
}

GRADED(00_bytes, predict, "task 5: all kinds together, f32") {
    check_after(check, "params states_float block_plain block_flash activations_head");
    answers_grade(check, draw_predict, task_predict());
}

/* One model after the other, each with one number changed: an answer that is remembered without
   that number is wrong. */
static void draw_neighbours(Quiz *quiz) {
    Shape shape = shape_random(quiz->check, F32, ATTENTION_PLAIN);
    const struct {
        int *number, more;
    } change[] = {{&shape.config.V, LOGITS_ALIGNMENT},
                  {&shape.config.T, 1},
                  {&shape.config.L, 1},
                  {&shape.config.C, 15},
                  {&shape.B, 1},
                  {&shape.T, 1}};
    shape.config.NH = 3;
    shape.config.C = 30;
    quiz_add(quiz, shape);
    for (size_t i = 0; i < sizeof change / sizeof *change; i++) {
        *change[i].number += change[i].more;
        quiz_add(quiz, shape);
    }
    shape.config.NH = 5;
    quiz_add(quiz, shape);
    shape.config.precision = BF16;
    quiz_add(quiz, shape);
    shape.config.attention = ATTENTION_FLASH;
    quiz_add(quiz, shape);
}

/* The last has half a million sequences: the ids alone are beyond 2^32 bytes. */
static void draw_measured(Quiz *quiz) {
    for (int i = 0; i < 6; i++) {
        draw(quiz, (Precision)(i % 3), (Attention)(i / 3));
    }
    draw_neighbours(quiz);
    draw_wide(quiz, BF16, ATTENTION_PLAIN, false);
    draw_wide(quiz, F32, ATTENTION_FLASH, false);
    draw_vocabulary(quiz, BF16);
    quiz->shape[quiz->count - 1].B = 2 * check_int(quiz->check, 280000, 281000) + 1;
}

GRADED(00_bytes, measured, "task 5: predicted = counted on shapes of every kind") {
    check_after(check, "params states_float states_half block_plain block_flash block_half "
                       "activations_head activations_block predict");
    answers_grade(check, draw_measured, task_predict());
}
