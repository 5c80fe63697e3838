// The sentences of run-time errors; the compile-time ones are in analysis/diagnostics.hpp and say the same.
#include <ricci/core/error.hpp>
#include <ricci/expr/statement.hpp>
#include <ricci/lower/front.hpp>
#include <ricci/tensor/make_view.hpp>
#include <ricci/tensor/tensor.hpp>

namespace ricci::detail {
namespace {

std::string text(std::int64_t n) { return std::to_string(n); }

std::string range(std::int64_t first, std::int64_t last) { return "[" + text(first) + ", " + text(last) + ")"; }

}  // namespace

void throw_verdict(const verdict& v, const flat_program& p) {
  const std::string name = v.label < 0 ? "" : "label " + std::string(p.labels[v.label].text, p.labels[v.label].size);
  switch (v.what) {
    case fault::repeated_left:
      throw error(errc::bad_label, "ricci[R001]: a label stands twice on the left side: " + name);
    case fault::left_alone:
      throw error(errc::bad_label, "ricci[R002]: a label of the left side is missing in a term of the right side: " +
                                       name + ", term " + text(v.a));
    case fault::unequal_extents:
      throw error(errc::bad_extent,
                  "ricci[R003]: a label has two different extents: " + name + ", " + text(v.a) + " and " + text(v.b));
    case fault::lone_label:
      throw error(errc::bad_label, "ricci[R004]: a label occurs once and not on the left; write sum(label, ...) if it "
                                   "is meant: " + name);
    case fault::bad_range:
      throw error(errc::bad_range, "ricci[R005]: a range is not inside its axis: " + name + ", range " +
                                       range(v.a, v.b) + ", axis " + text(v.axis) +
                                       (v.c == unknown ? "" : " of extent " + text(v.c)));
    case fault::two_ranges:
      throw error(errc::bad_range, "ricci[R006]: a label has two different ranges: " + name + ", " + range(v.a, v.b) +
                                       " and " + range(v.c, v.d));
    case fault::bad_constant:
      throw error(errc::bad_range, "ricci[R007]: a constant is outside its axis: axis " + text(v.axis) + ", value " +
                                       text(v.a) + ", extent " + text(v.b));
    case fault::mixed_spaces:
      throw error(errc::wrong_space, "ricci[R008]: host and gpu tensors in one statement");
    case fault::mixed_types:
      throw error(errc::bad_argument, std::string("ricci[R009]: two element types in one statement: ") +
                                          name_of(static_cast<dtype>(v.a)) + " and " +
                                          name_of(static_cast<dtype>(v.b)));
    case fault::bad_sum:
      throw error(errc::bad_label, "ricci[R013]: sum(label, ...) and the use of its label do not fit: " + name);
    case fault::complex_scalar:
      throw error(errc::bad_argument, "ricci[R014]: a complex coefficient in a statement of real tensors");
    case fault::bad_function:
      throw error(errc::bad_argument, "ricci[R022]: a function is taken of one real tensor");
    case fault::bad_lookup:
      throw error(errc::bad_argument, "ricci[R023]: a looked-up axis cannot stand here");
    case fault::bad_local:
    case fault::none: break;
  }
  throw error(errc::bad_label, "ricci[R015]: a local is assigned once, by labels, inside ricci::fuse" +
                                   (name.empty() ? "" : ": " + name));
}

void throw_bad_index(int axis, std::int64_t index, std::int64_t extent) {
  throw error(errc::bad_range,
              "ricci: index " + text(index) + " is outside axis " + text(axis) + " of extent " + text(extent));
}

void throw_no_memory() {
  throw error(errc::bad_argument, "ricci: a tensor has elements but no memory (null, or it was moved from)");
}

void throw_no_stride() {
  throw error(errc::bad_argument, "ricci: the first axis of an interleaved tensor has no stride; offset() says where an "
                                  "element is");
}

void throw_host_stream() {
  throw error(errc::wrong_space,
              "ricci: a statement over host tensors cannot be enqueued on a stream; run it without one");
}

void check_extents(const std::int64_t* extents, int rank) {
  for (int d = 0; d < rank; ++d)
    if (extents[d] < 0)
      throw error(errc::bad_extent, "ricci[R018]: an extent is negative: " + text(extents[d]));
}

void check_room(const std::int64_t* extents, int rank, int width, std::int64_t count) {
  check_extents(extents, rank);
  bool counted = true;
  std::int64_t size = 1;
  for (int d = 0; d < rank; ++d)
    if (extents[d] == 0) return;
  for (int d = 0; d < rank && counted; ++d) {
    std::int64_t extent = extents[d];
    if (d == 0 && width > 0) {  // whole blocks
      counted = !__builtin_add_overflow(extent, width - 1, &extent);
      extent = extent / width * width;
    }
    counted = counted && !__builtin_mul_overflow(size, extent, &size);
  }
  if (!counted || size > count)
    throw error(errc::bad_extent, "ricci: the extents of a view need " + (counted ? text(size) : "more than 2^63") +
                                      " elements, and there are " + text(count));
}

std::int64_t checked_size(const std::int64_t* extents, int rank) {
  check_extents(extents, rank);
  std::int64_t size = 1;
  for (int d = 0; d < rank; ++d)
    if (extents[d] == 0) return 0;
  for (int d = 0; d < rank; ++d)
    if (__builtin_mul_overflow(size, extents[d], &size) || size > (std::int64_t{1} << 58))
      throw error(errc::no_memory, "ricci: the tensor has more elements than memory can hold");
  return size;
}

}  // namespace ricci::detail
