#include "grader/labs/14_tensor/part_names.h"

#include <string.h>

#include "grader/labs/14_tensor/part_slice.h"

/* Tensors that are alive now. */
static size_t tensors_alive(const RankRun *run) {
    size_t count;
    memory_peak_reset(run->memory);
    memory_peak_tensors(run->memory, &count);
    return count;
}

/* Of the tensors at the peak those that came after the first `before` have names of a list, which
   ends with NULL. */
static void expect_names(const RankRun *run, size_t before, const char *where,
                         const char *const *names) {
    size_t count;
    const Tensor *tensor = memory_peak_tensors(run->memory, &count);
    for (size_t i = before; i < count; i++) {
        const char *const *name = names;
        while (*name != NULL && strcmp(*name, tensor[i].name) != 0) {
            name++;
        }
        if (*name == NULL || tensor[i].kind != MEMORY_ACTIVATIONS) {
            probe_lost(
                "rank %d: %s has %zu bytes of %s with the name \"%s\": the contract names its "
                "tensors, which are activations, and it needs no others",
                run->rank, where, tensor[i].bytes, memory_kind_name(tensor[i].kind),
                tensor[i].name);
        }
    }
}

static void expect_kept(const RankRun *run, const char *field, const void *data, const char *name) {
    size_t count;
    const Tensor *tensor = memory_peak_tensors(run->memory, &count);
    for (size_t i = 0; i < count; i++) {
        if (tensor[i].data == data && strcmp(tensor[i].name, name) == 0) {
            return;
        }
    }
    probe_lost(
        "rank %d: after forward head.%s is not a tensor with the name \"%s\", which the kit's "
        "own head gives it (common/pass.c)",
        run->rank, field, name);
}

static const char *const names_forward[] = {
    "lnf.out",    "lnf.mean",      "lnf.rstd",  "logits",     "losses",
    "losses.lse", "vocab.targets", "vocab.max", "vocab.sums", NULL};
static const char *const names_backward[] = {"vocab.targets", "lnf.dout", NULL};
static const char *const names_embed[] = {"vocab.tokens", NULL};

static const RankRun *run_of(const Pass *pass) {
    return ((const SliceRun *)pass->model->split)->run;
}

static void embed_forward_named(Pass *pass, Real *x) {
    size_t before = tensors_alive(run_of(pass));
    tp_embed_forward(pass, x);
    expect_names(run_of(pass), before, "the embedding", names_embed);
}

static void embed_backward_named(Pass *pass) {
    size_t before = tensors_alive(run_of(pass));
    tp_embed_backward(pass);
    expect_names(run_of(pass), before, "the embedding's backward", names_embed);
}

static double head_forward_named(Pass *pass, const Real *x) {
    const RankRun *run = run_of(pass);
    const Head *head = &pass->head;
    size_t before = tensors_alive(run);
    double loss = tp_head_forward(pass, x);
    expect_names(run, before, "the head's forward", names_forward);
    tensors_alive(run);
    expect_kept(run, "lnf", head->lnf, "lnf.out");
    expect_kept(run, "mean", head->mean, "lnf.mean");
    expect_kept(run, "rstd", head->rstd, "lnf.rstd");
    expect_kept(run, "logits", head->logits, "logits");
    expect_kept(run, "losses", head->losses, "losses");
    expect_kept(run, "lse", head->lse, "losses.lse");
    return loss;
}

static void head_backward_named(Pass *pass, const Real *x, float dloss) {
    size_t before = tensors_alive(run_of(pass));
    tp_head_backward(pass, x, dloss);
    expect_names(run_of(pass), before, "the head's backward", names_backward);
}

void look_at_names(Model *model) {
    model->embed_forward = embed_forward_named;
    model->embed_backward = embed_backward_named;
    model->head_forward = head_forward_named;
    model->head_backward = head_backward_named;
}
