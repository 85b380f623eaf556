/* Lab 08: bytes, seconds, and when a bus is hidden. The contracts are in
   labs/08_prefetch/contract.h. */
#include "common/lab.h"
#include "labs/00_bytes/contract.h"
#include "labs/08_prefetch/contract.h"

/* ---- prefetch -------------------------------------------------------------------------------- */

size_t prefetch_bytes(int slots, int B, int T) {
    (void)slots, (void)B, (void)T;
    TODO("task 5: tokens and targets of all slots (1 line)");
}

double prefetch_time(int batches, int slots, double copy, double work) {
    (void)batches, (void)slots, (void)copy, (void)work;
    TODO("task 5: with one slot, and with more (about 2 lines)");
}

/* ---- offload --------------------------------------------------------------------------------- */

size_t offload_bytes(const ModelConfig *config, int B, int T, int segment) {
    (void)config, (void)B, (void)T, (void)segment;
    TODO("task 5: dx, two places, and the head or a segment (about 6 lines)");
}

size_t offload_moved(const ModelConfig *config, int B, int T, int segment) {
    (void)config, (void)B, (void)T, (void)segment;
    TODO("task 5: the input of every segment, out and back (1 line)");
}

bool offload_hides(const ModelConfig *config, int T, int segment, double bus, double rate) {
    (void)config, (void)T, (void)segment, (void)bus, (void)rate;
    TODO("task 5: of a token, the seconds on the bus and in the products (about 2 lines)");
}
