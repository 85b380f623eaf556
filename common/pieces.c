/* A model of pieces: the outline of the whole with shorter parameters. The contract is in
   pieces.h. */
#include "common/pieces.h"

#include <stdlib.h>

static Param piece_of(const Param *tensor, const Piece *piece, Real *weight, float *grad) {
    CHECK(piece->first + piece->count <= tensor->count && piece->at % TENSOR_BLOCK == 0,
          "%zu numbers from %zu on at %zu, \"%s\" has %zu", piece->count, piece->first, piece->at,
          tensor->name, tensor->count);
    CHECK(weight != NULL && grad != NULL, "a piece of \"%s\" has no memory", tensor->name);
    Param param = *tensor;
    param.rows = 1;
    param.cols = (int)piece->count;
    param.count = piece->count;
    param.first = piece->first;
    param.weight = weight;
    param.grad = grad;
    return param;
}

Model *pieces_new(Model *whole, const Piece *pieces, size_t length, Real *const *weights,
                  float *const *grads) {
    size_t count = (size_t)whole->param_count;
    CHECK(whole->params == whole->base && !whole->part.grads && whole->pieces == NULL,
          "pieces are those of a model without adapters and without gradients of its own");
    Model *model = malloc(sizeof *model);
    Param *params = calloc(count, sizeof *params);
    size_t *places = calloc(count, sizeof *places);
    CHECK(model && params && places, "no memory for %zu pieces", count);
    *model = *whole;
    model->params = model->base = params;
    model->pass = (Pass){0};
    model->enter = model->leave = NULL;
    model->offloaded = model->mirrors = NULL;
    model->places = places;
    model->length = length;
    for (size_t i = 0; i < count; i++) {
        params[i] = piece_of(&whole->params[i], &pieces[i], weights[i], grads[i]);
        places[i] = pieces[i].at;
        CHECK(i == 0 || places[i - 1] <= places[i], "piece %zu lies before the one before it", i);
    }
    model->grads = model_list(model, grads, (void *)(uintptr_t)whole->grads.tensor);
    whole->pieces = model;
    return model;
}

void pieces_free(Model *pieces) {
    if (pieces != NULL) {
        free(pieces->params);
        free((void *)(uintptr_t)pieces->places);
        free(pieces);
    }
}
