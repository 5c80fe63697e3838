// The header of a .npy file: a Python dictionary of three keys, read without Python.
#include <ricci/core/error.hpp>

#include <bit>
#include <limits>
#include <optional>

#include "tools/npy.hpp"

namespace ricci::tools {
namespace {

constexpr std::size_t most_extents = 64;  // NumPy has no more, and the header of such a shape is short

class header_parser {
 public:
  header_parser(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  npy_header parse() {
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr") type(), has_type_ = true;
      else if (key == "fortran_order") header_.fortran = boolean(), has_order_ = true;
      else if (key == "shape") shape(), has_shape_ = true;
      else fail("its header has the unknown key '" + key + "'");
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip();
    if (at_ != text_.size()) fail("its header goes on after the closing brace");
    if (!has_type_ || !has_order_ || !has_shape_) fail("its header lacks one of 'descr', 'fortran_order', 'shape'");
    return header_;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const { throw error(errc::bad_file, file_ + " is not a usable .npy file: " + why); }

  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
  }
  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(std::string("its header cannot be read (no '") + c + "' where one belongs)");
  }

  std::string string() {
    char quote = peek();
    if ((quote == 'u' || quote == 'U') && at_ + 1 < text_.size()) quote = text_[++at_];  // Python 2 wrote Unicode so
    if (quote != '\'' && quote != '"') fail("its header cannot be read (no quoted text where one belongs)");
    const std::size_t end = text_.find(quote, ++at_);
    if (end == text_.npos) fail("its header has a quote without an end");
    std::string out(text_.substr(at_, end - at_));
    for (const char c : out)
      if (c < ' ' || c > '~' || c == '\\') fail("its header has an unreadable text");
    at_ = end + 1;
    return out;
  }

  bool boolean() {
    skip();
    for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}})
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return value;
      }
    fail("its fortran_order is neither True nor False");
  }

  std::int64_t extent() {
    if (peek() == '-') fail("its shape has a negative extent");
    std::int64_t value = 0;
    const std::size_t begin = at_;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
      if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, text_[at_] - '0', &value))
        fail("its shape has an extent beyond 64 bits");
    if (at_ == begin) fail("its shape is not a tuple of integers");
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote long integers so
    return value;
  }

  void shape() {
    if (!accept('(')) fail("its shape is not a tuple of integers");
    header_.extents.clear();
    bool comma = true;
    while (!accept(')')) {
      if (!comma) fail("its shape is not a tuple of integers");
      header_.extents.push_back(extent());
      if (header_.extents.size() > most_extents) fail("its shape has more than " + std::to_string(most_extents) + " extents");
      comma = accept(',');
    }
    if (header_.extents.size() == 1 && !comma) fail("its shape is not a tuple of integers");
    check_size();
  }

  /// NumPy multiplies all extents, so that beside a 0 the others may not overflow either; we only need the product.
  void check_size() const {
    std::int64_t count = 1;
    bool empty = false, overflow = false;
    for (const std::int64_t n : header_.extents) {
      empty = empty || n == 0;
      overflow = overflow || __builtin_mul_overflow(count, n, &count);
    }
    if (!empty && (overflow || count > std::numeric_limits<std::int64_t>::max() / 16))
      fail("its shape has more elements than can be addressed");
  }

  void type() {
    if (peek() == '[') fail("it holds records, not numbers");
    const std::string text = string();
    std::size_t at = 0;
    char order = '=';
    if (!text.empty() && std::string_view("<>=|").find(text[0]) != std::string_view::npos) order = text[at++];
    const char kind = at < text.size() ? text[at++] : '\0';
    const std::string digits = text.substr(at);
    if (kind == 'O') fail("it holds pickled Python objects");
    npy_type t{kind == '?' ? 'b' : kind, kind == '?' && digits.empty() ? 1 : 0};
    for (const int bytes : {1, 2, 4, 8, 16})
      if (digits == std::to_string(bytes)) t.bytes = bytes;
    const bool known = (t.kind == 'b' && t.bytes == 1) || (t.kind == 'f' && t.bytes >= 2 && t.bytes <= 8) ||
                       ((t.kind == 'i' || t.kind == 'u') && t.bytes >= 1 && t.bytes <= 8) || (t.kind == 'c' && t.bytes >= 8);
    if (!known) fail("elements of type '" + text + "' are not supported");
    header_.type = t;
    const char native = std::endian::native == std::endian::little ? '<' : '>';
    header_.swapped = (order == '<' || order == '>') && order != native && t.bytes > 1;
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  npy_header header_;
  bool has_type_ = false, has_order_ = false, has_shape_ = false;
};

}  // namespace

npy_header parse_npy_header(std::string_view text, const std::string& file) { return header_parser(text, file).parse(); }

}  // namespace ricci::tools
