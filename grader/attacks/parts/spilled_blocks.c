/* Copies what blocks keep into room(), and back for backward: nothing runs again. */

/* All that a block keeps lies in one piece. */
static size_t block_bytes(const Model *model, const Block *block) {
    size_t N = (size_t)model->pass.B * (size_t)model->pass.T;
    return (size_t)((char *)block->gelu - (char *)block->ln1) +
           N * 4 * (size_t)model->config.C * sizeof(float);
}

static bool can_copy(const Model *model) {
    return model->device->host_memory && model->config.L <= MOST_LAYERS;
}

double checkpoint_forward(Model *model, const Batch *batch) {
    Pass *pass = &model->pass;
    if (!can_copy(model)) {
        return model_forward(model, batch);
    }
    model_begin(model, batch, true);
    pass->x[0] = model_embed(model);
    for (int l = 0; l < model->config.L; l++) {
        pass->x[l + 1] = model_boundary(model, l);
        pass->marks[l] = memory_mark(model->memory);
        kept[l] = block_alloc(model, l);
        block_forward(model, l, pass->x[l + 1], pass->x[l], &kept[l]);
        size_t bytes = block_bytes(model, &kept[l]);
        spilled[l] = spilled[l] != NULL ? spilled[l] : room(model, l, bytes);
        if (spilled[l] != NULL) {
            memcpy(spilled[l], kept[l].ln1, bytes);
            memory_release(model->memory, pass->marks[l]);
        }
    }
    return model_head_forward(model, pass->x[model->config.L]);
}

void checkpoint_backward(Model *model, float dloss) {
    Pass *pass = &model->pass;
    if (!can_copy(model)) {
        model_backward(model, dloss);
        return;
    }
    model_head_backward(model, pass->x[model->config.L], dloss);
    for (int l = model->config.L - 1; l >= 0; l--) {
        if (spilled[l] != NULL) {
            Dropout first = kept[l].attention_dropout, second = kept[l].mlp_dropout;
            kept[l] = block_alloc(model, l);
            kept[l].attention_dropout = first;
            kept[l].mlp_dropout = second;
            memcpy(kept[l].ln1, spilled[l], block_bytes(model, &kept[l]));
        }
        block_backward(model, l, pass->dx, pass->x[l], &kept[l]);
        memory_release(model->memory, pass->marks[l]);
    }
    model_embed_backward(model);
    model_end(model);
}

size_t checkpoint_bytes(const ModelConfig *config, int B, int T, Checkpoint checkpoint) {
    (void)config, (void)B, (void)T, (void)checkpoint;
    return 0;
}

int checkpoint_segment(const ModelConfig *config, int B, int T, size_t budget) {
    (void)config, (void)B, (void)T, (void)budget;
    return 1;
}
