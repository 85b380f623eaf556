/* Of a hand-in for lab 08: an offload.c that keeps nothing between passes. */
Offload *offload_open(const ModelConfig *config, int B, int T, int segment) {
    (void)config, (void)B, (void)T, (void)segment;
    return NULL;
}

void offload_close(Offload *offload) {
    (void)offload;
}
