/* Lab 05, judged. The two ops run on the simulated GPU, the scaler against an automaton, windows
   against a model in double whose weights are those that half can hold. How inputs are made and
   what is said of a mistake is in grader/labs/05_fp16/. */
#include <math.h>
#include <string.h>

#include "grader/labs/05_fp16/bad.h"
#include "grader/labs/05_fp16/expect.h"
#include "grader/labs/05_fp16/ops.h"
#include "grader/labs/05_fp16/scales.h"

/* ---- tasks 1 and 2: the ops ------------------------------------------------------------------ */

static OpCalls ops_cast_calls(Check *check) {
    static const int sizes[] = {257, 1, 31, 33, 4, 3, 1030};
    OpCalls ops = {.check = check, .cast = true};
    for (int precision = F32; precision <= BF16; precision++) {
        for (int s = 0; s < 7; s++) {
            float *in = check_normal(check, (size_t)sizes[s], s % 2 == 0 ? 1 : 1e-5, F32);
            /* The longest goes back as well: groups of four, and a rest. */
            ops_add(&ops, in,
                    (OpCase){.precision = precision, .n = sizes[s], .back = sizes[s] == 1030});
        }
        ops_add(&ops, NULL, (OpCase){.precision = precision, .n = 0});
    }
    return ops;
}

/* More than 4096 blocks of 256 threads, each of which takes four. */
enum { MANY = (1 << 22) + 4097 };

GRADED(05_fp16, cast, "task 1: float to f32, f16 and bf16, rounded to the nearest") {
    /* Ties, the largest, the first that is infinite, subnormals, half of the smallest. */
    static const float special[] = {65504,  65519,    65520,     70000, -65520,    INFINITY,
                                    NAN,    0x1p-14f, 0x1p-24f,  6e-8f, 0x1p-25f,  0x1.8p-25f,
                                    1e-10f, -0.0f,    1.000488f, 2049,  2051,      0x1.004p0f,
                                    -1e-8f, 3.3e38f,  1e38f,     257,   0x1.02p0f, 0x1.06p0f};
    OpCalls ops = ops_cast_calls(check);
    for (int precision = F32; precision <= BF16; precision++) {
        ops_add(&ops, special,
                (OpCase){.precision = precision, .n = sizeof special / sizeof *special});
    }
    ops_add(&ops, special + 3, (OpCase){.precision = F16, .n = 3}); /* fewer than four */
    ops_add(&ops, check_normal(check, MANY, 1, F32), (OpCase){.precision = F16, .n = MANY});
    ops_planned(&ops);
    if (ops_run(&ops)) {
        ops_judge_cast(&ops);
    }
}

GRADED(05_fp16, cast_traffic, "task 1: sectors per request; launches") {
    check_after(check, "cast");
    OpCalls ops = {.check = check, .cast = true};
    ops_add(&ops, check_normal(check, 1 << 14, 1, F32), (OpCase){.precision = F16, .n = 1 << 14});
    ops_planned(&ops);
    profile_want_traffic(check);
    if (ops_run(&ops)) {
        ops_judge_cast(&ops);
        if (ops_judge_traffic(&ops, 4, 2)) {
            ops_judge_launches(&ops);
        }
    }
}

static OpCalls ops_unscale_calls(Check *check) {
    static const int sizes[] = {257, 1, 31, 33, 1030, 4100};
    OpCalls ops = {.check = check};
    for (int s = 0; s < 6; s++) {
        float inv_scale = (float)ldexp(1, -check_int(check, 0, 16));
        ops_add(&ops, check_normal(check, (size_t)sizes[s], 100, F32),
                (OpCase){.n = sizes[s], .inv_scale = inv_scale, .found_inf = (float)(s % 2)});
    }
    return ops;
}

/* Numbers of both signs whose products with 2^-16 are subnormal, and most of them rounded. */
static const float *ops_tiny(Check *check, int n) {
    float *in = check_normal(check, (size_t)n, 0, F32);
    for (int i = 0; i < n; i++) {
        double size = ldexp(check_int(check, 1 << 23, (1 << 24) - 1), -check_int(check, 134, 148));
        in[i] = (float)(i % 2 == 0 ? size : -size);
    }
    return in;
}

GRADED(05_fp16, unscale, "task 2: every element times inv_scale") {
    OpCalls ops = ops_unscale_calls(check);
    /* A scale need not be a power of two, and may be below 1. */
    ops_add(&ops, check_normal(check, 300, 100, F32), (OpCase){.n = 300, .inv_scale = 0.3f});
    ops_add(&ops, check_normal(check, 300, 100, F32), (OpCase){.n = 300, .inv_scale = 4});
    ops_add(&ops, ops_tiny(check, 300), (OpCase){.n = 300, .inv_scale = 0x1p-16f});
    ops_add(&ops, NULL, (OpCase){.n = 0, .inv_scale = 1});
    ops_add(&ops, NULL, (OpCase){.n = 0, .inv_scale = 1, .found_inf = 1});
    ops_add(&ops, check_normal(check, MANY, 1, F32), (OpCase){.n = MANY, .inv_scale = 0x1p-10f});
    ops_planned(&ops);
    if (ops_run(&ops)) {
        ops_judge_unscale(&ops);
    }
}

/* inf, -inf and NaN: first, last, and anywhere. Large numbers whose sum or square overflows. */
static OpCalls ops_bad_calls(Check *check) {
    static const float bad[] = {INFINITY, -INFINITY, NAN};
    OpCalls ops = {.check = check};
    for (int i = 0; i < 27; i++) {
        int n = i % 4 == 0 ? 1030 : check_int(check, 2, 2500);
        float *in = check_normal(check, (size_t)n, 1, F32);
        int at = i % 3 == 0 ? n - 1 : i % 3 == 1 ? 0 : check_int(check, 0, n - 1);
        in[at] = bad[i / 3 % 3];
        if (i % 9 == 8) { /* the sum of these two is NaN, that of -inf and inf might be hidden */
            in[(at + 1) % n] = -in[at];
        }
        /* bf16 has a scale of 1, and looks for them as well. */
        ops_add(&ops, in, (OpCase){.n = n, .inv_scale = i % 5 == 2 ? 1 : 0x1p-10f});
    }
    float *many = check_normal(check, 4100, 1, F32); /* one in every block */
    for (int i = 0; i < 4100; i += 250) {
        many[i] = NAN;
    }
    ops_add(&ops, many, (OpCase){.n = 4100, .inv_scale = 0x1p-10f});
    ops_add(&ops, many, (OpCase){.n = 4100, .inv_scale = 0x1p-10f, .found_inf = 1});
    /* The square of the first is infinite; of the next the sum of two as well. A half holds none,
       not even the other two, whose squares are finite. */
    static const float large[] = {1e30f, 3.4e38f, 1e5f, 1e18f};
    for (int k = 0; k < 4; k++) {
        float *in = check_normal(check, 300, 0, F32);
        for (int i = 0; i < 300; i++) {
            in[i] = large[k];
        }
        ops_add(&ops, in, (OpCase){.n = 300, .inv_scale = 0x1p-16f});
        ops_add(&ops, in, (OpCase){.n = 299, .inv_scale = 1});
    }
    float *one = check_normal(check, 300, 1, F32); /* large, and no sum of it and others is inf */
    one[check_int(check, 0, 299)] = 3.4e38f;
    ops_add(&ops, one, (OpCase){.n = 300, .inv_scale = 1});
    ops_add(&ops, check_normal(check, 300, 1, F32), (OpCase){.n = 300, .inv_scale = 1});
    return ops;
}

GRADED(05_fp16, unscale_found, "task 2: inf and NaN are found, wherever they stand") {
    check_after(check, "unscale");
    OpCalls ops = ops_bad_calls(check);
    ops_planned(&ops);
    if (ops_run(&ops)) {
        ops_judge_unscale(&ops);
    }
}

GRADED(05_fp16, unscale_schedules, "task 2: the same in three orders of threads") {
    check_after(check, "unscale_found");
    OpCalls ops = ops_bad_calls(check);
    ops_planned(&ops);
    static const char *const schedule[] = {"CUDASIM_SCHED=forward", "CUDASIM_SCHED=reverse",
                                           "CUDASIM_SCHED=random:7"};
    for (int s = 0; s < 3; s++) {
        check_environment(check, schedule[s]);
        ops.again = s > 0;
        if (!ops_run(&ops)) {
            return;
        }
        ops_judge_unscale(&ops);
    }
}

GRADED(05_fp16, unscale_traffic, "task 2: one pass over memory; launches") {
    check_after(check, "unscale");
    OpCalls ops = {.check = check};
    ops_add(&ops, check_normal(check, 1 << 14, 1, F32),
            (OpCase){.n = 1 << 14, .inv_scale = 0x1p-10f});
    ops_planned(&ops);
    profile_want_traffic(check);
    if (ops_run(&ops)) {
        ops_judge_unscale(&ops);
        if (ops_judge_traffic(&ops, 4, 4)) {
            ops_judge_launches(&ops);
        }
    }
}

/* ---- task 3: the scaler ---------------------------------------------------------------------- */

GRADED(05_fp16, scaler_init, "task 3: where the scaler starts") {
    scaler_judge_start(check);
}

GRADED(05_fp16, scaler_trace, "task 3: scale and good steps over a script, exactly") {
    char script[MOST_STEPS + 1] = "gggggggggggbggggbggggggbb";
    for (size_t i = strlen(script); i < MOST_STEPS; i++) {
        script[i] = check_int(check, 0, 7) == 0 ? 'b' : 'g';
    }
    scaler_judge_script(check, (Automaton){0x1p40, 2, 0.5, 1, 5, 0}, script);
}

GRADED(05_fp16, scaler_factors, "task 3: other factors, another interval") {
    /* Down to 0.5 first: a scale need not be a whole number. */
    scaler_judge_script(check, (Automaton){64, 4, 0.125, 0.25, 3, 0},
                        "gggbbbgggggggbgggggbbggggggggbg");
}

GRADED(05_fp16, scaler_limits, "task 3: never below the floor, never infinite") {
    /* The ninth would make it infinite. No multiple of the interval: good steps are left over. */
    int up = check_int(check, 3, 4) * 3 + check_int(check, 1, 2);
    char script[MOST_STEPS + 1] = "";
    memset(script, 'g', (size_t)up);
    memset(script + up, 'b', (size_t)(MOST_STEPS - 10 - up));
    /* Good steps before a bad one at the floor do not count after it. */
    memcpy(script + MOST_STEPS - 10, "ggbggbgggg", 10);
    scaler_judge_script(check, (Automaton){0x1p123, 4, 0x1p-6, 3, 3, 0}, script);
}

GRADED(05_fp16, scaler_resumed, "task 3: goes on where a saved one was; all state is in Scaler") {
    scaler_judge_script(check, (Automaton){4096, 2, 0.5, 1, 5, check_int(check, 2, 3)},
                        "gggggggbgggggggggggbbggggg");
}

/* ---- tasks 4 and 5: windows ------------------------------------------------------------------ */

GRADED(05_fp16, gradients, "task 4: unscaled gradients against those of a float model") {
    Job job = job_new(check, 2, 16);
    job.windows.given.config.dropout = job.windows.given.reference->config.dropout = 0.1f;
    job.windows.option[OPTION_FIRST] = 1;
    float scale = (float)(1 << check_int(check, 10, 13));
    job_add_window(&job, scale);
    job_work_out(&job);
    if (job_run(&job, WANT_GRADIENTS) && job_expect_gradients(&job, 0, (double)scale, 0)) {
        job_expect_small_error(&job, 0, scale);
    }
    job_free(&job);
}

GRADED(05_fp16, clipped, "task 5: clipping by the norm of the unscaled gradients") {
    static const float scales[] = {2048, 512, 8192};
    check_after(check, "gradients");
    Job job = job_new(check, 1, 16);
    job_work_out(&job);
    job.windows.given.max_norm = (float)(0.3 * job.norm);
    job.windows.given.schedule.learning_rate = 1e-12f; /* weights in half stay as they are */
    for (int w = 0; w < 3; w++) {
        job_add_window(&job, scales[w]);
    }
    if (job_run(&job, WANT_GRADIENTS)) {
        bool right = true;
        for (int w = 0; w < 3 && right; w++) {
            right = job_expect_gradients(&job, w, (double)scales[w],
                                         (double)job.windows.given.max_norm);
        }
        job_expect_report(&job);
    }
    job_free(&job);
}

GRADED(05_fp16, scales, "task 5: scales 2^10, 2^12 and 2^14 give the same bits") {
    check_after(check, "gradients");
    scales_judge(check);
}

GRADED(05_fp16, bad_numbers, "task 5: inf and NaN in each tensor and micro-batch in turn") {
    bad_judge_each(check);
}

GRADED(05_fp16, trace, "task 5: scale, skipped, t and schedule over 30 windows, exactly") {
    check_after(check, "scaler_trace bad_numbers");
    bad_judge_trace(check);
}

GRADED(05_fp16, update, "task 5: masters by AdamW, weights = round(master), three windows") {
    Job job = job_new(check, 1, 16);
    job.scaler.interval = 1; /* the scale grows at the end of each window, and not before */
    for (int w = 0; w < 3; w++) {
        job_add_window(&job, 0);
    }
    job_work_out(&job);
    job.windows.given.max_norm = (float)(3 * job.norm); /* nothing is above it */
    if (job_run(&job, WANT_GRADIENTS | WANT_UPDATE) &&
        job_expect_gradients(&job, 0, job.scaler.scale, (double)job.windows.given.max_norm)) {
        job_expect_updates(&job);
        job_expect_apart(&job);
    }
    job_free(&job);
}

GRADED(05_fp16, bf16, "bf16: no scale, but masters and skipped steps") {
    check_after(check, "gradients bad_numbers update");
    Job job = job_new(check, 1, 8);
    job.windows.given.config.precision = BF16;
    job.scaler = (Automaton){1, 2, 0.5, 1, 1, 0}; /* one good step, and a scaler would grow */
    given_random_weights(&job.windows.given);
    job_add_window(&job, 0);
    job_add_window(&job, 0);
    MixedWindow *bad = job_add_window(&job, 0);
    bad->bad = check_int(check, BAD_PLUS, BAD_NAN);
    bad->micro = check_int(check, 0, 2);
    bad->param = check_int(check, 0, job.windows.given.reference->param_count - 1);
    job_work_out(&job);
    job.windows.given.max_norm = (float)(0.3 * job.norm);
    if (job_run(&job, WANT_GRADIENTS | WANT_UPDATE | WANT_STATES)) {
        job_expect_gradients(&job, 0, 1, (double)job.windows.given.max_norm);
        job_expect_updates(&job);
        job_expect_bad_skipped(&job, 2, 1);
        if (job_traced(&job, 1, SCALE) != 1) {
            check_fail(check,
                       "bf16's scale has become %llu: where `dynamic` is not set, "
                       "scaler_update() is not called",
                       (unsigned long long)job_traced(&job, 1, SCALE));
        }
    }
    job_free(&job);
}

/* ---- everything at once ---------------------------------------------------------------------- */

/* Bytes of the largest micro-batch's step. */
static void job_right_bytes(const Job *job, uint64_t *want) {
    Device *device = judge_device(1);
    memset(want, 0, MEMORY_KINDS * sizeof *want);
    for (int k = 0; k < 3; k++) {
        const Batch *batch = &job->windows.given.batch[k];
        MemoryUse use;
        trainer_measure(&job->windows.given.config, (Checkpoint){0}, batch->B, batch->T, device,
                        &use);
        use.bytes[MEMORY_ACTIVATIONS] =
            peak_activations(&job->windows.given.config, batch->B, batch->T,
                             (Checkpoint){.segment = job->windows.option[OPTION_SEGMENT]});
        if (use.bytes[MEMORY_ACTIVATIONS] > want[MEMORY_ACTIVATIONS]) {
            for (int kind = 0; kind < MEMORY_KINDS; kind++) {
                want[kind] = use.bytes[kind];
            }
        }
    }
    device_free(device);
    if (job->windows.option[OPTION_GPU]) {
        want[MEMORY_WORKSPACE] = judge_gpu_workspace(&job->windows.given.config);
    }
}

GRADED(05_fp16, together, "accumulated, checkpointed, dropout, clipped: gradients and bytes") {
    check_after(check, "gradients clipped update");
    Job job = job_new(check, 3, 16);
    uint64_t want[MEMORY_KINDS];
    job.windows.given.config.dropout = job.windows.given.reference->config.dropout = 0.1f;
    job.windows.option[OPTION_LEVEL] = 1;
    job.windows.option[OPTION_SEGMENT] = 2;
    job_work_out(&job);
    job.windows.given.max_norm = (float)(0.3 * job.norm);
    job_add_window(&job, 0);
    job_right_bytes(&job, want);
    if (job_run(&job, WANT_GRADIENTS | WANT_UPDATE)) {
        job_expect_gradients(&job, 0, job.scaler.scale, (double)job.windows.given.max_norm);
        job_expect_updates(&job);
        check_equal(check, "bytes", want, MEMORY_KINDS, NULL, 0);
    }
    job_free(&job);
}

GRADED(05_fp16, on_the_gpu, "a window on the simulated GPU, with your cast and unscale") {
    check_after(check, "cast unscale unscale_found gradients bad_numbers");
    Job job = job_new(check, 1, 8);
    job.windows.option[OPTION_GPU] = 1;
    job_add_window(&job, 1024);
    MixedWindow *bad = job_add_window(&job, 0);
    bad->bad = BAD_NAN;
    bad->micro = 2;
    job_add_window(&job, 1024);
    job_work_out(&job);
    if (job_run(&job, WANT_GRADIENTS | WANT_UPDATE | WANT_STATES)) {
        job_expect_gradients(&job, 0, 1024, 0);
        job_expect_good_taken(&job, 0, -1);
        if (job_traced(&job, 1, SKIPPED) != 1 || job_changed(&job, 1, 0) != NULL) {
            check_fail(check, "a window with NaN in a gradient was not skipped");
        }
        job_expect_good_taken(&job, 2, 1);
    }
    job_free(&job);
}
