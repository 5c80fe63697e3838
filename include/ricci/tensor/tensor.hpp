// The owning tensor.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <type_traits>

#include <ricci/core/memory.hpp>
#include <ricci/core/types.hpp>
#include <ricci/index/subscript.hpp>
#include <ricci/tensor/view.hpp>

namespace ricci {

template <element T> class ndarray;  // einsum/ndarray.hpp

namespace detail {

/// Zeroed memory of the GPU for `count` elements of `bytes` each. Errors: no_gpu, no_memory, gpu_failed.
void* allocate_gpu(std::int64_t count, std::int64_t bytes);
void release_gpu(void* memory) noexcept;
void fill_gpu(void* memory, std::int64_t count, std::int64_t bytes, const void* element);

/// `count` elements between host and GPU memory, complete on return. Errors: no_gpu, gpu_failed, wrong_space.
void copy_memory(void* to, bool to_gpu, const void* from, bool from_gpu, std::int64_t count, std::int64_t bytes);

/// Product of extents. Errors: bad_extent if one is negative, no_memory if it cannot be counted in 64 bits.
std::int64_t checked_size(const std::int64_t* extents, int rank);

struct with_extents {};
inline constexpr with_extents with_dynamic_extents{};

template <class Tensor> struct temporary_tensor;           // analysis/diagnostics.hpp
template <class Left> struct not_from_einsum;              // analysis/diagnostics.hpp
template <class Tensor, class Given> struct not_made_from;  // analysis/misuse.hpp
template <class Left> struct list_of_elements;              // the same
struct broken_node;                                         // expr/nodes.hpp; it becomes what is wanted
template <class E> struct value_of;                         // the same; void: it is no number

/// A tensor, a std::vector, a matrix of another library.
template <class X>
concept numbers_like = has_shape<X> || element_list<X> || matrix_like<X>;

/// What is taken as a constructor's argument only to say that it is none: numbers with a fraction, labels, pointers, texts.
template <class N>
concept extent_like = extent_number<N> || std::is_arithmetic_v<N> || is_labelled<N> || std::is_pointer_v<N>;

}  // namespace detail

/// A tensor that owns its memory: `tensor<double, 64, ricci::dynamic, 8> A(n);`
///
/// Options   extents (integers or `dynamic`), `gpu`, `row_major` (the default: last axis fastest), `column_major`,
///           `interleaved<8>` (the first axis counts problems; eight of them side by side), on the GPU too.
///           Dynamic extents are the constructor's arguments, in order.
/// Memory    64-byte aligned, zero-initialised. In a moved-from tensor every dynamic extent is 0; with static extents alone
///           it has no memory, and what asks for its elements is bad_argument (of A(1, 2) in debug builds).
///           A gpu tensor's memory is on the GPU of the thread's current CUDA context, else the first; data() is a
///           device pointer and elements are reached through ricci::copy.
/// Errors    bad_extent (negative), no_memory, no_gpu.
template <class T, auto... Options>
class tensor {
 public:
  using element_type = T;
  using value_type = T;
  using shape_type = detail::shape<Options...>;
  using view_type = tensor_view<T, Options...>;
  using const_view_type = tensor_view<const T, Options...>;
  static_assert(sizeof(detail::sound_element<T>) > 0);
  static_assert(shape_type::order != detail::layout::strided,
                "ricci: a tensor owns dense memory; strided is for views");

  tensor() requires(shape_type::dynamic_count == 0) { acquire(); }
  template <int Given = 0>
    requires(shape_type::dynamic_count > Given)
  tensor() { static_cast<void>(sizeof(detail::extent_arguments<shape_type::dynamic_count, Given>)); }

  template <class... N>
    requires(sizeof...(N) > 0 && (detail::extent_like<N> && ...))
  explicit tensor(N... extents) {
    if constexpr (!(detail::extent_number<N> && ...))
      detail::first_not_an_extent<N...>();
    else if constexpr (sizeof...(N) != shape_type::dynamic_count)
      static_cast<void>(sizeof(detail::extent_arguments<shape_type::dynamic_count, sizeof...(N)>));
    else {
      int n = 0;
      ((numbers_[n++] = static_cast<std::int64_t>(extents)), ...);
      acquire();
    }
  }

  /// From all extents; the static ones are taken from the type.
  template <class... N>
  tensor(detail::with_extents, N... extents) {
    const std::int64_t all[] = {extents...};
    for (int d = 0; d < rank(); ++d)
      if (shape_type::list.number[d] >= 0) numbers_[shape_type::list.number[d]] = all[d];
    acquire();
  }

  /// C = einsum("ij,jk->ik", A, B): the rank of that is known at run time only.
  template <element U>
  tensor(const ndarray<U>&) { static_cast<void>(sizeof(detail::not_from_einsum<tensor>)); }

  /// tensor<double, 3> y = x(i); y(other), y(v) of a std::vector; elements in braces.
  template <class E>
    requires(requires { E::ricci_expression; } && !std::is_same_v<E, detail::broken_node> && std::is_void_v<typename detail::value_of<E>::type>)
  tensor(const E&) { if constexpr (!E::size.broken) static_cast<void>(sizeof(detail::not_made_from<tensor, E>)); }
  template <class X>
    requires(detail::numbers_like<X> && !std::is_convertible_v<const X&, tensor>)
  explicit tensor(const X&) { static_cast<void>(sizeof(detail::not_made_from<tensor, X>)); }
  template <class E>
  explicit tensor(std::initializer_list<std::initializer_list<E>>) { static_cast<void>(sizeof(detail::list_of_elements<tensor>)); }

  tensor(const tensor& other) {
    if (!other.data_) return;  // moved from
    copy_numbers(other);
    acquire();
    copy_elements(other);
  }
  tensor(tensor&& other) noexcept { take(other); }
  /// Copies extents and elements; the memory is kept where it is as large, with what fills up an interleaved block.
  tensor& operator=(const tensor& other) {
    if (this == &other) return *this;
    if (!data_ || !other.data_ || view().memory_size() != other.view().memory_size()) return *this = tensor(other);
    copy_numbers(other);
    copy_elements(other);
    return *this;
  }
  tensor& operator=(tensor&& other) noexcept {
    if (this == &other) return *this;
    T* const mine = data_;
    take(other);
    give_back(mine);
    return *this;
  }
  /// C = A(i,k) * B(k,j): the left side has no labels.
  template <class E>
    requires requires { E::ricci_expression; }
  tensor& operator=(const E&) {
    if constexpr (!E::size.broken) static_cast<void>(sizeof(detail::without_labels<tensor>));
    return *this;
  }
  /// z = x, x of another type or a view: that is a statement, z(i) = x(i). z = 2 is z.fill(2).
  template <class X>
    requires(detail::has_shape<X> || std::is_arithmetic_v<X> || std::is_same_v<X, T> || (detail::numbers_like<X> && !std::is_convertible_v<const X&, tensor>))
  tensor& operator=(const X&) {
    static_cast<void>(sizeof(detail::assigned_without_labels<tensor, X>));
    return *this;
  }
  /// z = {1, 2, 3}.
  template <class E>
  tensor& operator=(std::initializer_list<E>) {
    static_cast<void>(sizeof(detail::list_of_elements<tensor>));
    return *this;
  }
  ~tensor() { give_back(data_); }

  static constexpr int rank() { return shape_type::rank; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  std::int64_t extent(int d) const { return view().extent(d); }
  std::int64_t stride(int d) const { return view().stride(d); }
  std::int64_t size() const { return view().size(); }
  std::int64_t offset(const std::int64_t* at) const { return view().offset(at); }
  std::int64_t block() const { return view().block(); }

  view_type view() { return view_type(data_, numbers_); }
  const_view_type view() const { return const_view_type(data_, numbers_); }

  /// Integers and constants alone: the element (checked in debug builds). With labels: an access expression.
  template <class... S>
  decltype(auto) operator()(const S&... subscripts) & { return detail::subscript(view(), subscripts...); }
  template <class... S>
  decltype(auto) operator()(const S&... subscripts) const& { return detail::subscript(view(), subscripts...); }
  /// Expressions hold views; a view of a temporary would dangle. Its elements may be read.
  template <class... S>
  decltype(auto) operator()(const S&... subscripts) const&& {
    if constexpr (sizeof...(S) == shape_type::rank && (std::is_integral_v<S> && ...))
      return static_cast<T>(detail::subscript(view(), subscripts...));
    else {
      static_cast<void>(sizeof(detail::temporary_tensor<tensor>));
      return detail::subscript(view(), subscripts...);
    }
  }

  void fill(const T& x) {
    detail::check_memory(*this);
    if constexpr (is_gpu) detail::fill_gpu(data_, view().memory_size(), sizeof(T), &x);
    else
      for (T& e : *this) e = x;
  }

  /// All elements in memory order; of an interleaved tensor in row-major index order.
  auto begin() { return first<T>(*this); }
  auto end() { return last<T>(*this); }
  auto begin() const { return first<const T>(*this); }
  auto end() const { return last<const T>(*this); }

 private:
  static constexpr bool is_interleaved = shape_type::width > 0;
  static constexpr bool is_gpu = shape_type::space == memory_space::gpu;
  static void give_back(T* memory) {
    auto* const mine = const_cast<std::remove_const_t<T>*>(memory);  // T is const where that was reported
    if constexpr (is_gpu) detail::release_gpu(mine);
    else detail::release(mine);
  }
  template <class E, class Self>
  static auto first(Self& self) {
    if constexpr (!is_gpu) detail::check_memory(self);
    if constexpr (is_interleaved && !is_gpu) return self.view().begin();
    else return static_cast<E*>(self.data_);
  }
  template <class E, class Self>
  static auto last(Self& self) {
    if constexpr (!is_gpu) detail::check_memory(self);
    if constexpr (is_interleaved && !is_gpu) return self.view().end();
    else return static_cast<E*>(self.data_) + self.host_size();
  }

  /// Whole blocks of no more problems than this can be counted; what is beyond it is too large without them.
  static constexpr std::int64_t most_problems = std::numeric_limits<std::int64_t>::max() - shape_type::width;
  std::int64_t host_size() const { return is_gpu ? 0 : view().memory_size(); }
  void acquire() {
    std::int64_t extents[shape_type::rank > 0 ? shape_type::rank : 1]{};
    for (int d = 0; d < rank(); ++d) extents[d] = extent(d);
    if constexpr (is_interleaved)
      if (extents[0] > 0 && extents[0] <= most_problems) extents[0] = ((extents[0] - 1) / shape_type::width + 1) * shape_type::width;
    const std::int64_t count = detail::checked_size(extents, rank());
    if constexpr (is_gpu) data_ = static_cast<T*>(detail::allocate_gpu(count, sizeof(T)));
    else data_ = static_cast<T*>(detail::allocate(static_cast<std::size_t>(count) * sizeof(T), 64, true, "a tensor"));
  }
  void take(tensor& other) {
    data_ = other.data_;
    copy_numbers(other);
    other.data_ = nullptr;
    for (std::int64_t& extent : other.numbers_) extent = 0;
  }
  void copy_numbers(const tensor& other) {
    for (int n = 0; n < shape_type::dynamic_count; ++n) numbers_[n] = other.numbers_[n];
  }
  void copy_elements(const tensor& other) {
    if constexpr (is_gpu) detail::copy_memory(data_, true, other.data_, true, view().memory_size(), sizeof(T));
    const std::int64_t count = host_size();
    for (std::int64_t e = 0; e < count; ++e) data_[e] = other.data_[e];
  }

  T* data_ = nullptr;
  std::int64_t numbers_[shape_type::dynamic_count > 0 ? shape_type::dynamic_count : 1]{};
};

}  // namespace ricci
