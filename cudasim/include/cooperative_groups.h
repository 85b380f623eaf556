/**
 * @file cooperative_groups.h
 * @brief Cooperative groups as cudasim offers them: block, tiles, coalesced lanes, grid.
 * @ingroup cudasim
 *
 * A tile is a mask of lanes: its operations are those of a warp. Sums and copies of a group are in
 * cooperative_groups/. A grid's barrier needs cudaLaunchCooperativeKernel().
 */
#ifndef CUDASIM_COOPERATIVE_GROUPS_H
#define CUDASIM_COOPERATIVE_GROUPS_H

#ifdef CUDASIM_SEALED_H
#error "cudasim: unsupported in a graded file: cooperative groups; use __syncthreads() and shuffles"
#endif

#include "cuda_runtime.h"

/** @cond */
CUDASIM_SIDES_BEGIN
#define CUDASIM_METHOD CUDASIM_UNCHECKED

namespace cooperative_groups {

CUDASIM_DEVICE unsigned cudasim_rank() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

CUDASIM_DEVICE unsigned cudasim_threads() {
    return blockDim.x * blockDim.y * blockDim.z;
}

/* Any value, in pieces that a shuffle can move. */
template <class Type>
CUDASIM_DEVICE Type cudasim_from_lane(unsigned mask, Type value, int lane, const char *file,
                                      int line) {
    enum { Pieces = (sizeof(Type) + 7) / 8 };
    unsigned long long piece[Pieces] = {};
    __builtin_memcpy(piece, (const void *)&value, sizeof value);
    for (int i = 0; i < Pieces; i++) {
        piece[i] = cudasim_shuffle(CUDASIM_SHFL, mask, piece[i], lane, 32, file, line);
    }
    __builtin_memcpy((void *)&value, piece, sizeof value);
    return value;
}

/* ---- lanes of a warp ------------------------------------------------------------------------- */

/* The base of tiles and coalesced groups. Ranks count the lanes of the mask. */
class cudasim_lanes {
  protected:
    unsigned mask;

    CUDASIM_METHOD int lane_of(unsigned rank) const {
        unsigned rest = mask;
        for (unsigned i = 0; i < rank && rest != 0; i++) {
            rest &= rest - 1;
        }
        return rest != 0 ? __builtin_ctz(rest) : cudasim_lane;
    }
    /* A bit for each rank, of a bit for each lane. */
    CUDASIM_METHOD unsigned by_rank(unsigned lanes) const {
        unsigned ranks = 0, rank = 0;
        for (unsigned rest = mask; rest != 0; rest &= rest - 1, rank++) {
            ranks |= (lanes >> __builtin_ctz(rest) & 1) << rank;
        }
        return ranks;
    }

  public:
    CUDASIM_METHOD explicit cudasim_lanes(unsigned lanes = 0) : mask(lanes) {
    }
    CUDASIM_METHOD unsigned cudasim_mask() const {
        return mask;
    }
    CUDASIM_METHOD unsigned thread_rank() const {
        return (unsigned)__builtin_popcount(mask & ((1u << cudasim_lane) - 1));
    }
    CUDASIM_METHOD unsigned num_threads() const {
        return (unsigned)__builtin_popcount(mask);
    }
    CUDASIM_METHOD unsigned size() const {
        return num_threads();
    }
    CUDASIM_METHOD void sync(CUDASIM_CALLER) const {
        __syncwarp(mask, file, line);
    }
    template <class Type>
    CUDASIM_METHOD Type shfl(Type value, unsigned rank, CUDASIM_CALLER) const {
        return cudasim_from_lane(mask, value, lane_of(rank % num_threads()), file, line);
    }
    template <class Type>
    CUDASIM_METHOD Type shfl_down(Type value, unsigned distance, CUDASIM_CALLER) const {
        unsigned rank = thread_rank() + distance;
        return cudasim_from_lane(mask, value, rank < num_threads() ? lane_of(rank) : cudasim_lane,
                                 file, line);
    }
    template <class Type>
    CUDASIM_METHOD Type shfl_up(Type value, unsigned distance, CUDASIM_CALLER) const {
        unsigned rank = thread_rank();
        return cudasim_from_lane(
            mask, value, rank >= distance ? lane_of(rank - distance) : cudasim_lane, file, line);
    }
    template <class Type>
    CUDASIM_METHOD Type shfl_xor(Type value, unsigned bits, CUDASIM_CALLER) const {
        unsigned rank = thread_rank() ^ bits;
        return cudasim_from_lane(mask, value, rank < num_threads() ? lane_of(rank) : cudasim_lane,
                                 file, line);
    }
    CUDASIM_METHOD int any(int predicate, CUDASIM_CALLER) const {
        return __any_sync(mask, predicate, file, line);
    }
    CUDASIM_METHOD int all(int predicate, CUDASIM_CALLER) const {
        return __ballot_sync(mask, !predicate, file, line) == 0;
    }
    CUDASIM_METHOD unsigned ballot(int predicate, CUDASIM_CALLER) const {
        return by_rank(__ballot_sync(mask, predicate, file, line));
    }
    template <class Type> CUDASIM_METHOD unsigned match_any(Type value, CUDASIM_CALLER) const {
        return by_rank(__match_any_sync(mask, value, file, line));
    }
    template <class Type>
    CUDASIM_METHOD unsigned match_all(Type value, int &same, CUDASIM_CALLER) const {
        return by_rank(__match_all_sync(mask, value, &same, file, line));
    }
};

/* ---- the block ------------------------------------------------------------------------------- */

class thread_block {
  public:
    static const unsigned cudasim_unit = 0;
    CUDASIM_METHOD static void sync(CUDASIM_CALLER) {
        cudasim_syncthreads(file, line);
    }
    /* Who has arrived goes on, and the wait is the barrier: so more is in order than on a GPU. */
    struct arrival_token {};
    CUDASIM_METHOD static arrival_token barrier_arrive() {
        return arrival_token();
    }
    CUDASIM_METHOD static void barrier_wait(arrival_token, CUDASIM_CALLER) {
        cudasim_syncthreads(file, line);
    }
    CUDASIM_METHOD static unsigned thread_rank() {
        return cudasim_rank();
    }
    CUDASIM_METHOD static unsigned num_threads() {
        return cudasim_threads();
    }
    CUDASIM_METHOD static unsigned size() {
        return cudasim_threads();
    }
    CUDASIM_METHOD static dim3 group_index() {
        return dim3(blockIdx.x, blockIdx.y, blockIdx.z);
    }
    CUDASIM_METHOD static dim3 thread_index() {
        return dim3(threadIdx.x, threadIdx.y, threadIdx.z);
    }
    CUDASIM_METHOD static dim3 group_dim() {
        return blockDim;
    }
    CUDASIM_METHOD static dim3 dim_threads() {
        return blockDim;
    }
};

CUDASIM_DEVICE thread_block this_thread_block() {
    return thread_block();
}

/* ---- tiles ----------------------------------------------------------------------------------- */

/* The lanes of the tile of `size` lanes that this one is in; a last warp may be short. */
CUDASIM_DEVICE unsigned cudasim_tile_mask(unsigned size, unsigned parent = 0xffffffffu) {
    unsigned first = (unsigned)cudasim_lane / size * size;
    unsigned all = size == 32 ? 0xffffffffu : ((1u << size) - 1) << first;
    unsigned lanes = cudasim_threads() - cudasim_rank() / 32 * 32;
    return all & parent & (lanes < 32 ? (1u << lanes) - 1 : 0xffffffffu);
}

template <unsigned Count, class Parent = void> class thread_block_tile;

/* The lanes of the tile that was cut into tiles; 0: a block was. */
template <class Parent> struct cudasim_cut { static const unsigned lanes = 0; };
template <unsigned Count, class Parent> struct cudasim_cut<thread_block_tile<Count, Parent>> {
    static const unsigned lanes = Count;
};

template <unsigned Count, class Parent> class thread_block_tile : public cudasim_lanes {
    static_assert(Count >= 1 && Count <= 32 && (Count & (Count - 1)) == 0,
                  "cudasim: a tile has 1, 2, 4, 8, 16 or 32 threads");
    unsigned whole;

  public:
    CUDASIM_METHOD thread_block_tile()
        : cudasim_lanes(cudasim_tile_mask(Count)), whole(cudasim_cut<Parent>::lanes) {
    }
    template <class Other>
    CUDASIM_METHOD thread_block_tile(const thread_block_tile<Count, Other> &other)
        : cudasim_lanes(other.cudasim_mask()), whole(other.cudasim_whole()) {
    }
    CUDASIM_METHOD unsigned cudasim_whole() const {
        return whole;
    }
    CUDASIM_METHOD unsigned thread_rank() const {
        return (unsigned)cudasim_lane % Count;
    }
    CUDASIM_METHOD static constexpr unsigned num_threads() {
        return Count;
    }
    CUDASIM_METHOD static constexpr unsigned size() {
        return Count;
    }
    CUDASIM_METHOD unsigned meta_group_rank() const {
        return whole > 0 ? cudasim_rank() % whole / Count : cudasim_rank() / Count;
    }
    CUDASIM_METHOD unsigned meta_group_size() const {
        return whole > 0 ? whole / Count : (cudasim_threads() + Count - 1) / Count;
    }
};

class coalesced_group : public cudasim_lanes {
  public:
    CUDASIM_METHOD explicit coalesced_group(unsigned lanes) : cudasim_lanes(lanes) {
    }
    /* A tile, and a whole warp, takes the rank modulo its size; else no lane has such a rank. */
    template <class Type>
    CUDASIM_METHOD Type shfl(Type value, unsigned rank, CUDASIM_CALLER) const {
        if (rank >= num_threads() && num_threads() < 32) {
            cudasim_undefined_rank(rank, num_threads(), file, line);
        }
        return cudasim_lanes::shfl(value, rank, file, line);
    }
    CUDASIM_METHOD unsigned meta_group_rank() const {
        return 0;
    }
    CUDASIM_METHOD unsigned meta_group_size() const {
        return 1;
    }
};

CUDASIM_DEVICE coalesced_group coalesced_threads(CUDASIM_CALLER) {
    return coalesced_group(cudasim_active_lanes(file, line));
}

/* Any group: a block where the mask is 0. */
class thread_group : public cudasim_lanes {
  public:
    CUDASIM_METHOD explicit thread_group(unsigned lanes = 0) : cudasim_lanes(lanes) {
    }
    CUDASIM_METHOD thread_group(const thread_block &) : cudasim_lanes(0) {
    }
    CUDASIM_METHOD thread_group(const coalesced_group &group)
        : cudasim_lanes(group.cudasim_mask()) {
    }
    template <unsigned Count, class Parent>
    CUDASIM_METHOD thread_group(const thread_block_tile<Count, Parent> &tile)
        : cudasim_lanes(tile.cudasim_mask()) {
    }
    CUDASIM_METHOD unsigned thread_rank() const {
        return mask == 0 ? cudasim_rank() : cudasim_lanes::thread_rank();
    }
    CUDASIM_METHOD unsigned num_threads() const {
        return mask == 0 ? cudasim_threads() : cudasim_lanes::num_threads();
    }
    CUDASIM_METHOD unsigned size() const {
        return num_threads();
    }
    CUDASIM_METHOD void sync(CUDASIM_CALLER) const {
        if (mask == 0) {
            cudasim_syncthreads(file, line);
        } else {
            __syncwarp(mask, file, line);
        }
    }
};

template <unsigned Count>
CUDASIM_DEVICE thread_block_tile<Count, thread_block> tiled_partition(const thread_block &) {
    return thread_block_tile<Count, thread_block>();
}
template <unsigned Count, unsigned Whole, class Parent>
CUDASIM_DEVICE thread_block_tile<Count, thread_block_tile<Whole, Parent>>
tiled_partition(const thread_block_tile<Whole, Parent> &) {
    static_assert(Count <= Whole, "cudasim: a tile must not be larger than its group");
    return thread_block_tile<Count, thread_block_tile<Whole, Parent>>();
}
CUDASIM_DEVICE thread_group tiled_partition(const thread_group &parent, unsigned size) {
    unsigned within = parent.cudasim_mask();
    return thread_group(cudasim_tile_mask(size, within == 0 ? 0xffffffffu : within));
}
CUDASIM_DEVICE coalesced_group tiled_partition(const coalesced_group &parent, unsigned size) {
    unsigned first = parent.thread_rank() / size * size, mask = 0, rank = 0;
    for (unsigned rest = parent.cudasim_mask(); rest != 0; rest &= rest - 1, rank++) {
        mask |= rank >= first && rank < first + size ? rest & -rest : 0;
    }
    return coalesced_group(mask);
}

/* The threads of a group for which the predicate is the same. */
template <class Group>
CUDASIM_DEVICE coalesced_group binary_partition(const Group &group, bool predicate,
                                                CUDASIM_CALLER) {
    unsigned yes = __ballot_sync(group.cudasim_mask(), predicate, file, line);
    return coalesced_group(predicate ? yes : group.cudasim_mask() & ~yes);
}
template <class Group, class Type>
CUDASIM_DEVICE coalesced_group labeled_partition(const Group &group, Type label, CUDASIM_CALLER) {
    return coalesced_group(__match_any_sync(group.cudasim_mask(), label, file, line));
}

/* ---- the grid -------------------------------------------------------------------------------- */

class grid_group {
  public:
    CUDASIM_METHOD static bool is_valid() {
        return cudasim_grid_is_cooperative() != 0;
    }
    CUDASIM_METHOD static void sync(CUDASIM_CALLER) {
        cudasim_sync_grid(file, line);
    }
    CUDASIM_METHOD static unsigned long long block_rank() {
        return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    CUDASIM_METHOD static unsigned long long num_blocks() {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    }
    CUDASIM_METHOD static unsigned long long thread_rank() {
        return block_rank() * cudasim_threads() + cudasim_rank();
    }
    CUDASIM_METHOD static unsigned long long num_threads() {
        return num_blocks() * cudasim_threads();
    }
    CUDASIM_METHOD static unsigned long long size() {
        return num_threads();
    }
    CUDASIM_METHOD static dim3 group_dim() {
        return gridDim;
    }
    CUDASIM_METHOD static dim3 dim_blocks() {
        return gridDim;
    }
    CUDASIM_METHOD static dim3 block_index() {
        return dim3(blockIdx.x, blockIdx.y, blockIdx.z);
    }
};

CUDASIM_DEVICE grid_group this_grid() {
    return grid_group();
}

/* ---- as functions ---------------------------------------------------------------------------- */

template <class Group> CUDASIM_DEVICE void sync(const Group &group, CUDASIM_CALLER) {
    group.sync(file, line);
}
template <class Group> CUDASIM_DEVICE unsigned thread_rank(const Group &group) {
    return (unsigned)group.thread_rank();
}
template <class Group> CUDASIM_DEVICE unsigned group_size(const Group &group) {
    return (unsigned)group.size();
}

/* ---- one for all ----------------------------------------------------------------------------- */

/* Any one of the group; not the first, on which a program might count. */
CUDASIM_DEVICE bool cudasim_is_chosen(const cudasim_lanes &group) {
    unsigned mask = group.cudasim_mask();
    return mask == 0 ? cudasim_rank() == cudasim_threads() - 1
                     : cudasim_lane == 31 - __builtin_clz(mask);
}
CUDASIM_DEVICE bool cudasim_is_chosen(const thread_block &) {
    return cudasim_rank() == cudasim_threads() - 1;
}
CUDASIM_DEVICE bool cudasim_is_chosen(const grid_group &group) {
    return group.thread_rank() == group.num_threads() - 1;
}

/* One thread of the group calls; the others do not wait for it. Both functions become part of their
   caller, since check mode looks at what the program calls. */
template <class Group, class Function, class... Values>
CUDASIM_HINTED void invoke_one(const Group &group, Function &&function, Values &&...values) {
    if (cudasim_is_chosen(group)) {
        std::forward<Function>(function)(std::forward<Values>(values)...);
    }
}

/* And all get the result. */
template <class Group, class Function, class... Values>
CUDASIM_HINTED auto invoke_one_broadcast(const Group &group, Function &&function,
                                         Values &&...values)
    -> decltype(function(std::forward<Values>(values)...)) {
    using Result = decltype(function(std::forward<Values>(values)...));
    static_assert(std::is_trivially_copyable<Result>::value,
                  "cudasim: the result of invoke_one_broadcast() is copied as bytes");
    cudasim_bytes<Result> result = {};
    if (cudasim_is_chosen(group)) {
        Result value = std::forward<Function>(function)(std::forward<Values>(values)...);
        __builtin_memcpy(result.bytes, (const void *)&value, sizeof value);
    }
    const unsigned mask = group.cudasim_mask();
    result = cudasim_from_lane(mask, result, 31 - __builtin_clz(mask), __builtin_FILE(),
                               __builtin_LINE());
    return *(const Result *)result.bytes;
}

/* ---- not here -------------------------------------------------------------------------------- */

/* With members, whose use is then not a second error. */
struct cudasim_cluster : public grid_group {
    template <class Type> Type *map_shared_rank(Type *p, int) {
        return p;
    }
    void barrier_arrive() {
    }
    void barrier_wait() {
    }
};
typedef cudasim_cluster cluster_group CUDASIM_NO(CUDASIM_CLUSTERS);
template <class Nothing = void> CUDASIM_NO(CUDASIM_CLUSTERS) cudasim_cluster this_cluster();

} // namespace cooperative_groups
CUDASIM_SIDES_END
/** @endcond */

#endif
