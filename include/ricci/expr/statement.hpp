// A statement as a value: what `assign`, `add` and `subtract` make, and `plan` and `fuse` take.
#pragma once

#include <ricci/core/error.hpp>
#include <ricci/expr/nodes.hpp>

namespace ricci {

/// left op right; nothing has run. Holds views: good as long as its tensors live.
template <update Op, class Left, class Right>
class [[nodiscard("a statement runs by ricci::plan or ricci::fuse")]] statement_of {
 public:
  static constexpr bool ricci_statement = true;
  static constexpr update op = Op;
  using left_type = Left;
  using right_type = Right;

  constexpr statement_of(const Left& left_side, const Right& right_side) : left(left_side), right(right_side) {}
  constexpr statement_of(const statement_of&) = default;
  statement_of& operator=(const statement_of&) = delete;  // member by member, it would run
  constexpr void put(detail::sink& to) const {
    left.put(to);
    right.put(to);
  }

  Left left;
  Right right;
};

namespace detail {

template <update Op, class Left, class Right>
constexpr auto make_statement(const Left& left, const Right& right) {
  return statement_of<Op, Left, node_of<Right>>(left, node(right));
}

[[noreturn]] void throw_host_stream();

}  // namespace detail

/// A CUDA stream's handle. Only statements over GPU tensors can be enqueued on it.
class stream {
 public:
  constexpr stream() = default;
  constexpr explicit stream(void* handle) : handle_(handle) {}
  constexpr void* handle() const { return handle_; }

 private:
  void* handle_ = nullptr;
};

namespace detail {

/// What C(i,j).on(stream) gives; host tensors have no streams, and that is said when the statement would run.
template <class Access>
class enqueued {
 public:
  constexpr enqueued(const Access& left, const stream& on) : left_(left), on_(on) {}
  constexpr enqueued(const enqueued&) = default;
  enqueued& operator=(const enqueued&) = delete;
  template <right_side E>
  void operator=(const E& right) const { enqueue<update::assign>(right); }
  template <right_side E>
  void operator+=(const E& right) const { enqueue<update::add>(right); }
  template <right_side E>
  void operator-=(const E& right) const { enqueue<update::subtract>(right); }
  template <right_side E>
  void operator*=(const E& right) const { enqueue<update::assign>(left_ * right); }
  template <right_side E>
  void operator/=(const E& right) const { enqueue<update::assign>(left_ / right); }

 private:
  template <update Op, class E>
  void enqueue(const E& right) const {
    if constexpr (Access::shape_type::space == memory_space::host) throw_host_stream();
    else run_statement<Op>(left_, right, on_.handle());
  }
  Access left_;
  stream on_;
};

}  // namespace detail
}  // namespace ricci
