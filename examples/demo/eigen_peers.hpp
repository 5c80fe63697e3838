// The same operations written with Eigen, as well as Eigen allows. Compiled for the processor that builds the demo.
#pragma once

#include <cstdint>
#include <string>

namespace demo::peers {

/// "Eigen 3.4.0", and the instruction sets that it uses.
std::string name();

// Where there are several ways to write an operation in Eigen, the demo takes the fastest.

/// A(i,j,1+m,1+n) -= A(i,k,1+m,0) * A(k,j,0,1+n) on a row-major 64 x 64 x 9 x 8 block: the loops over m and n, or one
/// large product between a gather and a scatter.
void statement_loops(double* a);
void statement_gathered(double* a);

/// w(e,q,r,s) = B(q,i) B(r,j) B(s,k) u(e,i,j,k); degree + 1 nodes, degree + 2 points in each direction, degree 1 to 8.
void interpolate_axes(int degree, std::int64_t elements, const double* b, const double* u, double* w);
void interpolate_turning(int degree, std::int64_t elements, const double* b, const double* u, double* w);

/// v(e,a,b,c) = B(q,a) B(r,b) B(s,c) D(e,q,r,s) B(q,i) B(r,j) B(s,k) u(e,i,j,k).
void mass_axes(int degree, std::int64_t elements, const double* b, const double* d, const double* u, double* v);
void mass_turning(int degree, std::int64_t elements, const double* b, const double* d, const double* u, double* v);

/// Sizes of a convolution: images, channels in, filters (channels out), height and width of an image, filter width.
struct convolution_shape {
  int images, channels, filters, height, width, taps;
  int rows() const { return height - taps + 1; }
  int columns() const { return width - taps + 1; }
};

/// O(b,f,y,x) = F(f,c,p,q) I(b,c,y+p,x+q), everything row-major: unfolds (im2col) as many rows of an image as need
/// `bytes` of memory, then multiplies.
void convolve(std::int64_t bytes, const convolution_shape& shape, const float* filters, const float* images,
              float* out);

/// C = A B, row-major m x k and k x n.
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, const double* a, const double* b, double* c);

}  // namespace demo::peers
