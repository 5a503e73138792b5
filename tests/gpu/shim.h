// CUDA's words on a CPU. What runs the blocks and threads is in `shim.cpp`.
#include <cmath>
#include <cstddef>

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

struct dim3 { unsigned x, y, z; };
extern dim3 gridDim, blockDim, blockIdx, threadIdx;

static inline int min(int a, int b) { return a < b ? a : b; }
static inline double __longlong_as_double(long long bits) {
    double x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

namespace shim {

// Runs `body(given)` for every thread of the grid.
void launch(void (*body)(void**), const unsigned* sizes, void** given);
// Waits for all threads of a block, or for those of a mask.
void block_wait();
void warp_wait(unsigned mask);
// The value of `size` bytes that another thread of the warp has.
void exchange(unsigned mask, void* value, size_t size, unsigned from);
unsigned linear();

} // namespace shim

static inline void __syncthreads() { shim::block_wait(); }
static inline void __syncwarp(unsigned mask = 0xffffffffu) { shim::warp_wait(mask); }
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int other) {
    shim::exchange(mask, &value, sizeof value, shim::linear() ^ other);
    return value;
}
static inline int atomicOr(int* place, int value) {
    int old = *place;
    *place |= value;
    return old;
}
