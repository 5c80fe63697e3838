// BK1, BK3 and BK5 as users write them.
#pragma once

#include <ricci/program/program.hpp>

namespace ricci::test {

/// kernel: 1, 3 or 5. Its pointers are not kept.
program bake_off(int kernel, int degree);

}  // namespace ricci::test
