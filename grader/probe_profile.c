/* Hands the simulator's counts to the judge. The contract is in probe_profile.h. */
#include "grader/probe_profile.h"

#include <stdio.h>
#include <string.h>
#ifndef BACKEND_CUDA
#include <cudasim.h>
#endif

void hand_back_profile(Wire *out) {
    size_t bytes;
    int32_t *problems = wire_get(out, "problems", WIRE_I32, NULL);
    ProfileLine *line = wire_get(out, "profile", WIRE_BYTES, &bytes);
    memset(line, 0, bytes);
    *problems = 0;
#ifndef BACKEND_CUDA /* a real GPU reports nothing */
    cudasim_traffic traffic;
    for (int i = 0, n = 0; n < PROFILE_LINES && cudasim_profile(i, &traffic); i++) {
        if (!traffic.shared) {
            line[n] = (ProfileLine){
                .write = traffic.write, .used = 1, .sectors = traffic.cost, .ideal = traffic.ideal};
            snprintf(line[n++].kernel, PROFILE_NAME, "%s", traffic.kernel);
        }
    }
    *problems = cudasim_problems();
#endif
}
