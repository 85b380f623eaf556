/**
 * @file fused.h
 * @brief What lab 09 changes of a run: the fused norm, the chunked head, the captured step.
 * @ingroup train
 */
#ifndef TRAIN_FUSED_H
#define TRAIN_FUSED_H

#include "common/graphed.h"
#include "labs/09_fusion/contract.h"

/** Sets a model's fused norm, and the head of lab 09 or the kit's own. */
void fused_set(Model *model, bool norm, bool head);

/**
 * Activations at the peak, by the formulas of labs 00 and 04, with the head of lab 09.
 *
 * Of the logits a chunk takes the place, head_chunk_rows() rows; all else of the formula stays. How
 * large that is, two values of the formula say: one with a vocabulary so large that the head is the
 * peak, one with none.
 */
size_t fused_activations(const ModelConfig *config, int B, int T, Checkpoint checkpoint);

/** train_epoch() of lab 03, each of its windows by step_graph_run(). */
void graph_epoch(Graphed *graph, Data *data, int micros,
                 bool (*report)(void *context, const StepReport *step), void *context);

#endif
