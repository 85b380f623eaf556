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

TextSample sample_begin(const ModelConfig *config, const char *prompt, int count, float temperature,
                        Rng *rng) {
    size_t known = strlen(prompt), window = (size_t)config->T;
    TextSample sample = {
        .window = window,
        .known = known,
        .total = known + (size_t)count,
        .temperature = temperature,
        .rng = rng,
    };
    CHECK(known > 0, "the prompt is empty");
    sample.ids = malloc(sample.total * sizeof *sample.ids);
    sample.ignored = malloc(window * sizeof *sample.ignored);
    sample.text = malloc((size_t)count + 1);
    CHECK(sample.ids && sample.ignored && sample.text, "no host memory for %zu ids", sample.total);
    for (size_t i = 0; i < known; i++) {
        sample.ids[i] = (unsigned char)prompt[i];
    }
    for (size_t i = 0; i < window; i++) {
        sample.ignored[i] = IGNORE_INDEX;
    }
    return sample;
}

bool sample_done(const TextSample *sample) {
    return sample->known >= sample->total;
}

Batch sample_batch(const TextSample *sample) {
    size_t T = sample->known < sample->window ? sample->known : sample->window;
    return (Batch){
        .B = 1, .T = (int)T, .tokens = sample->ids + sample->known - T, .targets = sample->ignored};
}

void sample_draw(TextSample *sample, const float *logits) {
    if (!sample_done(sample)) {
        int byte = draw(logits, sample->temperature, sample->rng);
        sample->ids[sample->known++] = byte;
        sample->text[sample->drawn++] = (unsigned char)byte;
    }
}

void sample_end(TextSample *sample) {
    free(sample->ids);
    free(sample->ignored);
    free(sample->text);
}

void sample_text(Model *model, const char *prompt, int count, float temperature, Rng *rng,
                 unsigned char *text) {
    TextSample sample = sample_begin(&model->config, prompt, count, temperature, rng);
    float *logits = malloc((size_t)model->config.V * sizeof *logits);
    CHECK(logits != NULL, "no host memory for %d logits", model->config.V);
    while (!sample_done(&sample)) {
        Batch batch = sample_batch(&sample);
        model_next_logits(model, &batch, logits);
        sample_draw(&sample, logits);
    }
    memcpy(text, sample.text, (size_t)count);
    free(logits);
    sample_end(&sample);
}
