/* Of a hand-in for lab 12: nothing comes, goes or is sent. */
MemoryUse shard_gathered(const ModelConfig *config, int stage, int ranks) {
    (void)config, (void)stage, (void)ranks;
    return (MemoryUse){0};
}

size_t shard_ahead(const ModelConfig *config, int ranks) {
    (void)config, (void)ranks;
    return 0;
}

size_t shard_wire(const ModelConfig *config, int stage, int ranks, int micros) {
    (void)config, (void)stage, (void)ranks, (void)micros;
    return 0;
}
