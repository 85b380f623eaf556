/* Lab 00, judged: what the student predicts against what the kit counts, on shapes that nobody has
   seen. Nothing here is a formula of the solution: parameters are counted from their list,
   activations by running a step and looking at the peak. */
#include "grader/labs/00_bytes/activations.h"
#include "grader/labs/00_bytes/states.h"

/* ---- task 1 ---------------------------------------------------------------------------------- */

GRADED(00_bytes, params, "task 1: the parameter count") {
    Quiz quiz = {.check = check, .numbers = 1};
    for (int i = 0; i < 4; i++) {
        quiz_add(&quiz, shape_random(check, i == 0 ? F16 : F32, ATTENTION_PLAIN));
    }
    if (answers_ask(&quiz, "params")) {
        params_expect(&quiz);
    }
}

/* ---- task 2 ---------------------------------------------------------------------------------- */

static void check_states(Check *check, Precision first, Precision second) {
    Quiz quiz = {.check = check, .numbers = MEMORY_KINDS};
    quiz_add(&quiz, shape_random(check, first, ATTENTION_PLAIN));
    quiz_add(&quiz, shape_random(check, second, ATTENTION_FLASH));
    if (answers_ask(&quiz, "states")) {
        states_expect(&quiz);
    }
}

GRADED(00_bytes, states_float, "task 2: weights, gradients, states in f32: 16 bytes each") {
    check_states(check, F32, F32);
}

GRADED(00_bytes, states_half, "task 2: the same in f16 and bf16: 18 bytes each") {
    check_states(check, F16, BF16);
}

/* ---- task 3 ---------------------------------------------------------------------------------- */

static void check_block(Quiz *quiz) {
    if (answers_ask(quiz, "block")) {
        block_expect(quiz);
    }
}

GRADED(00_bytes, block_plain, "task 3: what a block keeps, plain attention") {
    Quiz quiz = {.check = check, .numbers = 1};
    quiz_add(&quiz, shape_random(check, F32, ATTENTION_PLAIN));
    quiz_add(&quiz, shape_random(check, F32, ATTENTION_PLAIN));
    quiz_add(&quiz, shape_random(check, F32, ATTENTION_PLAIN));
    check_block(&quiz);
}

GRADED(00_bytes, block_flash, "task 3: the same with flash attention") {
    Quiz quiz = {.check = check, .numbers = 1};
    quiz_add(&quiz, shape_random(check, F32, ATTENTION_FLASH));
    quiz_add(&quiz, shape_random(check, F32, ATTENTION_FLASH));
    check_block(&quiz);
}

GRADED(00_bytes, block_half, "task 3: both in half: numbers 2 bytes, floats 4") {
    Quiz quiz = {.check = check, .numbers = 1};
    quiz_add(&quiz, shape_random(check, F16, ATTENTION_PLAIN));
    quiz_add(&quiz, shape_random(check, BF16, ATTENTION_FLASH));
    quiz_add(&quiz, shape_random(check, BF16, ATTENTION_PLAIN));
    check_block(&quiz);
}

/* ---- tasks 4 and 5 --------------------------------------------------------------------------- */

static void check_activations(Quiz *quiz) {
    if (answers_ask(quiz, "activations")) {
        activations_expect(quiz);
    }
}

/* Few tokens and many channels: the peak is in the last block. */
static Shape shape_random_wide(Check *check, Precision precision, Attention attention) {
    Shape shape = shape_random(check, precision, attention);
    shape.config.V = check_int(check, 257, 300);
    shape.config.C = shape.config.NH * (120 / shape.config.NH + check_int(check, 0, 6));
    CHECK(activations_head_minus_block(&shape) < 0, "V %d, C %d", shape.config.V, shape.config.C);
    return shape;
}

GRADED(00_bytes, activations_head, "task 4: most activations, the head is the peak") {
    Quiz quiz = {.check = check, .numbers = 1};
    quiz_add(&quiz, shape_random(check, F32, ATTENTION_PLAIN));
    quiz_add(&quiz, shape_random(check, F16, ATTENTION_PLAIN));
    quiz_add(&quiz, shape_random(check, BF16, ATTENTION_FLASH));
    check_activations(&quiz);
}

GRADED(00_bytes, activations_block, "task 4: the same where the last block is the peak") {
    Quiz quiz = {.check = check, .numbers = 1};
    quiz_add(&quiz, shape_random_wide(check, F32, ATTENTION_PLAIN));
    quiz_add(&quiz, shape_random_wide(check, F16, ATTENTION_FLASH));
    check_activations(&quiz);
}

static void check_predict(Quiz *quiz) {
    if (answers_ask(quiz, "predict")) {
        predict_expect(quiz);
    }
}

GRADED(00_bytes, predict, "task 5: all kinds together, f32") {
    Quiz quiz = {.check = check, .numbers = MEMORY_KINDS};
    quiz_add(&quiz, shape_random(check, F32, ATTENTION_PLAIN));
    quiz_add(&quiz, shape_random(check, F32, ATTENTION_FLASH));
    check_predict(&quiz);
}

GRADED(00_bytes, measured, "task 5: predicted = counted on shapes of every kind") {
    Quiz quiz = {.check = check, .numbers = MEMORY_KINDS};
    for (int i = 0; i < 6; i++) {
        quiz_add(&quiz, shape_random(check, (Precision)(i % 3), (Attention)(i / 3)));
    }
    quiz_add(&quiz, shape_random_wide(check, BF16, ATTENTION_PLAIN));
    quiz_add(&quiz, shape_random_wide(check, F32, ATTENTION_FLASH));
    check_predict(&quiz);
}
