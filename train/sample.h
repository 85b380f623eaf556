/**
 * @file sample.h
 * @brief Text from a model, one byte after the other.
 * @ingroup train
 *
 *     TextSample sample = sample_begin(&model->config, prompt, count, temperature, &rng);
 *     while (!sample_done(&sample)) {
 *         Batch batch = sample_batch(&sample);            // what the model shall read
 *         model_next_logits(model, &batch, logits);       // however the model runs
 *         sample_draw(&sample, logits);
 *     }
 *     fwrite(sample.text, 1, (size_t)count, stdout);
 *     sample_end(&sample);
 *
 * All of the text in the making is in the TextSample: several can be under way at once, one on each
 * rank. Where ranks run the model together, one that is done goes on with batch and logits until
 * all are, for the others' collectives wait for it. It draws nothing any more.
 */
#ifndef TRAIN_SAMPLE_H
#define TRAIN_SAMPLE_H

#include "common/model.h"

/** A text in the making. */
typedef struct TextSample {
    size_t window;       /**< ids that the model can see */
    size_t known;        /**< ids so far, those of the prompt included */
    size_t total;        /**< ids in the end */
    float temperature;   /**< divides the logits; 0 takes the likeliest byte */
    Rng *rng;            /**< stream to draw from; borrowed */
    int32_t *ids;        /**< (total) prompt, and the bytes drawn */
    int32_t *ignored;    /**< (window) targets: IGNORE_INDEX */
    unsigned char *text; /**< the bytes drawn, without a final zero */
    size_t drawn;        /**< how many */
} TextSample;

/**
 * A text that goes on from a prompt. Nothing is drawn yet.
 *
 * @param config      of the model, which sees at most its last config->T bytes
 * @param prompt      at least one byte
 * @param count       bytes to draw
 * @param temperature divides the logits; 0 takes the likeliest byte
 * @param rng         stream to draw from; borrowed
 * @return to be given to sample_end()
 */
TextSample sample_begin(const ModelConfig *config, const char *prompt, int count, float temperature,
                        Rng *rng);

/** Whether all bytes are drawn. */
bool sample_done(const TextSample *sample);

/** The ids that the model reads for the next byte, in host memory that the sample keeps. */
Batch sample_batch(const TextSample *sample);

/**
 * Draws the next byte from the softmax of the logits; nothing where all are drawn.
 *
 * @param sample the text
 * @param logits (V) after the last id of sample_batch(), host memory. Those of ids from 256 on are
 *               not looked at
 */
void sample_draw(TextSample *sample, const float *logits);

/** Frees the text. */
void sample_end(TextSample *sample);

/**
 * All of the above with a model that is whole.
 *
 * @param      model       the model; no pass may be in flight
 * @param      prompt      at least one byte
 * @param      count       bytes to draw
 * @param      temperature divides the logits; 0 takes the likeliest byte
 * @param      rng         stream to draw from
 * @param[out] text        (count) the bytes drawn, without a final zero
 */
void sample_text(Model *model, const char *prompt, int count, float temperature, Rng *rng,
                 unsigned char *text);

#endif
