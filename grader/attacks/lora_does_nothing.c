/* Runs the frozen layer alone: with fresh adapters the logits are right, and nothing changes. */
/* lab: 10_lora/lora.c  honest: states targets names content read dropped activations
   activations_again */
/* state: fail */
/* then: no_adapters.c base_forward.c base_backward.c */
#include "labs/10_lora/contract.h"
