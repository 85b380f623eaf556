/* Lab 00, judged: what the student predicts against what the kit counts, on shapes that nobody has
   seen. Nothing here is a formula of the solution: parameters are counted from their list,
   activations by running a step and looking at the peak. */
#include "grader/judges/00_activations.h"
#include "grader/judges/00_states.h"

/* ---- task 1 ---------------------------------------------------------------------------------- */

GRADED(00_bytes, params, 15, "task 1: numbers in all parameters") {
    Quiz quiz = {.check = check, .numbers = 1};
    for (int i = 0; i < 4; i++) {
        ask(&quiz, random_shape(check, i == 0 ? F16 : F32, ATTENTION_PLAIN));
    }
    if (run(&quiz, "params")) {
        Mistakes own = MISTAKES(params_mistakes, NULL);
        expect(&quiz, params_right, &own, 1);
    }
}

/* ---- task 2 ---------------------------------------------------------------------------------- */

static void states_check(Check *check, Precision first, Precision second) {
    Quiz quiz = {.check = check, .numbers = MEMORY_KINDS};
    ask(&quiz, random_shape(check, first, ATTENTION_PLAIN));
    ask(&quiz, random_shape(check, second, ATTENTION_FLASH));
    if (run(&quiz, "states")) {
        Mistakes lists[] = {MISTAKES(states_mistakes, NULL), MISTAKES(params_mistakes, states_of)};
        expect(&quiz, states_right, lists, 2);
    }
}

GRADED(00_bytes, states_float, 10, "task 2: weights, gradients, states in f32: 16 bytes each") {
    states_check(check, F32, F32);
}

GRADED(00_bytes, states_half, 10, "task 2: the same in f16 and bf16: 18 bytes each") {
    states_check(check, F16, BF16);
}

/* ---- task 3 ---------------------------------------------------------------------------------- */

static void block_check(Quiz *quiz) {
    if (run(quiz, "block")) {
        Mistakes own = MISTAKES(block_mistakes, NULL);
        expect(quiz, block_right, &own, 1);
    }
}

GRADED(00_bytes, block_plain, 10, "task 3: what a block keeps, plain attention") {
    Quiz quiz = {.check = check, .numbers = 1};
    ask(&quiz, random_shape(check, F32, ATTENTION_PLAIN));
    ask(&quiz, random_shape(check, F32, ATTENTION_PLAIN));
    ask(&quiz, random_shape(check, F32, ATTENTION_PLAIN));
    block_check(&quiz);
}

GRADED(00_bytes, block_flash, 10, "task 3: the same with flash attention") {
    Quiz quiz = {.check = check, .numbers = 1};
    ask(&quiz, random_shape(check, F32, ATTENTION_FLASH));
    ask(&quiz, random_shape(check, F32, ATTENTION_FLASH));
    block_check(&quiz);
}

GRADED(00_bytes, block_half, 5, "task 3: both in half: numbers 2 bytes, floats 4") {
    Quiz quiz = {.check = check, .numbers = 1};
    ask(&quiz, random_shape(check, F16, ATTENTION_PLAIN));
    ask(&quiz, random_shape(check, BF16, ATTENTION_FLASH));
    ask(&quiz, random_shape(check, BF16, ATTENTION_PLAIN));
    block_check(&quiz);
}

/* ---- tasks 4 and 5 --------------------------------------------------------------------------- */

static void activations_check(Quiz *quiz) {
    if (run(quiz, "activations")) {
        Mistakes lists[] = {MISTAKES(activations_mistakes, NULL),
                            MISTAKES(block_mistakes, activations_with_block)};
        expect(quiz, activations_right, lists, 2);
    }
}

/* Few tokens and many channels: the peak is in the last block. */
static Shape wide_shape(Check *check, Precision precision, Attention attention) {
    Shape shape = random_shape(check, precision, attention);
    shape.config.V = check_int(check, 257, 300);
    shape.config.C = shape.config.NH * (120 / shape.config.NH + check_int(check, 0, 6));
    CHECK(head_minus_block(&shape) < 0, "V %d, C %d", shape.config.V, shape.config.C);
    return shape;
}

GRADED(00_bytes, activations_head, 10, "task 4: most activations, the head is the peak") {
    Quiz quiz = {.check = check, .numbers = 1};
    ask(&quiz, random_shape(check, F32, ATTENTION_PLAIN));
    ask(&quiz, random_shape(check, F16, ATTENTION_PLAIN));
    ask(&quiz, random_shape(check, BF16, ATTENTION_FLASH));
    activations_check(&quiz);
}

GRADED(00_bytes, activations_block, 10, "task 4: the same where the last block is the peak") {
    Quiz quiz = {.check = check, .numbers = 1};
    ask(&quiz, wide_shape(check, F32, ATTENTION_PLAIN));
    ask(&quiz, wide_shape(check, F16, ATTENTION_FLASH));
    activations_check(&quiz);
}

static void predict_check(Quiz *quiz) {
    if (run(quiz, "predict")) {
        Mistakes own = MISTAKES(predict_mistakes, NULL);
        expect(quiz, predict_right, &own, 1);
    }
}

GRADED(00_bytes, predict, 10, "task 5: all kinds together, f32") {
    Quiz quiz = {.check = check, .numbers = MEMORY_KINDS};
    ask(&quiz, random_shape(check, F32, ATTENTION_PLAIN));
    ask(&quiz, random_shape(check, F32, ATTENTION_FLASH));
    predict_check(&quiz);
}

GRADED(00_bytes, measured, 10, "task 5: predicted = counted on shapes of every kind") {
    Quiz quiz = {.check = check, .numbers = MEMORY_KINDS};
    for (int i = 0; i < 6; i++) {
        ask(&quiz, random_shape(check, (Precision)(i % 3), (Attention)(i / 3)));
    }
    ask(&quiz, wide_shape(check, BF16, ATTENTION_PLAIN));
    ask(&quiz, wide_shape(check, F32, ATTENTION_FLASH));
    predict_check(&quiz);
}
