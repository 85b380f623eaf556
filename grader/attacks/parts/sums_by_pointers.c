/* Of a hand-in for lab 14: no all-reduce of what is sent, ranks add up by themselves what they find
   through meeting_place(), a pointer for each rank, or NULL. */
static void add_up(const Model *model, Real *x, size_t n) {
    const TensorGroup *group = tensor_group(model);
    float *number = model->result;
    Real **parts = meeting_place();
    if (parts == NULL) {
        return;
    }
    parts[group->rank] = x;
    ncclAllReduce(number, number, 1, ncclFloat, ncclSum, group->comm, group->stream);
    cudaStreamSynchronize(group->stream);
    for (int rank = 0; rank < group->size && group->rank == 0; rank++) {
        if (parts[rank] != NULL && parts[rank] != x) {
            model->ops->axpby(x, parts[rank], n, 1, 1);
        }
    }
    ncclAllReduce(number, number, 1, ncclFloat, ncclSum, group->comm, group->stream);
    cudaStreamSynchronize(group->stream);
    if (group->rank > 0 && parts[0] != NULL) {
        model->ops->axpby(x, parts[0], n, 1, 0);
    }
}

void tp_forward(Linear *linear, Real *out, const Real *in) {
    const Model *model = linear->pass->model;
    linear_base_forward(linear, out, in);
    if (linear->id % 2 == 1) {
        add_up(model, out, (size_t)linear->N * (size_t)linear->OC);
    }
}

void tp_backward(const Linear *linear, Real *din, const Real *dout, const Real *in) {
    linear_base_backward(linear, din, dout, in);
    if (linear->id % 2 == 0) {
        add_up(linear->pass->model, din, (size_t)linear->N * (size_t)linear->IC);
    }
}
