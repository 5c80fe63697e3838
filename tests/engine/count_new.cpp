// Replaces operator new by one that counts; in a file of its own so that no compiler pairs it with free at the call.
#include <atomic>
#include <cstdlib>
#include <new>

std::atomic<long> allocations{0};

void* operator new(std::size_t n) {
  ++allocations;
  if (void* p = std::malloc(n ? n : 1)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
