// CUDA's words on a CPU: the blocks of a grid run one after the other, the threads of a
// block as fibers that take turns at barriers.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <tuple>
#include <ucontext.h>
#include <utility>
#include <vector>

using std::abs; using std::acos; using std::acosh; using std::asin; using std::asinh;
using std::atan; using std::atan2; using std::atanh; using std::cbrt; using std::ceil;
using std::copysign; using std::cos; using std::cosh; using std::erf; using std::erfc;
using std::exp; using std::exp2; using std::expm1; using std::fabs; using std::floor;
using std::fmod; using std::hypot; using std::isfinite; using std::isinf;
using std::log; using std::log10; using std::log1p; using std::log2; using std::pow;
using std::rint; using std::sin; using std::sinh; using std::sqrt; using std::tan;
using std::tanh; using std::trunc;

#define __global__
#define __device__
#define __restrict__
#define __shared__ static
#define index index_type // <strings.h> has a function of this name
#define thread thread_number

struct dim3 { unsigned x, y, z; };
static dim3 gridDim, blockDim, blockIdx, threadIdx;

static inline int min(int a, int b) { return a < b ? a : b; }
static inline int max(int a, int b) { return a > b ? a : b; }
static inline double __longlong_as_double(long long bits) {
    double x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

namespace shim {

struct Fiber {
    ucontext_t context;
    std::vector<char> stack;
    dim3 place;
    bool done;
};

static ucontext_t scheduler;
static std::vector<Fiber> fibers;
static size_t current;
static unsigned long progress;
static void (*body)(void*);
static void* given;

struct Barrier { unsigned arrived = 0; unsigned long generation = 0; };
static std::map<std::pair<int, unsigned>, Barrier> barriers;
static std::vector<char> slots;

static void yield() { swapcontext(&fibers[current].context, &scheduler); }

static void wait(int group, unsigned mask, unsigned count) {
    Barrier& barrier = barriers[{group, mask}];
    const unsigned long mine = barrier.generation;
    ++progress;
    if (++barrier.arrived == count) {
        barrier.arrived = 0;
        ++barrier.generation;
        return;
    }
    while (barrier.generation == mine) yield();
    ++progress;
}

static unsigned linear() { return threadIdx.y * blockDim.x + threadIdx.x; }
static unsigned size() { return blockDim.x * blockDim.y; }
static void warp_wait(unsigned mask) {
    if (!(mask >> linear() % 32 & 1)) {
        std::fprintf(stderr, "a thread that is not in its own mask\n");
        std::abort();
    }
    wait(1 + linear() / 32, mask, __builtin_popcount(mask));
}

template <class T>
T exchange(unsigned mask, T value, unsigned from) {
    slots.resize(size() * 16);
    std::memcpy(&slots[linear() * 16], &value, sizeof(T));
    warp_wait(mask);
    if (!(mask >> from % 32 & 1)) {
        std::fprintf(stderr, "a shuffle from a thread that takes no part\n");
        std::abort();
    }
    std::memcpy(&value, &slots[from * 16], sizeof(T));
    warp_wait(mask);
    return value;
}

static void start() {
    body(given);
    fibers[current].done = true;
    ++progress;
    swapcontext(&fibers[current].context, &scheduler);
}

static void run_block() {
    const size_t count = size();
    fibers.resize(count);
    barriers.clear();
    for (size_t k = 0; k < count; ++k) {
        Fiber& fiber = fibers[k];
        fiber.stack.resize(1 << 16);
        fiber.done = false;
        fiber.place = {unsigned(k % blockDim.x), unsigned(k / blockDim.x), 0};
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = fiber.stack.data();
        fiber.context.uc_stack.ss_size = fiber.stack.size();
        fiber.context.uc_link = &scheduler;
        makecontext(&fiber.context, start, 0);
    }
    for (bool alive = true; alive;) {
        const unsigned long before = progress;
        alive = false;
        for (current = 0; current < count; ++current) {
            if (fibers[current].done) continue;
            threadIdx = fibers[current].place;
            swapcontext(&scheduler, &fibers[current].context);
            alive |= !fibers[current].done;
        }
        if (alive && progress == before) {
            std::fprintf(stderr, "all threads wait at barriers\n");
            std::abort();
        }
    }
}

template <class... A, size_t... K>
void call(void (*kernel)(A...), void** args, std::index_sequence<K...>) {
    kernel(*(std::remove_const_t<A>*)args[K]...);
}

template <class... A>
void launch(void (*kernel)(A...), const unsigned* sizes, void** args) {
    static void (*which)(A...);
    which = kernel;
    given = args;
    body = [](void* p) { call(which, (void**)p, std::index_sequence_for<A...>()); };
    gridDim = {sizes[0], 1, 1};
    blockDim = {sizes[1], sizes[2], 1};
    if (size() > 1024 || (sizes[0] && size() % 32 && size() != 1)) std::abort();
    for (unsigned b = 0; b < gridDim.x; ++b) {
        blockIdx = {b, 0, 0};
        run_block();
    }
}

} // namespace shim

static inline void __syncthreads() { shim::wait(0, 0, shim::size()); }
static inline void __syncwarp(unsigned mask = 0xffffffffu) { shim::warp_wait(mask); }
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int other) {
    return shim::exchange(mask, value, shim::linear() ^ other);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned by) {
    return shim::exchange(mask, value, shim::linear() + by);
}
template <class T>
T atomicAdd(T* place, T value) {
    T old = *place;
    *place += value;
    return old;
}
static inline int atomicOr(int* place, int value) {
    int old = *place;
    *place |= value;
    return old;
}
