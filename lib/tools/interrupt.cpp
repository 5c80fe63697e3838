// Signals that are noted, so that a measurement can end with what it has.
#include "tools/interrupt.hpp"

#include <cstdio>
#include <iostream>
#include <iterator>

namespace ricci::tools {
namespace {

constexpr int signals[] = {SIGINT, SIGTERM};
using handler = void (*)(int);
handler before[std::size(signals)];

void restore() {
  for (std::size_t i = 0; i < std::size(signals); ++i) std::signal(signals[i], before[i]);
}

}  // namespace

volatile std::sig_atomic_t interrupt::noted = 0;

void interrupt::note(int signal) {
  noted = signal;
  restore();
}

interrupt::interrupt() {
  noted = 0;
  for (std::size_t i = 0; i < std::size(signals); ++i) {
    before[i] = std::signal(signals[i], note);
    if (before[i] == SIG_IGN) std::signal(signals[i], SIG_IGN);
  }
}

interrupt::~interrupt() { restore(); }

void interrupt::rest() const { restore(); }

void interrupt::end() const {
  if (!asked()) return;
  std::cout.flush();
  std::fflush(stdout);
  restore();
  std::raise(noted);
}

}  // namespace ricci::tools
