// The cases of the demo. Each checks and measures one kind of contraction and prints its table.
#pragma once

#include "report.hpp"

namespace demo {

/// A(i,j,m:1..8,n:1..7) -= A(i,k,m,0) A(k,j,0,n): parts of one tensor, no copies.
void show_statement(const settings& s);

/// Interpolation to quadrature points and the mass operator of the finite element method, degree 1 to 8.
/// Returns the text of the interpolation's plan of degree 4.
std::string show_fem(const settings& s);

/// Images with filters; the images are seen through a view with overlapping strides.
void show_convolution(const settings& s);

/// R(i,j,k,l) = T(i,j,m,n) V(m,n,k,l), the costliest term of coupled-cluster methods.
void show_coupled_cluster(const settings& s);

}  // namespace demo
