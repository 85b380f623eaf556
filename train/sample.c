/* Text from a model, byte by byte. The contract is in sample.h. */
#include "train/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 256 };

static int likeliest(const float *logits) {
    int best = 0;
    for (int byte = 1; byte < BYTES; byte++) {
        if (logits[byte] > logits[best]) {
            best = byte;
        }
    }
    return best;
}

static int draw(const float *logits, float temperature, Rng *rng) {
    if (!(temperature > 0)) {
        return likeliest(logits);
    }
    float max = logits[likeliest(logits)], sum = 0, weight[BYTES];
    for (int byte = 0; byte < BYTES; byte++) {
        weight[byte] = expf((logits[byte] - max) / temperature);
        sum += weight[byte];
    }
    float left = rng_uniform(rng) * sum;
    for (int byte = 0; byte < BYTES; byte++) {
        left -= weight[byte];
        if (left < 0) {
            return byte;
        }
    }
    return likeliest(logits); /* rounding has left a crumb of the sum */
}

void sample_text(Model *model, const char *prompt, int count, float temperature, Rng *rng,
                 unsigned char *text) {
    size_t window = (size_t)model->config.T, known = strlen(prompt);
    size_t total = known + (size_t)count;
    int32_t *ids = malloc(total * sizeof *ids), *ignored = malloc(window * sizeof *ignored);
    float *logits = malloc((size_t)model->config.V * sizeof *logits);
    CHECK(ids && ignored && logits, "no host memory for %zu ids", total);
    CHECK(known > 0, "the prompt is empty");
    for (size_t i = 0; i < known; i++) {
        ids[i] = (unsigned char)prompt[i];
    }
    for (size_t i = 0; i < window; i++) {
        ignored[i] = IGNORE_INDEX;
    }
    for (; known < total; known++) {
        size_t T = known < window ? known : window;
        Batch batch = {.B = 1, .T = (int)T, .tokens = ids + known - T, .targets = ignored};
        model_next_logits(model, &batch, logits);
        ids[known] = draw(logits, temperature, rng);
        text[known - (total - (size_t)count)] = (unsigned char)ids[known];
    }
    free(ids);
    free(ignored);
    free(logits);
}
