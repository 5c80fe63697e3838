// Networks for the tests of the order of contraction: from subscripts, from the case files, and by brute force.
#pragma once

#include <algorithm>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <ricci/plan/path.hpp>

namespace ricci_test {

using nlohmann::json;

inline std::vector<json> items_of(const std::string& file) {
  std::ifstream in(std::string(RICCI_CASES_DIR) + "/" + file);
  if (!in) throw std::runtime_error("cannot open " + file);
  return json::parse(in).at("items").get<std::vector<json>>();
}

inline std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts{""};
  for (char c : text) {
    if (c == by) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// The network of a subscripts string (no ellipsis); without "->" the labels that occur once are the result.
inline ricci::network network_of(const std::string& subscripts, const std::vector<std::vector<std::int64_t>>& shapes) {
  ricci::network net;
  std::map<char, int> number;
  std::map<char, int> occurrences;
  const auto arrow = subscripts.find("->");
  const auto terms = split(subscripts.substr(0, arrow), ',');
  for (std::size_t f = 0; f < terms.size(); ++f) {
    auto& factor = net.factors.emplace_back();
    for (std::size_t d = 0; d < terms[f].size(); ++d) {
      const char c = terms[f][d];
      ++occurrences[c];
      const auto [it, fresh] = number.emplace(c, static_cast<int>(net.extents.size()));
      if (fresh) net.extents.push_back(1);
      net.extents[it->second] = std::max(net.extents[it->second], shapes.at(f).at(d));
      if (std::find(factor.begin(), factor.end(), it->second) == factor.end()) factor.push_back(it->second);
    }
  }
  if (arrow != std::string::npos) {
    for (char c : subscripts.substr(arrow + 2)) net.result.push_back(number.at(c));
  } else {
    for (const auto& [c, count] : occurrences) {
      if (count == 1) net.result.push_back(number.at(c));
    }
  }
  return net;
}

inline ricci::network network_of(const json& item) {
  return network_of(item.at("subscripts").get<std::string>(),
                    item.at("shapes").get<std::vector<std::vector<std::int64_t>>>());
}

/// Steps of the convention where both operands are removed and the result is appended at the end.
inline std::vector<std::pair<int, int>> steps_of_removals(int count, const json& path) {
  std::vector<int> live;
  for (int i = 0; i < count; ++i) live.push_back(i);
  std::vector<std::pair<int, int>> steps;
  for (const auto& pair : path) {
    const int a = pair.at(0), b = pair.at(1);
    steps.emplace_back(live.at(a), live.at(b));
    live.erase(live.begin() + std::max(a, b));
    live.erase(live.begin() + std::min(a, b));
    live.push_back(count + static_cast<int>(steps.size()) - 1);
  }
  return steps;
}

}  // namespace ricci_test
