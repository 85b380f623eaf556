/* Lab 10, judged: a layer with its adapter against plain loops in double; a model that trains
   against the frozen model, to the bit where it has to be; bytes against counted ones; names and
   contents against what peft writes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/testkit/reference.h"
#include "grader/check.h"
#include "grader/labs/10_lora/counted.h"
#include "grader/labs/10_lora/files.h"
#include "grader/labs/10_lora/layer.h"
#include "grader/labs/10_lora/merged.h"
#include "grader/labs/10_lora/names.h"
#include "grader/labs/10_lora/run.h"
#include "grader/labs/10_lora/sizes.h"
#include "grader/labs/10_lora/start.h"

/* ---- task 1 ---------------------------------------------------------------------------------- */

GRADED(10_lora, init, "task 1: A is uniform, as wide as it should be, B is 0") {
    LoraRun run = lora_run(check, TARGET_ALL, 0, true, 0);
    check_give_config(check, &run.config);
    check_give(check, "seed", WIRE_U64, &run.seed, 1);
    static const char *const names[] = {"first", "again", "other", "far"};
    for (int i = 0; i < 4; i++) {
        check_want(check, names[i], WIRE_F32, run.numbers);
    }
    check_want(check, "left", WIRE_U64, 1);
    start_want_elsewhere(&run);
    if (!check_run(check, "init", SECONDS)) {
        return;
    }
    const float *first = check_got(check, names[0], WIRE_F32);
    size_t bytes = run.numbers * sizeof *first;
    if (!start_expect_zeros(check, &run, first) || !start_expect_apart(check, &run, first) ||
        !start_expect_uniform(check, &run, first) ||
        !start_expect_independent(check, &run, first) ||
        !start_expect_zeros(check, &run, check_got(check, "again", WIRE_F32))) {
        return;
    }
    if (memcmp(first, check_got(check, "again", WIRE_F32), bytes) != 0) {
        check_fail(check, "the same seed gives other numbers: they come from rng_new(seed, "
                          "RNG_ADAPTERS) alone");
    } else if (memcmp(first, check_got(check, "other", WIRE_F32), bytes) == 0) {
        check_fail(check, "another seed gives the same numbers");
    } else if (memcmp(first, check_got(check, "far", WIRE_F32), bytes) == 0) {
        check_fail(check, "another seed gives the same numbers, where the lower 32 bits are the "
                          "same: a seed has 64");
    } else if (start_expect_none_left(check) && start_expect_stream(check, &run, first) &&
               start_expect_elsewhere(&run, first)) {
        check_good(check);
    }
}

/* But for the square one: who exchanges inputs and outputs shall notice. `backward_half` has it.
   And but for the one whose bias GELU adds: who leaves a bias out shall notice. `backward` has
   it. */
static LinearId any_layer(Check *check) {
    return check_int(check, 0, 1) == 0 ? LINEAR_QKV : LINEAR_FCPROJ;
}

GRADED(10_lora, forward, "task 1: the frozen layer and its branch, nothing trains") {
    LayerJob job = layer_draw(check, any_layer(check), F32, 0.3f, false, check_on_gpu());
    layer_judge(&job);
}

GRADED(10_lora, forward_half, "task 1: the same in half precision") {
    LayerJob job = layer_draw(check, any_layer(check), BF16, 0.3f, false, false);
    layer_judge_half(&job);
}

/* ---- task 2 ---------------------------------------------------------------------------------- */

GRADED(10_lora, backward, "task 2: the gradients of A, B and the input are added") {
    LayerJob job = layer_draw(check, LINEAR_FC, F32, 0, true, check_on_gpu());
    check_after(check, "forward");
    layer_judge(&job);
}

GRADED(10_lora, backward_dropout, "task 2: the same under a mask, on the branch alone") {
    /* the one whose inputs are not C */
    LayerJob job = layer_draw(check, LINEAR_FCPROJ, F32, 0.4f, true, check_on_gpu());
    check_after(check, "forward backward");
    layer_judge(&job);
}

GRADED(10_lora, backward_half, "task 2: the same in half precision") {
    LayerJob job = layer_draw(check, LINEAR_PROJ, BF16, 0.4f, true, false);
    check_after(check, "forward forward_half backward backward_dropout");
    layer_judge_half(&job);
}

GRADED(10_lora, on_the_gpu, "task 2: the same on the simulated GPU") {
    LayerJob job = layer_draw(check, any_layer(check), F32, 0.4f, true, true);
    check_after(check, "forward backward backward_dropout");
    layer_judge(&job);
}

/* The gradients of A and B follow from that of the matrix which both stand beside:
   W' = W + s B A, so dB = s dW' A^T and dA = s B^T dW'. */
GRADED(10_lora, gradients, "task 2: a whole model, against its merged twin in double") {
    LoraRun run = lora_run(check, (unsigned)check_int(check, 1, TARGET_ALL), 0, false, 0);
    check_after(check, "forward backward");
    lora_give(&run);
    if (lora_start(&run, "adapters")) {
        merged_expect_gradients(&run);
    }
}

GRADED(10_lora, first_step, "tasks 1, 2: the first step computes what the model computes") {
    LoraRun run = lora_run(check, TARGET_ALL, 0.3f, true, 0);
    run.passes = run.window = 1;
    check_after(check, "init forward backward backward_dropout");
    lora_give(&run);
    if (!lora_start_bare(&run)) {
        return;
    }
    size_t logits = (size_t)(run.batch[0].B * run.config.V);
    float *bare = (float *)check_doubles(check, logits);
    uint64_t loss = *(const uint64_t *)check_got(check, "loss", WIRE_U64);
    memcpy(bare, check_got(check, "logits", WIRE_F32), logits * sizeof *bare);
    if (!lora_start(&run, "adapters")) {
        return;
    }
    if (memcmp(bare, check_got(check, "logits", WIRE_F32), logits * sizeof *bare) != 0 ||
        loss != *(const uint64_t *)check_got(check, "loss", WIRE_U64)) {
        check_fail(check, "with fresh adapters the logits or the loss are not those of the model, "
                          "bit for bit: B is 0, so the branch adds 0");
        return;
    }
    if (start_expect_gradients(check, &run)) {
        check_good(check);
    }
}

/* ---- task 3 ---------------------------------------------------------------------------------- */

GRADED(10_lora, states, "task 3: weights, gradients and states, to the byte") {
    Quiz quiz = {.check = check, .numbers = MEMORY_KINDS};
    for (int i = 0; i < 9; i++) {
        quiz_add(&quiz, (Shape){.config = sizes_config(check, (Precision)(i % 3),
                                                       (Attention)(i % 2), i % 2),
                                .B = 1 + i,
                                .T = 8});
    }
    for (int id = 0; id < BLOCK_LINEARS; id++) { /* each of them alone */
        ModelConfig config = sizes_config(check, F32, ATTENTION_PLAIN, false);
        config.adapter.targets = 1u << id;
        quiz_add(&quiz, (Shape){.config = config, .B = 10 + id, .T = 8});
    }
    ModelConfig large = {.V = 50257, .T = 1024, .L = 48, .NH = 25, .C = 1600};
    large.adapter = layer_adapter(check, TARGET_ALL, 0);
    quiz_add(&quiz, (Shape){.config = large, .B = 1, .T = 1024});
    large.adapter.rank = 65536; /* more numbers than an int can say */
    quiz_add(&quiz, (Shape){.config = large, .B = 2, .T = 1024});
    sizes_give_adapters(&quiz);
    if (quiz_run(&quiz, "formulas/states", SECONDS)) {
        for (int i = 0; i < quiz.count; i++) {
            sizes_expect_states(check, quiz.name[i], &quiz.shape[i].config);
        }
    }
}

GRADED(10_lora, frozen, "tasks 1, 2: fifty updates, and no bit of the frozen weights has changed") {
    LoraRun run = lora_run(check, TARGET_ALL, 0.1f, true, 0);
    run.passes = 50;
    run.window = 1;
    check_after(check, "init forward backward backward_dropout");
    lora_give(&run);
    if (!lora_start(&run, "adapters")) {
        return;
    }
    const float *base = check_got(check, "base", WIRE_F32);
    const float *trained = check_got(check, "trained", WIRE_F32);
    for (size_t i = 0; i < run.base; i++) {
        if (memcmp(&base[i], &run.weights[i], sizeof *base) != 0) {
            check_fail(check, "a frozen weight has changed: training moves A and B alone");
            return;
        }
    }
    for (int i = 0; i < run.count; i++) {
        const float *x = trained + protocol_numbers(run.params, i);
        if (!(sum_of_squares(x, run.params[i].count) > 0)) {
            check_fail(check,
                       "after 50 updates h.%d.%s is still 0, or not finite: it has no "
                       "gradient",
                       run.params[i].layer, run.params[i].name);
            return;
        }
    }
    check_good(check);
}

/* ---- task 4 ---------------------------------------------------------------------------------- */

GRADED(10_lora, merge, "task 4: the product is added to square and other matrices") {
    merged_judge(check, MERGE_IN);
}

GRADED(10_lora, take_out, "task 4: and taken out again") {
    check_after(check, "merge");
    merged_judge(check, MERGE_OUT);
}

GRADED(10_lora, swap, "task 4: another adapter in its place") {
    check_after(check, "merge take_out");
    merged_judge(check, MERGE_SWAPPED);
}

GRADED(10_lora, merged_logits,
       "task 4: merged, the model computes what it did beside its adapters") {
    check_after(check, "forward merge");
    merged_judge(check, MERGE_LOGITS);
}

/* ---- task 5 ---------------------------------------------------------------------------------- */

GRADED(10_lora, targets, "task 5: the layers that a name stands for") {
    names_judge_targets(check);
}

/* One flag after the other. */
static bool expect_made(Check *check, uint64_t flag, const char *sentence) {
    bool made = (*(const uint64_t *)check_got(check, "made", WIRE_U64) & flag) != 0;
    if (made) {
        check_fail(check, "%s", sentence);
    }
    return !made;
}

static bool expect_adapter_names(Check *check, char (*want)[NAME_ROOM], int count) {
    const char *got = check_got(check, "names", WIRE_BYTES);
    for (int i = 0; i < count; i++) {
        if (strncmp(got + i * NAME_ROOM, want[i], NAME_ROOM) != 0) {
            check_fail(check, "the name in `text` is \"%.90s\", and peft looks for \"%s\"",
                       got + i * NAME_ROOM, want[i]);
            return false;
        }
    }
    return expect_made(check, MADE_ELSEWHERE, "adapter_name() returns another pointer than text") &&
           expect_made(check, MADE_BEYOND,
                       "adapter_name() writes beyond the ADAPTER_NAME bytes of `text`");
}

GRADED(10_lora, names, "task 5: the names of the matrices in the file") {
    ModelConfig config = sizes_config(check, F32, ATTENTION_PLAIN, false);
    config.L = 11;
    config.adapter.targets = TARGET_ALL;
    int count = adapters_count(&config);
    Param *params = (Param *)check_doubles(check, (size_t)count * sizeof *params);
    char(*want)[NAME_ROOM] = (char(*)[NAME_ROOM])check_doubles(check, (size_t)count * sizeof *want);
    adapters_describe(params, &config);
    for (int i = 0; i < count; i++) {
        snprintf(want[i], sizeof want[i], "base_model.model.transformer.h.%d.%s", params[i].layer,
                 params[i].name);
    }
    size_t numbers = protocol_numbers(params, count);
    check_give_config(check, &config);
    check_want(check, "names", WIRE_BYTES, (size_t)count * NAME_ROOM);
    check_want(check, "made", WIRE_U64, 1);
    const float *values = files_want_load(check, want[0], (size_t)count * sizeof *want, numbers);
    if (check_run(check, "files/names", SECONDS) && expect_adapter_names(check, want, count) &&
        check_run(check, "files/load", SECONDS) && files_expect_load(check, values, numbers)) {
        check_good(check);
    }
}

GRADED(10_lora, content, "task 5: what adapter_config.json says") {
    ModelConfig config = sizes_config(check, F32, ATTENTION_PLAIN, true);
    Adapter *adapter = &config.adapter;
    adapter->alpha = floorf(adapter->alpha) + 0.53125f; /* which shows where it is cut */
    adapter->dropout = 0.28125f;
    char base[200]; /* a name that has to be escaped, and is long */
    snprintf(base, sizeof base, "C:\\models\\the \"small\" ones%*s\\gpt2-%d", 100, "",
             check_int(check, 1, 999));
    check_give_config(check, &config);
    /* as peft's own, whose entries stand there even so */
    Adapter plain = {.rank = 8, .targets = TARGET_ALL & ~adapter->targets, .alpha = 8};
    plain.targets = plain.targets != 0 ? plain.targets : TARGET_ALL;
    check_give(check, "plain", WIRE_I32, (int32_t[]){plain.rank, (int32_t)plain.targets}, 2);
    check_give(check, "plain floats", WIRE_F32, (float[]){plain.alpha, plain.dropout}, 2);
    check_give(check, "base", WIRE_BYTES, base, sizeof base);
    check_want(check, "content", WIRE_BYTES, CONTENT_BYTES);
    check_want(check, "content without base", WIRE_BYTES, CONTENT_BYTES);
    check_want(check, "made", WIRE_U64, 1);
    files_want_save(check);
    if (check_run(check, "files/content", SECONDS) &&
        files_expect_content(check, "content", adapter, base) &&
        files_expect_content(check, "content without base", &plain, NULL) &&
        expect_made(check, MADE_SHARED,
                    "a value in the object has another reference beside the object's, so that "
                    "json_decref() of the object does not free it: json_pack() takes one over "
                    "with \"o\", and adds one with \"O\"") &&
        expect_made(check, MADE_LEFT,
                    "something that adapter_config_new() has made stays on the heap when its "
                    "object is gone: what malloc() or json_dumps() has given goes back by free(), "
                    "and other JSON by json_decref()") &&
        check_run(check, "files/save", SECONDS) && files_expect_save(check) &&
        files_expect_content(check, "saved content", adapter, base)) {
        check_good(check);
    }
}

GRADED(10_lora, read, "task 5: what peft has written is read, what cannot be used is refused") {
    files_judge_read(check);
}

/* ---- task 6 ---------------------------------------------------------------------------------- */

GRADED(10_lora, dropped, "task 6: the inputs that no backward reads") {
    Quiz quiz = {.check = check, .numbers = 1};
    for (int i = 0; i < 12; i++) {
        ModelConfig config = sizes_config(check, (Precision)(i % 3), (Attention)(i % 2), i % 2);
        config.adapter.targets = i < 8 ? 1u << i / 2 : (unsigned)check_int(check, 1, TARGET_ALL);
        quiz_add(&quiz, (Shape){.config = config, .B = 1 + i, .T = 8});
    }
    sizes_give_adapters(&quiz);
    if (!quiz_run(&quiz, "formulas/dropped", SECONDS)) {
        return;
    }
    for (int i = 0; i < quiz.count; i++) {
        sizes_expect_dropped(check, quiz.name[i], &quiz.shape[i].config);
    }
}

GRADED(10_lora, activations, "task 6: activations at the peak, to the byte") {
    check_after(check, "dropped");
    sizes_ask_activations(check, false);
}

GRADED(10_lora, activations_again, "task 6: the same with checkpointing") {
    check_after(check, "dropped activations");
    sizes_ask_activations(check, true);
}

/* So wide that the backward of a block is the peak, not that of the head. */
enum { WIDE = 120 };

/* So few that none are dropped, and the gradients are those of the merged twin. The scratch is that
   of any other dropout. */
static const float HARDLY_ANY = 0x1p-40f;

/* The bytes that the step may take: fewer than a step takes that keeps an input which it need not,
   and fewer than full training takes. */
static size_t tight_budget(const LoraRun *run, size_t *full) {
    const Batch *batch = &run->batch[0];
    unsigned dropped = counted_dropped(&run->config);
    size_t least = counted_step(&run->config, batch->B, batch->T, dropped, run->gpu);
    for (unsigned id = 0; id < BLOCK_LINEARS; id++) {
        size_t more =
            counted_step(&run->config, batch->B, batch->T, dropped & ~(1u << id), run->gpu);
        CHECK(!(dropped >> id & 1) || more > least, "input %u is not seen at the peak", id);
    }
    ModelConfig bare = run->config;
    bare.adapter = (Adapter){0};
    *full = counted_step(&bare, batch->B, batch->T, 0, run->gpu);
    CHECK(*full > least, "full training has room in %zu bytes", least);
    return least;
}

GRADED(10_lora, budget,
       "task 6: a step in the bytes that are left, where full training has no room") {
    LoraRun run = lora_run(check, TARGET_QKV | TARGET_FCPROJ, HARDLY_ANY, false, WIDE);
    size_t full;
    run.config.L = 2;
    run.passes = run.window = 1;
    run.batch[1] = run.batch[0];
    run.drop = true;
    run.budget = tight_budget(&run, &full);
    check_after(check, "dropped forward backward gradients");
    check_want(check, "scratch", WIRE_U64, SCRATCH_NUMBERS);
    lora_give(&run);
    if (lora_start(&run, "measured")) {
        merged_expect_gradients(&run); /* who computes nothing needs no scratch */
        lora_expect_scratch(&run);
    } else {
        check_fail(check,
                   "in %.2f MiB full training, which takes %.2f, has no room, and this step "
                   "has: with the scratch that the contract says, and without the inputs "
                   "that nobody reads",
                   memory_mib(run.budget), memory_mib(full));
    }
}

GRADED(10_lora, again,
       "tasks 1, 2, 6: blocks that run again draw the masks of their branches again") {
    LoraRun run = lora_run(check, TARGET_ALL & ~TARGET_FC, 0.3f, false, 0);
    run.config.dropout = 0.2f;
    run.config.L = 2;
    run.segment = 1;
    run.drop = true;
    run.passes = 4;
    check_after(check, "forward backward backward_dropout");
    lora_give(&run);
    if (!lora_start(&run, "adapters")) {
        return;
    }
    float *plain = (float *)check_doubles(check, run.numbers);
    uint64_t loss[4], stream[4];
    memcpy(plain, check_got(check, "trained", WIRE_F32), run.numbers * sizeof *plain);
    char name[WIRE_NAME];
    const float *gradient = check_got(check, protocol_name(name, "d", 1, LINEAR_QKV, 1), WIRE_F32);
    double size = sum_of_squares(gradient, run.params[1].count);
    if (!(size > 0 && isfinite(size))) {
        check_fail(check, "nothing is learned, with or without: %s is 0, or not finite", name);
        return;
    }
    memcpy(loss, check_got(check, "loss", WIRE_U64), sizeof loss);
    memcpy(stream, check_got(check, "stream", WIRE_U64), sizeof stream);
    if (!lora_start(&run, "again")) {
        return;
    }
    if (memcmp(stream, check_got(check, "stream", WIRE_U64), sizeof stream) != 0 ||
        memcmp(loss, check_got(check, "loss", WIRE_U64), sizeof loss) != 0 ||
        memcmp(plain, check_got(check, "trained", WIRE_F32), run.numbers * sizeof *plain) != 0) {
        check_fail(check, "with blocks that run again, losses, adapters or the place in the stream "
                          "are not those of a step that keeps everything, bit for bit: the mask "
                          "comes from pass_draw_mask() alone, and is the one in linear->mask");
        return;
    }
    check_good(check);
}
