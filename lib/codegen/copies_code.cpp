// Writes copies of a few elements that lie in any order: one after the other, without a loop.
#include "codegen/turns.hpp"
#include "codegen/vector_code.hpp"

namespace ricci::codegen {
namespace {

using namespace Xbyak::util;

constexpr std::int64_t most_copied = 64;       // elements
constexpr std::int64_t most_copy_offset = 1 << 30;  // bytes

class copies_code : public vector_code {
 public:
  copies_code(const copy_request& r, target t) : vector_code(4096, t, false), r_(r) {
    copy(0, 0, 0);
    ret();
  }

 private:
  void copy(std::size_t axis, std::int64_t from, std::int64_t to) {
    if (axis == r_.axes.size()) return element(ptr[rsi + static_cast<int>(from)], ptr[rdx + static_cast<int>(to)]);
    const copy_request::axis& x = r_.axes[axis];
    for (std::int64_t n = 0; n < x.extent; ++n) copy(axis + 1, from + n * x.from * r_.size, to + n * x.to * r_.size);
  }

  void element(const address& from, const address& to) {
    switch (r_.size) {
      case 2: movzx(eax, word[from.getRegExp()]), mov(word[to.getRegExp()], ax); break;
      case 4: mov(eax, dword[from.getRegExp()]), mov(dword[to.getRegExp()], eax); break;
      case 8: mov(rax, qword[from.getRegExp()]), mov(qword[to.getRegExp()], rax); break;
      default: vmovups(xmm0, from), vmovups(to, xmm0);
    }
  }

  const copy_request& r_;
};

}  // namespace

std::shared_ptr<const kernel> make(const copy_request& r, target t) {
  std::int64_t count = 1, reach = 0;
  for (const copy_request::axis& x : r.axes) {
    count *= x.extent;
    reach += (x.extent - 1) * std::max(std::abs(x.from), std::abs(x.to)) * r.size;
    if (count > most_copied || std::abs(x.from) > most_copy_offset || std::abs(x.to) > most_copy_offset) return nullptr;
  }
  if (t == target::none || reach >= most_copy_offset) return nullptr;
  return written<kernel, copies_code>(r, t);
}

}  // namespace ricci::codegen
