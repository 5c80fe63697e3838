// The words of an einsum, read: one list of label numbers for each operand and one for the result.
#pragma once

#include <string>
#include <vector>

#include <ricci/einsum/einsum.hpp>

namespace ricci::detail {

struct subscripts {
  std::vector<std::vector<int>> operands;  // character codes, or the numbers given; `ellipsis` for "..."
  std::vector<int> result;
  bool has_result = false;                 // else the result is implicit
  bool numbers = false;                    // labels are numbers, not characters

  /// "i", or "7"; "..." for the ellipsis.
  std::string name(int label) const;
  bool operator==(const subscripts&) const = default;
};

/// Errors: bad_subscripts (what NumPy calls invalid; wrong count of operands), bad_label (the result repeats a label
/// or has one that no operand has).
subscripts parse(const einsum_words& words, std::size_t operand_count);

}  // namespace ricci::detail
