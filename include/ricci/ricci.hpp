// ricci: tensor contractions in index notation. This header is the whole front end.
#pragma once

#if __cplusplus < 202002L
#error "ricci needs C++20: -std=c++20, or target_compile_features(... cxx_std_20)"
#else

#include <ricci/index/subscript.hpp>  // these first, so that compilers tell of few includes where a label or an expression is wrong
#include <ricci/expr/access.hpp>
#include <ricci/expr/nodes.hpp>

#include <ricci/analysis/diagnostics.hpp>
#include <ricci/analysis/misuse.hpp>
#include <ricci/batch/gemm.hpp>
#include <ricci/batch/interleave.hpp>
#include <ricci/einsum/einsum.hpp>
#include <ricci/einsum/static.hpp>
#include <ricci/expr/even_odd.hpp>
#include <ricci/expr/functions.hpp>
#include <ricci/expr/local.hpp>
#include <ricci/expr/no_functions.hpp>
#include <ricci/expr/operators.hpp>
#include <ricci/expr/print.hpp>
#include <ricci/expr/statement.hpp>
#include <ricci/index/letters.hpp>
#include <ricci/lower/plan.hpp>
#include <ricci/tensor/copy.hpp>
#include <ricci/tensor/make_view.hpp>
#include <ricci/tensor/print.hpp>
#include <ricci/tensor/tensor.hpp>

#endif
