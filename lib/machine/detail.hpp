// The parts this_machine() is made of, for the files of this folder and their tests.
#pragma once

#include <optional>
#include <string>

#include "machine/machine.hpp"

namespace ricci::detail {

/// Topology, ISA and estimated speeds of this machine; nothing is measured or read from a cache. Never throws but for
/// lack of memory.
machine detect_machine();

/// The file in which a machine with this name and ISA is remembered; empty if there is no cache folder.
std::string machine_file_of(const machine& m);

/// A remembered measurement of the machine that `like` describes; nothing if the file is missing, damaged, of another
/// machine, or holds numbers that no machine has.
std::optional<machine> load_machine(const std::string& file, const machine& like);

}  // namespace ricci::detail
