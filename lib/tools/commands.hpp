// What main offers: each adds its options to the command line and returns what to do if it was chosen.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string>

namespace ricci::tools {

std::function<void()> add_info(CLI::App& app);
std::function<void()> add_einsum(CLI::App& app);
std::function<void()> add_explain(CLI::App& app);
std::function<void()> add_bench(CLI::App& app);
std::function<void()> add_tune(CLI::App& app);

/// Subscripts may look like an option ("->") or a command ("info"); main puts a space before them, which means nothing
/// in subscripts. Elsewhere this takes it off again.
std::string unmask(const std::string& argument);

/// Checks an option that takes a name: an empty one is not the same as none.
inline std::string not_empty(const std::string& given) { return given.empty() ? "a name is missing" : ""; }

}  // namespace ricci::tools
