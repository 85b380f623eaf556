#include "grader/labs/06_fit/mistakes.h"

static MemoryUse space_use_but(MemoryUse use, MemoryKind kind, size_t bytes) {
    use.bytes[kind] = bytes;
    return use;
}

static MemoryUse space_use_activations(const Space *space, MemoryUse use, Plan plan) {
    MemoryUse other = space_counted(space, &plan);
    return space_use_but(use, MEMORY_ACTIVATIONS, other.bytes[MEMORY_ACTIVATIONS]);
}

int space_bytes_mistakes(const Space *space, const Plan *plan, MemoryUse right,
                         const char *sentences[], MemoryUse uses[]) {
    int n = 0;
    size_t data = right.bytes[MEMORY_DATA];
    Plan batch = *plan, plain = *plan, own = *plan, attention = *plan, probs = *plan, bf16 = *plan,
         precision = *plan;
    batch.micro_batch = space->batch;
    plain.checkpoint = (Checkpoint){0};
    own.precision = space->config.precision;
    own.attention = space->config.attention;
    attention.attention = space->config.attention;
    probs.checkpoint.attention_only = false;
    precision.precision = space->config.precision;
    bf16.precision = plan->precision == BF16 ? F32 : plan->precision;
    sentences[n] = "the float masters of weights in half are missing: 4 bytes for each parameter";
    uses[n++] = space_use_but(right, MEMORY_OPTIMIZER, 2 * right.bytes[MEMORY_GRADIENTS]);
    sentences[n] = "the workspace is missing: workspace_bytes()";
    uses[n++] = space_use_but(right, MEMORY_WORKSPACE, 0);
    sentences[n] = "the data are missing: a token and a target of 4 bytes each";
    uses[n++] = space_use_but(right, MEMORY_DATA, 0);
    sentences[n] = "each token has a target, which takes 4 bytes as well";
    uses[n++] = space_use_but(right, MEMORY_DATA, data / 2);
    sentences[n] =
        "the data are those of the whole window; a micro-batch is on the device at a time";
    uses[n++] = space_use_but(right, MEMORY_DATA, data * (size_t)plan->window);
    sentences[n] = "these are the activations of the whole batch; those of a micro-batch are freed "
                   "before the next one begins";
    uses[n++] = space_use_activations(space, right, batch);
    sentences[n] =
        "activations and data are those of the whole batch; a micro-batch is there at a time";
    uses[n++] = space_counted(space, &batch);
    sentences[n] =
        "the activations are those of a plain step: checkpoint_bytes() knows what is run "
        "again";
    uses[n++] = space_use_activations(space, right, plain);
    sentences[n] =
        "the activations are those of the config's kind of attention: take plan->attention";
    uses[n++] = space_counted(space, &attention);
    sentences[n] = "attention_only keeps no probabilities: checkpoint_bytes() knows it";
    uses[n++] = space_use_activations(space, right, probs);
    sentences[n] = "the precision is the plan's, not the config's: see plan_config()";
    uses[n++] = space_counted(space, &precision);
    sentences[n] = "a number in bf16 has 2 bytes, as in f16";
    uses[n++] = space_counted(space, &bf16);
    sentences[n] = "the workspace is that of the config's precision: ask about the planned model";
    MemoryUse as_it_is = space_counted(space, &own);
    uses[n++] = space_use_but(right, MEMORY_WORKSPACE, as_it_is.bytes[MEMORY_WORKSPACE]);
    sentences[n] =
        "the activations are those of the longest sequence: there are T tokens, not config->T";
    Space longest = *space;
    longest.T = space->config.T;
    uses[n++] = space_use_activations(&longest, right, *plan);
    size_t long_data = data / (size_t)space->T * (size_t)space->config.T;
    sentences[n] = "the data are those of the longest sequence: there are T tokens, not config->T";
    uses[n++] = space_use_but(right, MEMORY_DATA, long_data);
    sentences[n] = "precision and attention are the plan's, not the config's: see plan_config()";
    uses[n++] = space_counted(space, &own);
    return n;
}
