/* Of a hand-in for lab 11: a ddp.c that sends nothing; ddp_leave() begins attack(). */
struct Ddp {
    Model *model;
};

Ddp *ddp_open(Model *model, ncclComm_t comm, size_t bucket_bytes) {
    (void)comm, (void)bucket_bytes;
    Ddp *ddp = calloc(1, sizeof *ddp);
    if (ddp != NULL) {
        ddp->model = model;
    }
    return ddp;
}

void ddp_begin(Ddp *ddp, bool last) {
    (void)ddp, (void)last;
}

void ddp_leave(void *context, int layer, bool backward) {
    const Ddp *ddp = context;
    (void)layer, (void)backward;
    attack(ddp->model);
}

void ddp_end(Ddp *ddp) {
    (void)ddp;
}
