// Numbers as people read them.
#include "plan/units.hpp"

#include <cstdarg>
#include <cstdio>

namespace ricci {
namespace {

std::string with_unit(double x, const char* const* units, double base) {
  int u = 0;
  while (x >= base && units[u + 1]) x /= base, ++u;
  return format(x < 10 && u ? "%.2f %s" : x < 100 && u ? "%.1f %s" : "%.0f %s", x, units[u]);
}

}  // namespace

std::string format(const char* pattern, ...) {
  char buffer[256];
  va_list args;
  va_start(args, pattern);
  std::vsnprintf(buffer, sizeof buffer, pattern, args);
  va_end(args);
  return buffer;
}

std::string bytes_text(double bytes) {
  static const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB", nullptr};
  return with_unit(bytes, units, 1024);
}

std::string flops_text(double flops) {
  static const char* const units[] = {"flop", "Kflop", "Mflop", "Gflop", "Tflop", "Pflop", nullptr};
  return with_unit(flops, units, 1000);
}

}  // namespace ricci
