// FEEvaluation over batches of cells, as deal.II's tutorials write it, on a global vector or on the values of each element;
// degree and points are known when this is compiled.
#include "dealii_peer.hpp"

#include <deal.II/base/multithread_info.h>
#include <deal.II/base/quadrature_lib.h>
#include <deal.II/dofs/dof_handler.h>
#include <deal.II/dofs/dof_tools.h>
#include <deal.II/fe/fe_q.h>
#include <deal.II/fe/mapping_q1.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_tools.h>
#include <deal.II/grid/tria.h>
#include <deal.II/lac/affine_constraints.h>
#include <deal.II/lac/la_parallel_vector.h>
#include <deal.II/matrix_free/evaluation_template_factory.templates.h>
#include <deal.II/matrix_free/fe_evaluation.h>
#include <deal.II/matrix_free/matrix_free.h>
#include <deal.II/matrix_free/matrix_free.templates.h>
#include <deal.II/matrix_free/mapping_info.templates.h>
#include <deal.II/matrix_free/shape_info.templates.h>

#include <cmath>
#include <cstdlib>

// Faces and hanging nodes, which these operators do not have, would be compiled for every degree.
namespace dealii::internal {

using wide = VectorizedArray<double>;
template <>
void FEFaceEvaluationFactory<3, wide>::evaluate(unsigned, EvaluationFlags::EvaluationFlags, const wide*, FEEvaluationData<3, wide, true>&) {
  std::abort();
}
template <>
void FEEvaluationHangingNodesFactory<3, double, wide>::apply(unsigned, unsigned, const MatrixFreeFunctions::ShapeInfo<wide>&, bool,
                                                             const std::array<MatrixFreeFunctions::compressed_constraint_kind, wide::size()>&, wide*) {
  std::abort();
}

}  // namespace dealii::internal

namespace peer {
namespace {

using namespace dealii;
using lanes_type = VectorizedArray<double>;
using matrix_free = MatrixFree<3, double, lanes_type>;
using vector = LinearAlgebra::distributed::Vector<double>;

/// Everything that does not depend on the degree at compile time.
class base : public dealii_operator {
 public:
  base(bool mass, bool nodes, int degree, int side, corner_map place) : dofs_(cube_), fe_(static_cast<unsigned>(degree)) {
    MultithreadInfo::set_thread_limit(1);
    GridGenerator::subdivided_hyper_cube(cube_, static_cast<unsigned>(side));
    dofs_.distribute_dofs(fe_);
    number_nodes(degree, side);
    number_elements(side);
    GridTools::transform(
        [&](const Point<3>& p) {
          const auto [x, y, z] = place(p[0], p[1], p[2]);
          return Point<3>(x, y, z);
        },
        cube_);
    AffineConstraints<double> none;
    none.close();
    matrix_free::AdditionalData options;
    options.tasks_parallel_scheme = matrix_free::AdditionalData::none;
    options.mapping_update_flags = (mass ? update_values : update_gradients) | update_JxW_values;
    const auto n = static_cast<unsigned>(degree);
    const Quadrature<1> points = nodes ? Quadrature<1>(QGaussLobatto<1>(n + 1)) : Quadrature<1>(QGauss<1>(n + 2));
    data_.reinit(MappingQ1<3>(), dofs_, none, points, options);
    data_.initialize_dof_vector(x_), data_.initialize_dof_vector(y_);
  }

  void set(const double* x) override {
    for (std::size_t n = 0; n < node_.size(); ++n) x_.local_element(static_cast<unsigned>(n)) = x[node_[n]];
    y_ = 0;
  }
  std::vector<double> result() const override {
    std::vector<double> out(node_.size());
    for (std::size_t n = 0; n < node_.size(); ++n) out[node_[n]] = y_.local_element(static_cast<unsigned>(n));
    return out;
  }
  long elements() const override { return data_.n_physical_cells(); }

 protected:
  /// Element after element, z slowest: where a cell of a batch is.
  std::size_t element(unsigned batch, unsigned lane) const { return element_[data_.get_cell_iterator(batch, lane)->active_cell_index()]; }

  matrix_free data_;
  vector x_, y_;

 private:
  /// By the centres of cells in the cube before that is deformed.
  void number_elements(int side) {
    element_.resize(cube_.n_active_cells());
    for (const auto& cell : cube_.active_cell_iterators()) {
      const Point<3> at = cell->center();
      const auto n = [&](int d) { return static_cast<std::size_t>(at[static_cast<unsigned>(d)] * side); };
      element_[cell->active_cell_index()] = (n(2) * static_cast<std::size_t>(side) + n(1)) * static_cast<std::size_t>(side) + n(0);
    }
  }

  /// Where every unknown is in the lattice, from its support point in the cube before that is deformed.
  void number_nodes(int degree, int side) {
    std::vector<Point<3>> at(dofs_.n_dofs());
    DoFTools::map_dofs_to_support_points(MappingQ1<3>(), dofs_, at);
    const std::vector<Point<1>> points = QGaussLobatto<1>(static_cast<unsigned>(degree) + 1).get_points();
    const auto place_of = [&](double x) {
      const int element = std::min(side - 1, static_cast<int>(x * side + 1e-9));
      int nearest = 0;
      for (int i = 0; i <= degree; ++i)
        if (std::abs(x * side - element - points[i][0]) < std::abs(x * side - element - points[nearest][0])) nearest = i;
      return static_cast<std::size_t>(element * degree + nearest);
    };
    const auto line = static_cast<std::size_t>(side * degree + 1);
    for (const Point<3>& p : at) node_.push_back((place_of(p[2]) * line + place_of(p[1])) * line + place_of(p[0]));
  }

  Triangulation<3> cube_;
  DoFHandler<3> dofs_;
  FE_Q<3> fe_;
  std::vector<std::size_t> node_, element_;
};

/// What is done at the points of a batch.
template <bool Mass, class Evaluation> void apply(Evaluation& u) {
  for (unsigned q = 0; q < u.n_q_points; ++q) {
    if constexpr (Mass) u.submit_value(u.get_value(q), q);
    else u.submit_gradient(u.get_gradient(q), q);
  }
}
template <bool Mass> constexpr auto what = Mass ? EvaluationFlags::values : EvaluationFlags::gradients;

/// From the values of each element to those of each element, batches side by side. Only whole batches, if there is one.
template <int Degree, int Points, bool Mass> class elements_alone : public base {
 public:
  elements_alone(bool mass, bool nodes, int degree, int side, corner_map place) : base(mass, nodes, degree, side, place) {
    while (whole_ < data_.n_cell_batches() && data_.n_active_entries_per_cell_batch(whole_) == lanes_type::size()) ++whole_;
    if (whole_ == 0) whole_ = data_.n_cell_batches();
    u_.resize(whole_ * values), v_.resize(whole_ * values);
  }
  void run() override {
    FEEvaluation<3, Degree, Points, 1, double, lanes_type> u(data_);
    for (unsigned batch = 0; batch < whole_; ++batch) {
      u.reinit(batch);
      u.evaluate(&u_[batch * values], what<Mass>);
      apply<Mass>(u);
      u.integrate(what<Mass>, &v_[batch * values]);
    }
  }
  void set(const double* x) override {
    for_each([&](std::size_t at, std::size_t element, unsigned lane) { u_[at][lane] = x[element]; });
  }
  std::vector<double> result() const override {
    std::vector<double> out(static_cast<std::size_t>(data_.n_physical_cells()) * values, std::nan(""));
    for_each([&](std::size_t at, std::size_t element, unsigned lane) { out[element] = v_[at][lane]; });
    return out;
  }
  long elements() const override {
    long count = 0;
    for (unsigned batch = 0; batch < whole_; ++batch) count += data_.n_active_entries_per_cell_batch(batch);
    return count;
  }

 private:
  static constexpr std::size_t values = (Degree + 1) * (Degree + 1) * (Degree + 1);

  template <class F> void for_each(const F& f) const {
    for (unsigned batch = 0; batch < whole_; ++batch)
      for (unsigned lane = 0; lane < data_.n_active_entries_per_cell_batch(batch); ++lane)
        for (std::size_t d = 0; d < values; ++d) f(batch * values + d, element(batch, lane) * values + d, lane);
  }

  unsigned whole_ = 0;
  AlignedVector<lanes_type> u_, v_;
};

template <int Degree, int Points, bool Mass> class whole : public base {
 public:
  using base::base;
  void run() override { data_.cell_loop(&whole::cells, this, y_, x_); }

 private:
  void cells(const matrix_free& data, vector& y, const vector& x, const std::pair<unsigned, unsigned>& range) const {
    FEEvaluation<3, Degree, Points, 1, double, lanes_type> u(data);
    for (unsigned cell = range.first; cell < range.second; ++cell) {
      u.reinit(cell);
      u.gather_evaluate(x, what<Mass>);
      apply<Mass>(u);
      u.integrate_scatter(what<Mass>, y);
    }
  }
};

template <int Degree = 1> dealii_operator* make(const std::string& name, int degree, int side, corner_map place) {
  if constexpr (Degree <= 8) {
    if (degree != Degree) return make<Degree + 1>(name, degree, side, place);
    if (name == "BP1") return new whole<Degree, Degree + 2, true>(true, false, degree, side, place);
    if (name == "BP3") return new whole<Degree, Degree + 2, false>(false, false, degree, side, place);
    if (name == "BP5") return new whole<Degree, Degree + 1, false>(false, true, degree, side, place);
    if (name == "BK1") return new elements_alone<Degree, Degree + 2, true>(true, false, degree, side, place);
    if (name == "BK3") return new elements_alone<Degree, Degree + 2, false>(false, false, degree, side, place);
    if (name == "BK5") return new elements_alone<Degree, Degree + 1, false>(false, true, degree, side, place);
  }
  return nullptr;
}

}  // namespace
}  // namespace peer

extern "C" peer::dealii_operator* ricci_bench_make_dealii(const char* name, int degree, int side, peer::corner_map place) {
  return peer::make<>(name, degree, side, place);
}
