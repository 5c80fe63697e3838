// The tables that ship with the library: the files in tables/, as text.
#pragma once

#include <vector>

namespace ricci::tune {

extern const std::vector<const char*> shipped_tables;

}  // namespace ricci::tune
