// Reads einsum strings and lists of label numbers, with NumPy's rules.
#include "einsum/subscripts.hpp"

#include <ricci/core/error.hpp>

#include <algorithm>
#include <map>

namespace ricci::detail {
namespace {

[[noreturn]] void fail(errc code, const std::string& text) { throw error(code, "einsum: " + text); }

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string shown(char c) {
  if (c > ' ' && c < 127) return std::string("'") + c + "'";
  return "the character of code " + std::to_string(static_cast<unsigned char>(c));
}

/// The labels of one operand or of the result.
std::vector<int> parse_term(std::string_view term, const std::string& where) {
  std::vector<int> labels;
  bool dots = false;
  for (std::size_t at = 0; at < term.size(); ++at) {
    const char c = term[at];
    if (c == ' ') continue;
    if (c == '.') {
      if (term.substr(at, 3) != "...") fail(errc::bad_subscripts, "a '.' in " + where + " that is not part of an ellipsis '...'");
      if (dots) fail(errc::bad_subscripts, "two ellipses '...' in " + where);
      dots = true, at += 2;
      labels.push_back(ellipsis);
    } else if (is_letter(c)) {
      labels.push_back(c);
    } else {
      fail(errc::bad_subscripts, shown(c) + " in " + where + " is not a label; labels are the letters a to z and A to Z");
    }
  }
  return labels;
}

subscripts parse_text(std::string_view text, std::size_t operand_count) {
  subscripts out;
  const std::size_t arrow = text.find('-');
  if (arrow != text.npos) {
    if (text.substr(arrow, 2) != "->") fail(errc::bad_subscripts, "a '-' in the subscripts that is not part of '->'");
    out.has_result = true;
  }
  std::string_view left = text.substr(0, arrow);
  while (true) {
    const std::size_t comma = left.find(',');
    out.operands.push_back(parse_term(left.substr(0, comma), "the subscripts of operand " + std::to_string(out.operands.size())));
    if (comma == left.npos) break;
    left.remove_prefix(comma + 1);
  }
  if (out.operands.size() != operand_count)
    fail(errc::bad_subscripts, "the subscripts are for " + std::to_string(out.operands.size()) + " operands, but there " +
                                   (operand_count == 1 ? "is 1" : "are " + std::to_string(operand_count)));
  if (out.has_result) out.result = parse_term(text.substr(arrow + 2), "the subscripts of the result");
  return out;
}

void check_list(const std::vector<int>& labels, const std::string& where) {
  for (const int label : labels)
    if (label < 0 && label != ellipsis)
      fail(errc::bad_subscripts, "label " + std::to_string(label) + " in " + where + " is negative");
  if (std::count(labels.begin(), labels.end(), ellipsis) > 1) fail(errc::bad_subscripts, "two ellipses in " + where);
}

subscripts parse_lists(const einsum_words& words, std::size_t operand_count) {
  subscripts out;
  out.numbers = true;
  out.operands = *words.lists;
  if (out.operands.size() != operand_count)
    fail(errc::bad_subscripts, std::to_string(out.operands.size()) + " lists of labels for " +
                                   std::to_string(operand_count) + " operands");
  for (std::size_t q = 0; q < operand_count; ++q) check_list(out.operands[q], "the labels of operand " + std::to_string(q));
  if (words.result) {
    out.has_result = true;
    out.result = *words.result;
    check_list(out.result, "the labels of the result");
  }
  return out;
}

/// How often each label occurs in all operands together; sorted, so the ellipsis comes first and 'B' before 'a'.
std::map<int, int> count_labels(const subscripts& s) {
  std::map<int, int> counts;
  for (const auto& labels : s.operands)
    for (const int label : labels) ++counts[label];
  return counts;
}

void check_result(const subscripts& s, const std::map<int, int>& counts) {
  std::map<int, int> seen;
  for (const int label : s.result) {
    if (label == ellipsis) continue;
    if (!counts.contains(label))
      fail(errc::bad_label, "the result has label " + s.name(label) + ", which no operand has");
    if (++seen[label] > 1) fail(errc::bad_label, "the result has label " + s.name(label) + " twice");
  }
}

}  // namespace

std::string subscripts::name(int label) const {
  if (label == ellipsis) return "...";
  return numbers ? std::to_string(label) : std::string(1, static_cast<char>(label));
}

subscripts parse(const einsum_words& words, std::size_t operand_count) {
  if (operand_count == 0) fail(errc::bad_subscripts, "there are no operands");
  subscripts s = words.lists ? parse_lists(words, operand_count) : parse_text(words.text, operand_count);
  const auto counts = count_labels(s);
  if (s.has_result) {
    check_result(s, counts);
  } else {
    for (const auto& [label, count] : counts)
      if (label == ellipsis || count == 1) s.result.push_back(label);
  }
  return s;
}

}  // namespace ricci::detail
