#include "grader/labs/05_fp16/bad.h"

#include "grader/labs/05_fp16/expect.h"
#include "grader/labs/05_fp16/trace.h"

void bad_judge_each(Check *check) {
    Job job = job_new(check, 1, 8);
    job_add_window(&job, 1024);
    for (int param = 0; param < job.windows.given.reference->param_count; param++) {
        for (int k = 0; k < 6; k++) {
            MixedWindow *window = job_add_window(&job, 1024);
            window->bad = k % 2 == 0 ? BAD_NAN : k == 1 ? BAD_MINUS : BAD_PLUS;
            window->micro = k / 2;
            window->param = param;
            window->index =
                check_int(check, 0, (int)job.windows.given.reference->params[param].count - 1);
        }
    }
    int last = job.windows.stop;
    job_add_window(&job, 1024);
    if (job_run(&job, WANT_STATES)) {
        job_expect_good_taken(&job, 0, -1);
        for (int w = 1; w < last; w++) {
            job_expect_bad_skipped(&job, w, 0);
        }
        job_expect_good_taken(&job, last, 0);
        job_expect_kept(&job);
    }
    job_free(&job);
}

void bad_judge_trace(Check *check) {
    static const char script[] = "ggggggggggbggggbggggggbbgggggb";
    Job job = job_new(check, 1, 8);
    job.scaler.interval = 5;
    for (size_t i = 0; i < sizeof script - 1; i++) {
        MixedWindow *window = job_add_window(&job, 0);
        window->bad = script[i] == 'b' ? check_int(check, BAD_PLUS, BAD_NAN) : BAD_NONE;
        window->micro = check_int(check, 0, 2);
        window->param = check_int(check, 0, job.windows.given.reference->param_count - 1);
    }
    job.window[3].bad = BAD_LARGE;
    job.window[7].first = job.window[7].count = 1; /* no target: all gradients are 0 */
    job.windows.option[OPTION_ASKS] = job.windows.option[OPTION_SKIPPED] = 1;
    check_want(check, "moves", WIRE_U64, 1);
    if (job_run(&job, 0)) {
        job_expect_trace(&job);
        job_expect_dloss(&job, job.scaler.scale);
    }
    job_free(&job);
}
