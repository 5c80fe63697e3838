// Numbers as people read them in plans.
#pragma once

#include <string>

namespace ricci {

/// printf into a string of at most 255 characters.
[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);

/// "1.50 MiB": units of 1024.
std::string bytes_text(double bytes);

/// "1.50 Mflop": units of 1000.
std::string flops_text(double flops);

}  // namespace ricci
