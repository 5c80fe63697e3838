// The command ricci: exit code 0, or 2 and one sentence on standard error.
#include <ricci/core/error.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <new>
#include <string>
#include <vector>

#include "machine/files.hpp"
#include "tools/commands.hpp"

namespace {

const std::vector<std::string> commands = {"info", "einsum", "explain", "bench", "tune"};

/// Stands before words that CLI11 would take for its own.
constexpr char mask = '\x01';

bool is_masked(const std::string& argument) {
  const bool is_list = argument.starts_with('[') && argument.ends_with(']');
  return is_list || argument.starts_with("->") || std::find(commands.begin(), commands.end(), argument) != commands.end();
}

/// The sentence for what could not be read: a word that is no command stands where one is required.
std::string sentence_of(const CLI::App& app, const CLI::ParseError& e) {
  const std::vector<std::string> left = app.remaining(true);
  if (e.get_name() != "RequiredError" || left.empty() || !std::string_view(e.what()).starts_with("A subcommand")) return e.what();
  const std::vector<CLI::App*> given = app.get_subcommands();
  const CLI::App& in = given.empty() ? app : *given.front();
  std::string known;
  for (const CLI::App* c : in.get_subcommands([](const CLI::App*) { return true; })) known += (known.empty() ? "" : ", ") + c->get_name();
  return "'" + ricci::tools::unmask(left.front()) + "' is no command" + (given.empty() ? "" : " of " + in.get_name()) + "; known: " + known;
}

/// One line whatever was in the message: arguments and file names may hold anything.
int refuse(std::string sentence) {
  std::erase(sentence, mask);
  for (char& c : sentence)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  while (!sentence.empty() && (sentence.back() == ' ' || sentence.back() == '.')) sentence.pop_back();
  std::fprintf(stderr, "ricci: %s.\n", sentence.c_str());
  return 2;
}

void check_output() {
  std::cout.flush();
  if (!std::cout) throw ricci::error(ricci::errc::bad_file, "the result cannot be written to standard output");
}

int run(std::vector<std::string> arguments) {
  for (std::size_t a = 1; a < arguments.size(); ++a)
    if (is_masked(arguments[a])) arguments[a].insert(0, 1, mask);
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them

  CLI::App app("Tensor contractions in index notation.", "ricci");
  app.set_version_flag("--version", std::string("ricci ") + RICCI_VERSION);
  app.require_subcommand(1);
  const std::function<void()> work[] = {ricci::tools::add_info(app), ricci::tools::add_einsum(app),
                                        ricci::tools::add_explain(app), ricci::tools::add_bench(app),
                                        ricci::tools::add_tune(app)};
  try {
    app.parse(arguments);
  } catch (const CLI::Success& asked) {
    const int code = app.exit(asked);
    check_output();
    return code;
  } catch (const CLI::ParseError& e) {
    return refuse(sentence_of(app, e));
  }
  for (std::size_t c = 0; c < commands.size(); ++c)
    if (app.got_subcommand(commands[c])) work[c]();
  check_output();
  return 0;
}

}  // namespace

std::string ricci::tools::unmask(const std::string& argument) {
  return argument.starts_with(mask) && is_masked(argument.substr(1)) ? argument.substr(1) : argument;
}

/// A file that is half written does not stay behind; then the signal ends the program as it would have.
extern "C" void end_by(int signal) {
  ricci::detail::remove_unfinished();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

int main(int argc, char** argv) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGXCPU, SIGUSR1, SIGUSR2})
    if (std::signal(signal, end_by) == SIG_IGN) std::signal(signal, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that would be too large is an error like others
  try {
    return run({argv + std::min(argc, 1), argv + argc});
  } catch (const std::bad_alloc&) {
    return refuse("there is not enough memory");
  } catch (const std::exception& e) {
    return refuse(e.what());
  }
}
