// Checks and costs of networks and paths.
#include "plan/path/network.hpp"

#include <algorithm>
#include <string>

#include <ricci/core/error.hpp>

namespace ricci::ordering {
namespace {

[[noreturn]] void bad_label(int label, const std::string& where, const std::string& why) {
  throw error(errc::bad_label, "label " + std::to_string(label) + " of " + where + " " + why);
}

// seen[label] holds the last list that named it, so no list costs more than its length.
void check_list(const std::vector<int>& labels, std::vector<int>& seen, int stamp, const std::string& where) {
  for (int label : labels) {
    if (label < 0 || label >= static_cast<int>(seen.size())) {
      bad_label(label, where, "is outside 0.." + std::to_string(static_cast<int>(seen.size()) - 1));
    }
    if (seen[label] == stamp) bad_label(label, where, "occurs twice");
    seen[label] = stamp;
  }
}

// The labels that live factors still share: how many of them have each label, the result counted as one.
struct live_network {
  const network& net;
  std::vector<std::vector<int>> labels;  // by position
  std::vector<int> uses;                 // by label
  std::vector<char> alive;
  std::vector<int> mark;                 // by label: the last step that met it, and how

  explicit live_network(const network& n) : net(n), labels(n.factors), uses(n.extents.size(), 0),
                                            alive(n.factors.size(), 1), mark(n.extents.size(), -1) {
    for (const auto& factor : net.factors) {
      for (int label : factor) ++uses[label];
    }
    for (int label : net.result) ++uses[label];
  }

  struct step_cost { double flops, size; };

  step_cost contract(int left, int right, int step) {
    double involved = 1, size = 1;
    bool summed = false;
    std::vector<int> kept;
    const auto meet = [&](int label, bool both) {
      const double extent = static_cast<double>(net.extents[label]);
      involved *= extent;
      uses[label] -= both ? 2 : 1;
      if (uses[label] == 0) {
        summed = true;
      } else {
        ++uses[label];
        kept.push_back(label);
        size *= extent;
      }
    };
    const int in_right = 2 * step, done = 2 * step + 1;
    for (int label : labels[right]) mark[label] = in_right;
    for (int label : labels[left]) {
      meet(label, mark[label] == in_right);
      mark[label] = done;
    }
    for (int label : labels[right]) {
      if (mark[label] == in_right) meet(label, false);
    }
    alive[left] = alive[right] = 0;
    labels[left].clear();
    labels[right].clear();
    labels.push_back(std::move(kept));
    alive.push_back(1);
    return {involved * (summed ? 2 : 1), size};
  }
};

void cost_of_one(const network& net, path& out) {
  double all = 1, kept = 1;
  for (int label : net.factors[0]) all *= static_cast<double>(net.extents[label]);
  for (int label : net.result) kept *= static_cast<double>(net.extents[label]);
  out.flops = all * (net.result.size() < net.factors[0].size() ? 2 : 1);
  out.largest = kept;
}

}  // namespace

void check_network(const network& net) {
  for (std::size_t label = 0; label < net.extents.size(); ++label) {
    if (net.extents[label] < 0) {
      throw error(errc::bad_extent, "label " + std::to_string(label) + " has the negative extent " +
                                        std::to_string(net.extents[label]));
    }
  }
  std::vector<int> seen(net.extents.size(), -1);
  int stamp = 0;
  for (const auto& factor : net.factors) {
    check_list(factor, seen, stamp, "factor " + std::to_string(stamp));
    ++stamp;
  }
  std::vector<int> in_result(net.extents.size(), -1);
  check_list(net.result, in_result, 0, "the result");
  for (int label : net.result) {
    if (seen[label] < 0) bad_label(label, "the result", "is in no factor");
  }
}

path cost_of(const network& net, step_list steps) {
  path out;
  const std::size_t count = net.factors.size();
  if (steps.size() + 1 != std::max<std::size_t>(count, 1)) {
    throw error(errc::bad_argument, std::to_string(count) + " factors take " +
                                        std::to_string(count > 1 ? count - 1 : 0) + " steps, the path has " +
                                        std::to_string(steps.size()));
  }
  if (count == 1) cost_of_one(net, out);
  live_network live(net);
  for (std::size_t t = 0; t < steps.size(); ++t) {
    const auto [left, right] = steps[t];
    const int limit = static_cast<int>(live.alive.size());
    for (int position : {left, right}) {
      if (position < 0 || position >= limit || !live.alive[position] || left == right) {
        throw error(errc::bad_argument, "step " + std::to_string(t) + " of the path multiplies " +
                                            std::to_string(left) + " and " + std::to_string(right) +
                                            ", which are not two factors that are left");
      }
    }
    const auto cost = live.contract(left, right, static_cast<int>(t));
    out.flops += cost.flops;
    out.largest = std::max(out.largest, cost.size);
  }
  out.steps = std::move(steps);
  return out;
}

}  // namespace ricci::ordering

namespace ricci {

double path_flops(const network& net, const std::vector<std::pair<int, int>>& steps) {
  ordering::check_network(net);
  return ordering::cost_of(net, steps).flops;
}

}  // namespace ricci
