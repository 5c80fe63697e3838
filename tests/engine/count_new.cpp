// Replaces operator new by one that counts, and fails when it is told to; in a file of its own so that no compiler pairs it with free at the call.
// All forms, so that none of a sanitizer's own meets one of these.
#include <atomic>
#include <cstdlib>
#include <new>

std::atomic<long> allocations{0};
std::atomic<long> allocations_left{-1};  // until one fails; negative: none does

#if defined(__SANITIZE_THREAD__)
#define RICCI_OWN_NEW 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RICCI_OWN_NEW 0
#endif
#endif
#ifndef RICCI_OWN_NEW
#define RICCI_OWN_NEW 1
#endif

// The thread sanitizer does not let its operator new be replaced.
extern const bool allocations_are_counted;
const bool allocations_are_counted = RICCI_OWN_NEW;

#if RICCI_OWN_NEW

void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
  ++allocations;
  if (allocations_left >= 0 && allocations_left-- == 0) return nullptr;
  return std::malloc(n ? n : 1);
}
void* operator new(std::size_t n) {
  if (void* p = operator new(n, std::nothrow)) return p;
  throw std::bad_alloc();
}
void* operator new[](std::size_t n) { return operator new(n); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return operator new(n, std::nothrow); }

void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { std::free(p); }
#endif
