/* Reads device memory on the host, where the simulator is the same machine. */
/* lab: 02_kernels/sumsq.cu  honest: adamw adamw_clean adamw_schedules adamw_traffic
   crossentropy_forward crossentropy_large crossentropy_backward crossentropy_clean
   crossentropy_schedules crossentropy_traffic layernorm_din layernorm_partials layernorm_parameters
   layernorm_clean layernorm_schedules layernorm_traffic */
/* state: crashed | fail | not run */
#include "kernels/sumsq.h"

extern "C" void sumsq_gpu(float *out, TensorList x, const Workspace *workspace) {
    (void)workspace;
    const float *data = (const float *)x.tensor[0].data;
    float sum = 0;
    for (size_t i = 0; i < x.tensor[0].n; i++) {
        sum += data[i] * data[i];
    }
    *out += sum;
}
