// The tables that ship with the library: the files in tables/, as text.
#pragma once

#include <span>

namespace ricci::tune {

std::span<const char* const> shipped_tables();

}  // namespace ricci::tune
