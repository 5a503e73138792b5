// The blocks of a grid run one after the other, the threads of a block as fibers that
// take turns at barriers.
#include "shim.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <ucontext.h>
#include <utility>
#include <vector>

dim3 gridDim, blockDim, blockIdx, threadIdx;

namespace shim {

struct Fiber {
    ucontext_t context;
    std::vector<char> stack;
    dim3 place;
    bool done;
};

struct Barrier {
    unsigned arrived = 0;
    unsigned long generation = 0;
};

static ucontext_t scheduler;
static std::vector<Fiber> fibers;
static size_t current;
static unsigned long progress;
static void (*body)(void**);
static void** given;
static std::map<std::pair<int, unsigned>, Barrier> barriers;
static std::vector<char> slots;

unsigned linear() { return threadIdx.y * blockDim.x + threadIdx.x; }
static unsigned size() { return blockDim.x * blockDim.y; }

static void fail(const char* why) {
    std::fprintf(stderr, "%s\n", why);
    std::abort();
}

static void wait(int group, unsigned mask, unsigned count) {
    Barrier& barrier = barriers[{group, mask}];
    const unsigned long mine = barrier.generation;
    ++progress;
    if (++barrier.arrived == count) {
        barrier.arrived = 0;
        ++barrier.generation;
        return;
    }
    while (barrier.generation == mine) {
        swapcontext(&fibers[current].context, &scheduler);
    }
    ++progress;
}

void block_wait() { wait(0, 0, size()); }

void warp_wait(unsigned mask) {
    if (!(mask >> linear() % 32 & 1)) fail("a thread that is not in its own mask");
    wait(1 + linear() / 32, mask, __builtin_popcount(mask));
}

void exchange(unsigned mask, void* value, size_t bytes, unsigned from) {
    slots.resize(size() * 16);
    std::memcpy(&slots[linear() * 16], value, bytes);
    warp_wait(mask);
    if (!(mask >> from % 32 & 1)) fail("a shuffle from a thread that takes no part");
    std::memcpy(value, &slots[from * 16], bytes);
    warp_wait(mask);
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
        if (alive && progress == before) fail("all threads wait at barriers");
    }
}

void launch(void (*kernel)(void**), const unsigned* sizes, void** args) {
    body = kernel;
    given = args;
    gridDim = {sizes[0], 1, 1};
    blockDim = {sizes[1], sizes[2], 1};
    if (size() > 1024 || (size() % 32 && size() != 1)) fail("a block of odd size");
    for (unsigned b = 0; b < gridDim.x; ++b) {
        blockIdx = {b, 0, 0};
        run_block();
    }
}

} // namespace shim
