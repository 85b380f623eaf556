#include "grader/probes/profile.h"

#include <stdio.h>
#include <string.h>

#ifdef BACKEND_CUDA

/* A real GPU reports nothing. */
void hand_back_profile(Wire *out) {
    size_t bytes;
    void *profile = wire_get(out, "profile", WIRE_BYTES, &bytes);
    memset(profile, 0, bytes);
    *(int32_t *)wire_get(out, "problems", WIRE_I32, NULL) = 0;
}

#else
#include <cudasim_core.h>

void hand_back_profile(Wire *out) {
    size_t bytes;
    ProfileLine *line = wire_get(out, "profile", WIRE_BYTES, &bytes);
    memset(line, 0, bytes);
    cudasim_traffic traffic;
    for (int i = 0, n = 0; n < PROFILE_LINES && cudasim_profile(i, &traffic); i++) {
        if (!traffic.shared) {
            line[n] = (ProfileLine){
                .write = traffic.write, .used = 1, .sectors = traffic.cost, .ideal = traffic.ideal};
            snprintf(line[n++].kernel, PROFILE_NAME, "%s", traffic.kernel);
        }
    }
    *(int32_t *)wire_get(out, "problems", WIRE_I32, NULL) = cudasim_problems();
}

#endif
