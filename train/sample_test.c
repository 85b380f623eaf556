#include "train/sample.h"

#include <criterion/criterion.h>
#include <string.h>

#include "common/testkit/parts.h"

enum { FIRST = 23, SECOND = 7, V = 256 };

static const char first_prompt[] = "A text that is longer than the window. ", second_prompt[] = "B";

static void draw_next(TextSample *sample, Model *model) {
    float logits[V];
    Batch batch = sample_batch(sample);
    model_next_logits(model, &batch, logits);
    sample_draw(sample, logits);
}

/* In turn, and beyond the end of the shorter one: the bytes of one after the other. */
Test(sample, texts_in_turn_are_texts_one_after_the_other) {
    ModelConfig config = parts_config(F32, ATTENTION_FLASH);
    PartBench bench = bench_on(false);
    Model *model = bench_model(&bench, &config);
    unsigned char want[FIRST + SECOND];
    Rng rng = rng_new(3, RNG_SAMPLE), other = rng_new(4, RNG_SAMPLE);
    sample_text(model, first_prompt, FIRST, 0.8f, &rng, want);
    sample_text(model, second_prompt, SECOND, 0, &other, want + FIRST);

    Rng again = rng_new(3, RNG_SAMPLE), other_again = rng_new(4, RNG_SAMPLE);
    TextSample first = sample_begin(&config, first_prompt, FIRST, 0.8f, &again);
    TextSample second = sample_begin(&config, second_prompt, SECOND, 0, &other_again);
    int runs = 0;
    for (; !sample_done(&first) || !sample_done(&second); runs++) {
        draw_next(&first, model);
        draw_next(&second, model);
    }
    cr_assert_eq(runs, FIRST);
    cr_assert_eq(second.drawn, SECOND);
    cr_assert_arr_eq(first.text, want, FIRST);
    cr_assert_arr_eq(second.text, want + FIRST, SECOND);
    cr_assert_eq(again.offset, rng.offset);
    sample_end(&first);
    sample_end(&second);
    bench_close(&bench);
}

Test(sample, the_model_sees_the_end_of_the_text) {
    ModelConfig config = parts_config(F32, ATTENTION_PLAIN);
    Rng rng = rng_new(3, RNG_SAMPLE);
    TextSample sample = sample_begin(&config, "0123456789abcdefXYZ", 1, 0, &rng);
    Batch batch = sample_batch(&sample);
    cr_assert_eq(batch.T, config.T);
    for (int t = 0; t < batch.T; t++) {
        cr_assert_eq(batch.tokens[t], "3456789abcdefXYZ"[t]);
        cr_assert_eq(batch.targets[t], IGNORE_INDEX);
    }
    float logits[V] = {['q'] = 1};
    sample_draw(&sample, logits);
    cr_assert(sample_done(&sample));
    cr_assert_eq(sample.text[0], 'q');
    sample_end(&sample);
}
