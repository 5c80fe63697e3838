// Writes one pass of a chain: a loop over tasks, in it products along lines and runs of elementwise operations.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gpu/chain.hpp"

namespace ricci::cuda::chains {

inline std::string num(std::int64_t x) { return std::to_string(x); }

/// Declares the matrices in registers and reads them.
std::string kept_text(const chain_plan& p, const std::vector<int>& matrices);

/// Stands in the tables for a thread that takes no task.
inline constexpr int no_task = 0xffff;

/// The kernel's tables of tasks in memory.
std::string orders_table(const chain_plan& p);

/// Copies them and the matrices that all elements share to shared memory.
std::string matrices_text(const chain_plan& p);

/// Asks for what later stages read, or, if `begins`, for what the first one reads: of the group of elements that a C++
/// expression tells, else of this one.
std::string early_text(const chain_plan& p, bool begins, const std::string& group = "");

class pass_writer {
 public:
  pass_writer(const chain_plan& p, const chain_pass& pass);
  std::string text();

 private:
  const chain_op& op(int n) const { return p_.ops[static_cast<std::size_t>(n)]; }
  std::string place_text(int r) const;
  std::string tensor_text();
  std::string tensor_sum(int n);
  std::string ops_text();
  std::string each_line(std::int64_t length) const;
  std::string index() const { return pass_.tensor ? "at" : "l"; }  // of a line's value in registers
  std::string sum_text(int n);
  std::string halves_text(int n, const chain_matrix& m, const operand& other);
  std::string add_text(const chain_matrix& m) const;
  std::string sum_body(int n, std::string& before);
  std::string finish_sum(int n, std::string& before);
  std::string run_text(const std::vector<int>& ops);
  std::string run_value(int n, int r, const std::vector<int>& ops, std::string& before, std::string& loads);
  std::string read_in_run(int n, const operand& x, int r, const std::vector<int>& ops, std::string& before, std::string& loads);
  std::string pointwise_value(int n, int r, const std::vector<int>& ops, std::string& before, std::string& loads);
  bool used_later(int n, const std::vector<int>& but) const;
  std::string array(int n) const;

  std::string base(const std::string& type, const std::string& value, std::string& before);
  std::string fibre_base(const operand& x, int r, std::string& before);
  std::string rest(const operand& x, int line) const;
  std::string value(int n, const operand& x, int r, std::string& before);
  std::string row_of(const chain_op& x, const operand& m, const chain_matrix& y) const;
  std::string scalar(const coefficient& c) const;
  std::string scaled(const coefficient& c, const std::string& x) const;
  std::string store(int n, int r, const std::string& x, std::string& before);
  const chain_buffer& buffer_of(const operand& x) const;
  int pointer_of(const operand& x) const;

  const chain_plan& p_;
  const chain_pass& pass_;
  std::int64_t fibres_ = 1, tasks_ = 1;
  int lines_ = 1;
  std::map<std::string, std::string> bases_;  // name by value
  std::map<std::string, std::string> loads_;  // of a run: name by value
};

}  // namespace ricci::cuda::chains
