/* Stands in for a lab file that is not there, so that everything links: compiled once for each such
   file, with ABSENT_<file> defined. What the runtime calls of it ends the program and names the
   lab. */
#include "common/lab.h"

#if defined ABSENT_bytes
#include "common/lab00.h"

MemoryUse bytes_predict(const ModelConfig *config, int B, int T, const Device *device) {
    (void)config, (void)B, (void)T, (void)device;
    lab_missing("00", "00_bytes/bytes.c");
}

#elif defined ABSENT_loop
#include "common/lab01.h"

StepReport loop_step(Trainer *trainer, const Batch *batch) {
    (void)trainer, (void)batch;
    lab_missing("01", "01_loop/loop.c");
}

#elif defined ABSENT_accumulate
#include "common/lab03.h"

void accumulator_init(Accumulator *accumulator, Trainer *trainer, int steps) {
    (void)accumulator, (void)trainer, (void)steps;
    lab_missing("03", "03_accumulate/accumulate.c");
}

#elif defined ABSENT_checkpoint
#include "common/lab04.h"

int checkpoint_segment(const ModelConfig *config, int B, int T, size_t budget) {
    (void)config, (void)B, (void)T, (void)budget;
    lab_missing("04", "04_checkpoint/checkpoint.c");
}

#elif defined ABSENT_scaler
#include "common/lab05.h"

void scaler_init(Scaler *scaler) {
    (void)scaler;
    lab_missing("05", "05_fp16/scaler.c");
}

#else
#error "compile with ABSENT_<file> defined"
#endif
