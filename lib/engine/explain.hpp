// The plan of a program for any machine, as text.
#pragma once

#include <string>

#include <ricci/engine/engine.hpp>

#include "machine/machine.hpp"

namespace ricci {

/// Plans without running: the machine need not be this one. Shows the rejected ways of every step as well. Errors: as compile().
std::string describe(const program& p, const machine& m, const options& o = {});

}  // namespace ricci
