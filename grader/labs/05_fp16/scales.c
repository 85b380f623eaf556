#include "grader/labs/05_fp16/scales.h"

#include <string.h>

#include "grader/labs/05_fp16/expect.h"

static const float scales[] = {0x1p10f, 0x1p12f, 0x1p14f};

/* Whether half holds every activation gradient of the window at all three scales: by the reference,
   and, since rounding moves those next to the border, by the kit's own half as well. */
static bool job_fits_half(Job *job) {
    job_work_out(job);
    if (!(job->windows.given.reference->smallest * 0x1p10 >= 0x1p-13 &&
          job->windows.given.reference->largest * 0x1p14 <= 0x1p15)) {
        return false;
    }
    const float *first = job_kit_gradient(job, scales[0]);
    return memcmp(first, job_kit_gradient(job, scales[1]), job->windows.given.P * sizeof *first) ==
               0 &&
           memcmp(first, job_kit_gradient(job, scales[2]), job->windows.given.P * sizeof *first) ==
               0;
}

/* Weights and batches with which it does. Few tokens:
   the more numbers, the smaller the smallest. */
static Job job_that_fits(Check *check) {
    for (int tries = 0; tries < 400; tries++) {
        Job job = job_new(check, 1, 4);
        job.windows.given.config.NH = job.windows.given.reference->config.NH = 1;
        if (job_fits_half(&job)) {
            return job;
        }
        job_free(&job);
    }
    CHECK(false, "no inputs whose gradients half can hold");
}

/* That window w, whose gradients should be those of the first, was scaled or unscaled by the scale
   of an earlier one, the first or the one before. */
static bool scales_expect_same(const Job *job, int w, const double *first) {
    static const char *const divisor =
        "the gradients are divided by the scale of an earlier window: "
        "unscale() is given that of now";
    static const char *const factor = "backward is given the scale of an earlier window: "
                                      "mixed_scale() looks at that of now";
    const Windows *windows = &job->windows;
    double of_first = (double)(scales[w] / scales[0]);
    double of_last = (double)(scales[w] / scales[w - 1]);
    Suspect suspects[] = {{divisor, windows_scaled(windows, of_first, first, NULL)},
                          {divisor, windows_scaled(windows, of_last, first, NULL)},
                          {factor, windows_scaled(windows, 1 / of_first, first, NULL)},
                          {factor, windows_scaled(windows, 1 / of_last, first, NULL)}};
    return given_expect(&windows->given, NAME_GRADIENT, w, first, (Tolerance){0, 0, 0}, suspects,
                        sizeof suspects / sizeof *suspects);
}

/* That no window begins with what the one before it has left. */
static bool scales_expect_zeroed(const Job *job) {
    for (int w = 0; w < 3; w++) {
        if (job_gradients_left(job, w)) {
            check_fail(job->windows.given.check,
                       "gradients are left when window %d ends: model_zero_grad()", w + 1);
            return false;
        }
    }
    return true;
}

/* Whether window w differs from the first by no more than rounding does. */
static bool scales_rounded(const Job *job, int w, const double *first) {
    size_t P = job->windows.given.P;
    const double *got = given_got_all(&job->windows.given, NAME_GRADIENT, w);
    const double *off = windows_scaled(&job->windows, -1, first, got);
    return norm_of(off, P) <= tolerance_of_model(F16).norm * norm_of(first, P);
}

void scales_judge(Check *check) {
    Job job = job_that_fits(check);
    job.windows.given.schedule.learning_rate = 0; /* the weights stay */
    job.windows.given.adamw.weight_decay = 0;
    for (int w = 0; w < 3; w++) {
        job_add_window(&job, scales[w]);
    }
    job_give(&job, WANT_GRADIENTS | WANT_STATES);
    const double *kit = job_kit_bits(&job);
    if (kit != NULL && job_run_windows(&job) && job_stepped(&job, 0) && job_stepped(&job, 1) &&
        job_stepped(&job, 2)) {
        double *first = given_got_all(&job.windows.given, NAME_GRADIENT, 0);
        bool right =
            job_expect_gradients(&job, 0, (double)scales[0], 0) && scales_expect_zeroed(&job);
        for (int w = 1; w < 3 && right; w++) {
            if (!scales_expect_same(&job, w, first) && scales_rounded(&job, w, first)) {
                check_fail(check, "scales 2^10, 2^12 and 2^14 give other bits: with powers of two "
                                  "nothing is rounded, unless 1 / scale is not one");
                right = false;
            }
        }
        /* Small numbers, which half would round away at scale 1, are there. */
        if (!given_expect(&job.windows.given, NAME_GRADIENT, 0, kit, (Tolerance){0, 0, 0}, NULL,
                          0)) {
            check_fail(check, "these are not the bits of a backward at scale 2^10: is dloss scaled "
                              "before anything is rounded to half?");
        }
    }
    job_free(&job);
}
