/**
 * @file sample.h
 * @brief Text from a model, one byte after the other.
 * @ingroup train
 */
#ifndef TRAIN_SAMPLE_H
#define TRAIN_SAMPLE_H

#include "common/model.h"

/**
 * Goes on from a prompt. Each byte is drawn from the softmax of the last logits; the model sees at
 * most its last config.T bytes. Ids of 256 and above are never drawn.
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
