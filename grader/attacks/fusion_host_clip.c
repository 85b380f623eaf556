/* Fetches the sum, and decides on the host. */
/* lab: 09_fusion/control.cu  honest: none */
/* state: build error */
#include "labs/09_fusion/contract.h"

#include <math.h>

#include "kernels/real.cuh"

extern "C" void control_clip(StepResult *result, float max_norm) {
    StepResult here;
    cudaMemcpy(&here, result, sizeof here, cudaMemcpyDeviceToHost);
    here.norm = sqrtf(here.sum);
    here.factor = max_norm > 0 && !(here.norm <= max_norm) ? max_norm / (here.norm + 1e-6f) : 1;
    cudaMemcpy(result, &here, sizeof here, cudaMemcpyHostToDevice);
}

extern "C" void control_adamw(TensorList weight, TensorList m, TensorList v, TensorList grad,
                              AdamW adamw, const StepControl *control, const StepResult *result) {
    (void)weight, (void)m, (void)v, (void)grad, (void)adamw, (void)control, (void)result;
}
