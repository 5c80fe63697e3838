// Factors whose windows overlap as benches write them: "nc[p+r][2q+s]" is the dense tensor x(n, c, p + r, 2 q + s).
#pragma once

#include <cctype>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// A view: extents and steps of its labels, and how many elements lie behind it.
struct laid_out {
  std::vector<std::int64_t> shape, strides;
  std::int64_t elements = 1;
};

class factor_text {
 public:
  explicit factor_text(const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
      if (text[at] != '[') {
        axes_.push_back({{1, text[at++]}});
        continue;
      }
      const std::size_t end = text.find(']', at);
      axes_.emplace_back();
      while (++at < end && end != text.npos) {
        std::int64_t times = 0;
        for (; at < end && std::isdigit(static_cast<unsigned char>(text[at])); ++at) times = 10 * times + (text[at] - '0');
        const bool counted = std::isdigit(static_cast<unsigned char>(text[at - 1])) != 0;
        if (at >= end || !std::isalpha(static_cast<unsigned char>(text[at])) || (counted && times == 0)) {
          axes_.back().clear();
          break;
        }
        axes_.back().push_back({counted ? times : 1, text[at++]});
        if (at >= end || text[at] != '+') break;
      }
      if (at != end || axes_.back().empty()) throw std::runtime_error("'" + text + "' is no factor such as nc[p+r][2q+s]");
      ++at;
    }
  }

  std::string labels() const {
    std::string all;
    for (const auto& axis : axes_)
      for (const auto& [times, label] : axis) all += label;
    return all;
  }

  /// Errors: std::out_of_range for a label that has no extent.
  laid_out with(const std::map<char, std::int64_t>& extent) const {
    laid_out x;
    for (std::size_t d = axes_.size(); d-- > 0;) {
      std::int64_t reach = 1;
      for (std::size_t i = axes_[d].size(); i-- > 0;) {
        const auto& [times, label] = axes_[d][i];
        x.shape.insert(x.shape.begin(), extent.at(label)), x.strides.insert(x.strides.begin(), times * x.elements);
        reach += times * (extent.at(label) - 1);
      }
      x.elements *= reach;
    }
    return x;
  }

 private:
  std::vector<std::vector<std::pair<std::int64_t, char>>> axes_;  // of a dense tensor: sums of labels, each so many times
};

}  // namespace bench
