// Plain loops over a program: the oracle of the tests, and the meaning of every field of program.hpp.
#pragma once

#include <ricci/program/program.hpp>

namespace ricci {

/// What the reference computed for one statement: for every element of the left side, in row-major order of
/// left.axes, its value and the sum of absolute values that rounding errors are judged against.
struct reference_result {
  std::vector<std::complex<long double>> value;
  std::vector<long double> magnitude;  // |old left| + sum |alpha| |a| |b| ...
  std::int64_t terms = 0;              // most additions behind one element
};

/// Evaluates one statement that has no locals, in long double; writes nothing. Cost: all labels nested.
reference_result evaluate(const program& p, int statement, const bindings& b);

/// Evaluates all statements in order, locals included, and stores what is not local. Each element carries a bound of
/// the rounding errors of a computation in the program's type, in units of its epsilon: reference_result::magnitude.
std::vector<reference_result> evaluate_all(const program& p, const bindings& b);

/// Stores a result into the left side, rounded to its type.
void store(const program& p, int statement, const bindings& b, const reference_result& r);

}  // namespace ricci
