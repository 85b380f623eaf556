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

void ddp_close(Ddp *ddp) {
    free(ddp);
}

void ddp_broadcast(Ddp *ddp) {
    (void)ddp;
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

int ddp_buckets(const ModelConfig *config, size_t bucket_bytes) {
    (void)bucket_bytes;
    return config->L + 2;
}

double ddp_sent(const ModelConfig *config, int ranks) {
    (void)config;
    return ranks;
}

double ddp_time(int buckets, const double *complete, const double *reduce) {
    return complete[buckets - 1] + reduce[buckets - 1];
}
