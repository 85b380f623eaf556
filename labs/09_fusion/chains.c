/* Lab 09: bytes that chains of ops move. The contract is in labs/09_fusion/contract.h. */
#include "common/lab.h"
#include "labs/09_fusion/contract.h"

size_t chain_bytes(OpChain chain, bool fused, size_t N, size_t C, size_t r) {
    (void)chain, (void)fused, (void)N, (void)C, (void)r;
    TODO("task 7: bytes of each chain, apart and fused (about 15 lines)");
}
