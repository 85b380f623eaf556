/* A checkpoint that the release before this one has saved goes on as it did there. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "common/testkit/compare.h"
#include "common/testkit/program.h"
#include "common/testkit/scratch.h"

enum { FIRST = 4, LAST = 6 };

/* The losses of steps 4 to 6, as the former release went on. */
static const double then[] = {5.51923164, 5.42550593, 5.50093067};

static double loss_of(json_t *line, int step) {
    return json_integer_value(json_object_get(line, "step")) == step
               ? json_number_value(json_object_get(line, "loss"))
               : (double)NAN;
}

/* fp16 with its loss scaler, dropout, documents, windows of two micro-batches, checkpointing: all
   that a save has the state of. */
Test(former, a_save_of_the_former_release_resumes, .timeout = 60) {
    cr_assert_eq(train("--data common/data/kit.txt --n_layer 1 --n_head 2 --n_embd 16 "
                       "--n_positions 16 --per_device_train_batch_size 2 "
                       "--gradient_accumulation_steps 2 --gradient_checkpointing --dropout 0.1 "
                       "--documents --fp16 --max_steps 6 --logging_steps 1 --eval_fraction 0 "
                       "--generate 0 --seed 3 --output_dir $S/run "
                       "--resume_from_checkpoint train/former/checkpoint-3"),
                 0, "%s", output);
    FILE *metrics = fopen(scratch_path("run/metrics.jsonl"), "r");
    cr_assert_not_null(metrics);
    for (int step = FIRST; step <= LAST; step++) {
        json_t *line = json_loadf(metrics, JSON_DISABLE_EOF_CHECK, NULL);
        double loss = loss_of(line, step), want = then[step - FIRST];
        double limit = tolerance_of_loss(F16) * want;
        cr_assert(fabs(loss - want) <= limit, "step %d: loss %.9g, and %.9g then", step, loss,
                  want);
        json_decref(line);
    }
    fclose(metrics);
    scratch_remove();
}
