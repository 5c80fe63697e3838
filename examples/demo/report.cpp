// Timing, the roofline and tables of the demo.
#include "report.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/core.h>
#include <omp.h>

namespace demo {
namespace {

bool wrong = false;

double seconds(const job& work, int runs) {
  const auto start = std::chrono::steady_clock::now();
  for (int run = 0; run < runs; ++run) work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / runs;
}

void print_markdown(const table& t) {
  std::string head, rule, group;
  for (std::size_t c = 0; c < t.head.size(); ++c) {
    if (!t.groups.empty() && !t.groups[c].empty()) group = "<br>" + t.groups[c];
    head += "| " + t.head[c] + group + " ";
    rule += c == 0 ? "|:--" : "|--:";
  }
  fmt::print("{}|\n{}|\n", head, rule);
  for (const auto& row : t.rows) {
    for (const auto& cell : row) fmt::print("| {} ", cell);
    fmt::print("|\n");
  }
}

void print_plain(const table& t) {
  std::vector<std::size_t> width;
  for (std::size_t c = 0; c < t.head.size(); ++c) {
    std::size_t w = t.head[c].size();
    for (const auto& row : t.rows) w = std::max(w, row[c].size());
    width.push_back(w);
  }
  const std::string gap = t.groups.empty() ? "  " : " ";  // the wide tables have to fit into 100 columns
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string out = "  ";
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const bool group_starts = c > 0 && !t.groups.empty() && !t.groups[c].empty();
      out += group_starts ? " | " : c > 0 ? gap : "";
      out += c == 0 ? fmt::format("{:<{}}", cells[c], width[c]) : fmt::format("{:>{}}", cells[c], width[c]);
    }
    fmt::print("{}\n", out);
  };
  if (!t.groups.empty()) {
    std::string out = "  ";
    std::size_t at = 2;
    for (std::size_t c = 0; c < t.groups.size(); ++c) {
      if (c > 0) at += t.groups[c].empty() ? gap.size() : 3;
      if (!t.groups[c].empty()) {
        out.resize(std::max(out.size(), at), ' ');
        if (c > 0) out.replace(at - 2, 1, "|");
        out += t.groups[c];
      }
      at += width[c];
    }
    fmt::print("{}\n", out);
  }
  line(t.head);
  for (const auto& row : t.rows) line(row);
}

}  // namespace

std::vector<double> interleaved(const std::vector<job>& jobs, const settings& s) {
  const double sample = s.quick ? 1e-4 : 1e-3, budget = s.quick ? 0.02 : 0.4;
  std::vector<int> runs;
  double round = 0;
  for (const auto& work : jobs) {
    work();
    const double once = seconds(work, 1);
    runs.push_back(std::clamp(static_cast<int>(sample / std::max(once, 1e-9)), 1, 100000));
    round += runs.back() * once;
  }
  const int rounds = std::clamp(static_cast<int>(budget / round), 3, 41) | 1;
  std::vector<std::vector<double>> samples(jobs.size());
  for (int r = 0; r < rounds; ++r)
    for (std::size_t j = 0; j < jobs.size(); ++j) samples[j].push_back(seconds(jobs[j], runs[j]));
  std::vector<double> medians;
  for (auto& list : samples) {
    std::nth_element(list.begin(), list.begin() + rounds / 2, list.end());
    medians.push_back(list[rounds / 2]);
  }
  return medians;
}

const job& fastest(const std::vector<job>& jobs) {
  std::vector<double> best(jobs.size(), std::numeric_limits<double>::infinity());
  for (int round = 0; round < 3; ++round)
    for (std::size_t j = 0; j < jobs.size(); ++j) best[j] = std::min(best[j], seconds(jobs[j], 1));
  return jobs[std::min_element(best.begin(), best.end()) - best.begin()];
}

one_core::one_core() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
one_core::~one_core() { omp_set_num_threads(before_); }

double roofline(const ricci::machine& m, double peak, double flops, double bytes) {
  double bandwidth = m.memory_bandwidth;
  for (auto level = m.caches.rbegin(); level != m.caches.rend(); ++level)
    if (bytes <= double(level->bytes) && level->bandwidth > 0) bandwidth = level->bandwidth;
  return std::min(peak, flops / bytes * bandwidth);
}

void print(const settings& s, const std::string& title, const std::string& explanation, const table& t) {
  if (s.markdown) {
    fmt::print("`{}`  \n{}\n\n", title, explanation);
    print_markdown(t);
  } else {
    fmt::print("{}\n  {}\n", title, explanation);
    print_plain(t);
  }
  fmt::print("\n");
}

void print_block(const settings& s, const std::string& title, const std::string& text) {
  fmt::print("{}\n", title);
  if (s.markdown)
    fmt::print("\n```\n{}```\n", text);
  else
    fmt::print("{}", text);
  fmt::print("\n");
}

std::string fixed(double x, int digits) { return fmt::format("{:.{}f}", x, digits); }

std::string error_text(double x) {
  if (x == 0) return "0";
  return x < 0.001 ? "<0.001" : x < 10 ? fmt::format("{:.3f}", x) : fmt::format("{:.1e}", x);
}

std::string percent(double part) { return fmt::format("{:.0f} %", 100 * part); }

const std::vector<std::string> speed_head = {"ricci", "of bound", "Eigen", "ratio", "all cores"};

std::vector<std::string> speed_columns(const times& t, double flops, double bound) {
  const double speed = flops / t.ricci * 1e-9;
  return {fixed(speed, 1), percent(speed / bound), fixed(flops / t.eigen * 1e-9, 1), fixed(t.eigen / t.ricci, 1) + "x",
          fixed(flops / t.all * 1e-9, 1)};
}

bool something_is_wrong() { return wrong; }

std::string checked(double error) {
  wrong = wrong || !(error <= 1);
  return error_text(error);
}

}  // namespace demo
