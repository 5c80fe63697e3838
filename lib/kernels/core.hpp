// The design of this processor's cores, where something was measured on one of its kind.
#pragma once

#include <cstdint>

namespace ricci::kernels {

enum class core : std::uint8_t {
  other,
  zen_3,
  zen_4,
  zen_5,         // server and desktop: registers of 64 bytes in one piece
  narrow_zen_5,  // mobile: in two
  golden_cove    // Sapphire and Emerald Rapids
};

core this_core();

/// "Zen 4"; empty for others.
const char* name_of(core c);

}  // namespace ricci::kernels
