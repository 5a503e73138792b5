// What kernels of srcjax are written with: arrays of any strides, numbers that may be on
// the device, folds of a block or of a row, and operations with NumPy's values.

#ifdef LARGE_ARRAYS
typedef long long index;
#else
typedef int index;
#endif

// What goes wrong in a kernel is told by the first word of `status`.
#define DIFFERS 1       // Python's own numbers do here what machine numbers do not
#define OUT_OF_BOUNDS 2 // an index is out of bounds
#define TAPE_IS_FULL 4  // a loop has more trips than there is room for

// An array: sizes `n`, and strides `s` in elements (0 where it is broadcast).
template <class T, int N>
struct array {
    T* data;
    long long n[N ? N : 1];
    long long s[N ? N : 1];

    // x(i, j): the indices are in bounds.
    template <class... I>
    __device__ T& operator()(I... i) const {
        const index at[] = {(index)i..., 0};
        index offset = 0;
#pragma unroll
        for (int k = 0; k < N; ++k) offset += at[k] * (index)s[k];
        return data[offset];
    }

    // x.at(status, i, j): negative indices count from the end, and all are tested.
    // What is out of bounds is the room behind `status`.
    template <class... I>
    __device__ T& at(int* status, I... i) const {
        long long at[] = {(long long)i..., 0};
        index offset = 0;
#pragma unroll
        for (int k = 0; k < N; ++k) {
            if (at[k] < 0) at[k] += n[k];
            if (at[k] < 0 || at[k] >= n[k]) {
                atomicOr(status, OUT_OF_BOUNDS);
                return *(T*)(status + 2);
            }
            offset += (index)at[k] * (index)s[k];
        }
        return data[offset];
    }

    // x.part(i): what stands at an index of the first axis.
    __device__ array<T, (N > 1 ? N - 1 : 0)> part(index i) const {
        array<T, (N > 1 ? N - 1 : 0)> found;
        found.data = data + i * (index)s[0];
        for (int k = 1; k < N; ++k) found.n[k - 1] = n[k], found.s[k - 1] = s[k];
        return found;
    }
};

// A number that is given by value, or lies on the device.
template <class T>
struct number {
    T value;
    const T* place;

    __device__ operator T() const { return place ? *place : value; }
};

// Values of a loop that a later loop takes back, last in first out. Those of all threads
// lie beside each other.
template <class T>
struct tape {
    T* data;
    long long room;
    long long count;

    __device__ tape(array<T, 2> memory, index thread)
        : data(memory.data + thread * memory.s[1]), room(memory.n[0]), count(0),
          step(memory.s[0]) {}

    __device__ bool append(T value) {
        if (count == room) return false;
        data[count++ * step] = value;
        return true;
    }

    __device__ T pop() { return data[--count * step]; }

  private:
    long long step;
};

// -- threads -------------------------------------------------------------------------

// The threads of a grid take turns: thread `t` computes the elements t, t + threads(), ...
__device__ inline index thread() {
    return (index)blockIdx.x * blockDim.x + threadIdx.x;
}
__device__ inline index threads() { return (index)gridDim.x * blockDim.x; }

// How often a loop runs.
__device__ inline index trips(long long n) { return n > 0 ? (index)n : 0; }

// Of a kernel by rows, blockDim.x threads compute a row: a part of a warp, or a block.
__device__ inline index row() { return (index)blockIdx.x * blockDim.y + threadIdx.y; }
__device__ inline index rows() { return (index)gridDim.x * blockDim.y; }

__device__ inline unsigned row_mask() {
    if (blockDim.x >= 32) return 0xffffffffu;
    const unsigned lane = (threadIdx.y * blockDim.x + threadIdx.x) % 32;
    return ((1u << blockDim.x) - 1) << (lane / blockDim.x * blockDim.x);
}

// What the threads of a row stored is seen by all of them.
__device__ inline void row_sync() {
    if (blockDim.x > 32)
        __syncthreads();
    else
        __syncwarp(row_mask());
}

struct by_sum {
    template <class T> __device__ static T of(T y, T x) { return y + x; }
};
struct by_product {
    template <class T> __device__ static T of(T y, T x) { return y * x; }
};
struct by_largest {
    template <class T> __device__ static T of(T y, T x) {
        return x > y || x != x ? x : y;
    }
};
struct by_smallest {
    template <class T> __device__ static T of(T y, T x) {
        return x < y || x != x ? x : y;
    }
};
struct by_any {
    __device__ static int of(int y, int x) { return y || x; }
};
struct by_all {
    __device__ static int of(int y, int x) { return y && x; }
};

template <class By, class T>
__device__ T among_warps(T value, unsigned thread, unsigned count) {
    __shared__ T of_warps[32];
    __syncthreads();
    if (thread % 32 == 0) of_warps[thread / 32] = value;
    __syncthreads();
    value = of_warps[0];
    for (unsigned k = 1; k < count / 32; ++k) value = By::of(value, of_warps[k]);
    return value;
}

// One value of all threads of a row; each of them has it.
template <class By, class T>
__device__ T of_row(T value) {
    const unsigned mask = row_mask();
    for (int k = min(blockDim.x, 32) / 2; k > 0; k /= 2)
        value = By::of(value, __shfl_xor_sync(mask, value, k));
    if (blockDim.x > 32) value = among_warps<By>(value, threadIdx.x, blockDim.x);
    return value;
}

// One value of all threads of a block; each of them has it. The order is always the same.
template <class By, class T>
__device__ T of_block(T value) {
    for (int k = 16; k > 0; k /= 2)
        value = By::of(value, __shfl_xor_sync(0xffffffffu, value, k));
    const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
    return among_warps<By>(value, thread, blockDim.x * blockDim.y);
}

// -- operations ----------------------------------------------------------------------

#define INF __longlong_as_double(0x7ff0000000000000LL)
#define NOT_A_NUMBER __longlong_as_double(0x7ff8000000000000LL)

// Whole numbers wrap around, as NumPy's do.
__device__ inline long long wrap_add(long long a, long long b) {
    return (long long)((unsigned long long)a + (unsigned long long)b);
}
__device__ inline long long wrap_sub(long long a, long long b) {
    return (long long)((unsigned long long)a - (unsigned long long)b);
}
__device__ inline long long wrap_mul(long long a, long long b) {
    return (long long)((unsigned long long)a * (unsigned long long)b);
}

__device__ inline long long whole_abs(long long x) { return x < 0 ? wrap_sub(0, x) : x; }

// a // b and a % b: rounded down; of a divisor 0 they are 0, as NumPy's are.
__device__ inline long long floor_div(long long a, long long b) {
    if (b == 0) return 0;
    if (b == -1) return wrap_sub(0, a);
    const long long q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}
__device__ inline long long floor_mod(long long a, long long b) {
    if (b == 0 || b == -1) return 0;
    const long long r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
template <class T>
__device__ T floor_mod_of(T a, T b) {
    T r = fmod(a, b);
    if (b == 0) return r;
    if (r == 0) return copysign((T)0, b);
    return (r < 0) != (b < 0) ? r + b : r;
}
template <class T>
__device__ T floor_div_of(T a, T b) {
    if (b == 0) return a / b;
    const T r = fmod(a, b);
    T q = (a - r) / b;
    if (r != 0 && (b < 0) != (r < 0)) q -= 1;
    if (q == 0) return copysign((T)0, a / b);
    const T whole = floor(q);
    return q - whole > (T)0.5 ? whole + 1 : whole;
}
__device__ inline double floor_div(double a, double b) { return floor_div_of(a, b); }
__device__ inline float floor_div(float a, float b) { return floor_div_of(a, b); }
__device__ inline double floor_mod(double a, double b) { return floor_mod_of(a, b); }
__device__ inline float floor_mod(float a, float b) { return floor_mod_of(a, b); }

template <class T>
__device__ T sign_of(T x) {
    return x > 0 ? (T)1 : x < 0 ? (T)-1 : x;
}
template <class T>
__device__ T log_add_exp(T a, T b) {
    if (a == b) return a + (T)0.6931471805599453;
    const T d = a - b;
    if (d > 0) return a + log1p(exp(-d));
    if (d <= 0) return b + log1p(exp(d));
    return d;
}
__device__ inline long long whole_power(long long a, long long b) {
    long long y = 1;
    for (; b > 0; b /= 2, a = wrap_mul(a, a))
        if (b % 2) y = wrap_mul(y, a);
    return y;
}
__device__ inline long long left_shift(long long a, long long b) {
    return b >= 0 && b < 64 ? (long long)((unsigned long long)a << b) : 0;
}
__device__ inline long long right_shift(long long a, long long b) {
    return a >> (b >= 0 && b < 64 ? b : 63);
}
