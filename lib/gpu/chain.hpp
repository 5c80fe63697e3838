// Several operations as one kernel: elements share nothing, so a block takes some of them through the whole chain.
//
// A thread owns lines: for one value of every fibre label it has all values of the line label in registers, and reads
// what it multiplies by line after line. Operations over the same fibres follow each other without leaving the
// registers (a pass); passes that exchange lines through shared memory are kept apart by barriers (stages).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gpu/argument_list.hpp"
#include "gpu/cache.hpp"
#include "plan/plan.hpp"

namespace ricci::cuda {

/// The choices that do not change the result (but for rounding).
struct chain_config {
  int elements = 1;   // of a block
  int threads = 128;
  int lines = 1;      // that a thread has in hand at a time, at most
  int blocks = 1;     // on a multiprocessor that the compiler leaves registers for
  int early = 0;      // what later stages read is asked for when a block begins: 1: all, 2: every other tensor
  int unroll = 0;     // terms of a sum that are written out, if they come from shared memory; 0: all
  int turns = 1;      // groups of elements that a block takes, one after the other; 0: as many as there are for it
  int ahead = 0;      // what is copied to shared memory while the group before is computed: 1: what begins the chain, 2: all, 3: the rest
  int tensor = 0;     // products with matrices in double are the tensor cores': 1: all, 2: in passes that touch no memory, 3: and these are split for it
  int keep = 0;       // even and odd matrices are in registers: 1: from the beginning of a pass, 2: of a block
  bool deal = false;  // which thread takes which line is in tables, so that no two of half a warp meet in a bank
  bool operator==(const chain_config&) const = default;
};

/// One operation of a chain. Labels here are those within an element.
struct chain_op {
  pair_op op;
  std::vector<int> labels;  // of the result
  std::vector<int> sum;     // summed
  int line = -1;            // the label a thread has all values of; -1: none
  bool stored = true;       // the result leaves the registers
  bool tensor = false;      // made by the tensor cores, which like matrices whole
};

/// What runs between two barriers over the same fibres.
struct chain_pass {
  std::vector<int> fibre;        // outermost first: neighbouring threads differ in the last
  std::vector<int> lanes{};      // the same, or in the order that shared memory likes better
  bool by_element = false;       // which likes threads best that differ in the element
  bool element_fastest = false;  // or in the element
  int stage = 0;
  std::vector<int> ops;
  int lines = 1;                 // that a thread has in hand at a time
  bool tensor = false;           // a warp has 16 lines in hand, four threads each
  std::vector<int> order{};      // of the tasks, by thread; empty: as they are
  std::int64_t order_at = 0;     // in the block's table of them
};

/// A temporary in shared memory, or rather one element's.
struct chain_buffer {
  int temporary = 0;
  std::vector<std::int64_t> extents, strides;  // by axis
  std::int64_t size = 0, offset = 0;           // of an element, padding included; of the block's first
  int first = 0, last = 0;                     // stages
};

/// A tensor in memory that a block copies to shared memory one group of elements ahead, as it lies.
struct chain_input {
  operand source;
  std::int64_t run = 0, offset = 0;            // words of an element; of the block's first
  int first = 0, last = 0;                     // stages that read it
};

/// A factor that all elements share, in shared memory: rows of the line label's values. Of an even or odd one, half the
/// columns: first of the part that sums of mirrored values meet, then of the part that their differences meet.
struct chain_matrix {
  operand source;
  bool may_halve = false, halves = false, again = false;  // again: the second copy of one that some want whole, some in halves
  int kept = -1;          // the matrix whose halves in registers are this one's: its own, or those of its transpose
  int line = -1;
  std::vector<int> rows;  // the summed labels
  std::int64_t columns = 1, pitch = 1, count = 1, offset = 0;
};

struct chain_plan {
  dtype type = dtype::f64;
  std::vector<std::int64_t> extents;           // by label
  std::vector<int> grid;                       // labels that tell elements apart, outermost first
  std::vector<std::pair<int, std::int64_t>> digits;  // the same with neighbours fused: a label's strides, and the extent
  std::int64_t count = 1;                      // of elements
  std::vector<chain_op> ops;
  std::vector<std::vector<int>> temporaries;   // labels, grid labels among them
  std::vector<char> outside;                   // by temporary: in memory, as other kernels use it
  std::vector<chain_pass> joined, passes;      // as they are made, and as the configuration has them
  std::vector<int> split;                      // operations whose results are stored for that
  std::vector<chain_buffer> buffers;
  std::vector<chain_matrix> matrices;
  std::vector<chain_input> inputs;             // by the stage after which a block asks for the next
  std::int64_t arrivals_offset = 0;            // where the copies say that they are there
  std::int64_t order_offset = 0, order_count = 0;  // the tables of tasks: 16 bits each
  chain_config config;
  int shared_bytes = 0;
  double work = 0;                             // estimated: cycles of a multiprocessor for an element
  double flops = 0, bytes = 0, bound_seconds = 0;
};

/// A chain for operations [first, last) of the work, if they have common elements and fit on a multiprocessor.
std::optional<chain_plan> plan_chain(const planning::work& w, int first, int last, const gpu_machine& m);

/// What configurations are remembered by, and one that was measured to be the best on this kind of GPU.
std::uint64_t signature_of(const chain_plan& p);
std::optional<chain_config> measured_config(const chain_plan& p, const gpu_machine& m);

/// The best configurations by estimate, best first; set_config() makes the plan follow one.
std::vector<chain_config> chain_candidates(const chain_plan& p, const gpu_machine& m, std::size_t most = 1, const chain_config& like = {});
void set_config(chain_plan& p, const chain_config& c);

/// Fewer blocks until the compiler's registers do; nothing without a compiler.
void settle(chain_plan& p, const gpu_machine& m);

kernel_request request_of(const chain_plan& p);

/// Operands that the kernel gets pointers of, in the order of its arguments, and scalars that are known at the run.
std::vector<operand> pointers_of(const chain_plan& p);
std::vector<coefficient> scalars_of(const chain_plan& p);

/// The kernel's arguments: its pointers, then the counts, then its scalars are added in order.
class chain_args : public argument_list {
 public:
  chain_args(const chain_plan& p, int multiprocessors);
  void add_counts();
  unsigned grid() const { return static_cast<unsigned>(grid_); }

 private:
  std::int64_t counts_[2], grid_ = 1;
};

std::string to_string(const chain_config& c);
std::string to_string(const chain_plan& p);

namespace chains {

bool reads_result(const coefficient& beta);
bool is_in_memory(const chain_plan& p, const operand& x);
bool is_same(const operand& x, const operand& y);

/// The same, or known to begin at the same place.
bool is_same_memory(const operand& x, const operand& y);

/// Operands that an operation reads, its own result among them if it adds to it.
std::vector<const operand*> inputs_of(const pair_op& op);

std::int64_t product_of(const chain_plan& p, const std::vector<int>& labels);

/// Labels of an operation's result without the elements'; an operation over scalars has none.
std::vector<int> fibre_of(const chain_op& op);

/// Whether nothing is summed: one value of the line at a time will do.
bool is_elementwise(const chain_op& op);

/// The matrix that a factor of an operation is, or -1.
int matrix_of(const chain_plan& p, const chain_op& op, const operand& x);

/// Matrices that a pass has in registers: all of the kernel's, or of its own that threads read again as many as leave room
/// for lines.
std::vector<int> kept_by(const chain_plan& p, const chain_pass& pass);

/// Labels that all elements share in the operand, and how many of its axes move with the element.
bool depends_on_element(const chain_plan& p, const operand& x);

/// Whether a thread of the pass finds the temporary in the registers that an earlier operation of the pass left it in:
/// that operation, or -1.
int in_registers(const chain_plan& p, const chain_pass& pass, int op, const operand& x);

/// An access to a temporary in shared memory by the threads of a pass.
struct chain_access {
  const chain_pass* pass;
  std::vector<int> labels;  // by axis, of the element
  bool reads;
  int op;
};
std::map<int, std::vector<chain_access>> accesses_of(const chain_plan& p);

/// Strides by axis for temporaries of these extents that all accesses together like best; words of an element.
struct chain_layout {
  std::vector<std::int64_t> strides;
  std::int64_t size = 1;
  double cost = 0;
};
chain_layout choose_layout(const chain_plan& p, const std::vector<std::int64_t>& extents, const std::vector<chain_access>& all);

/// Which of the labels of a pass that reads no memory neighbouring threads differ in.
void choose_lanes(chain_plan& p);

/// Tables instead, for passes in which accesses meet in banks: the words that they take in shared memory.
std::int64_t deal_tasks(chain_plan& p);

/// Words of an element's values if elements follow each other without gaps, or 0.
std::int64_t run_of_element(const chain_plan& p, const operand& x);

/// What the configuration has copied ahead, and the input that an operand is, or -1.
void find_inputs(chain_plan& p);
int input_of(const chain_plan& p, const operand& x);

/// Whether all products of the pass are with matrices along lines, in double.
bool suits_tensor_cores(const chain_plan& p, const chain_pass& pass);

/// Steps of four terms that a sum over n takes from memory, tiles of eight, and places of a thread in n values that
/// tiles left: as in kernels/chain_tensor.cuh.
std::int64_t tiles_of(std::int64_t n);
std::int64_t places_of(std::int64_t n);

/// Inputs that are copied together: neighbours in memory's list of pointers that the same stages read.
struct input_set {
  std::size_t first = 0, count = 1;
};
std::vector<input_set> sets_of(const chain_plan& p);

/// Copies of the group `which` (a C++ expression) of a set, the wait for it before its first stage, what a block begins
/// with, and how far from a multiple of 16 bytes each input of this group begins.
std::string ask_ahead(const chain_plan& p, std::size_t set, const std::string& which);
std::string wait_ahead(const chain_plan& p, std::size_t set);
std::string begin_ahead(const chain_plan& p);
std::string shifts_text(const chain_plan& p);

/// Passes as the configuration has them: with tensor 3, products in passes that touch memory are passes of their own.
void split_passes(chain_plan& p);

/// Whether the pass reads or writes elements' tensors in memory.
bool touches_memory(const chain_plan& p, const chain_pass& pass);

/// Lines of 128 bytes that a warp touches when it reads one element each.
int lines_touched(const chain_plan& p, const chain_pass& pass, const operand& x, std::int64_t elements);

/// Lines and passes for the operations as they stand, and the estimate.
bool make_passes(chain_plan& p);

/// Sums of several products into memory are made in a temporary and stored once.
void gather_sums(chain_plan& p);

/// Copies through shared memory for operands that threads would read or write far apart.
void add_copies(chain_plan& p);

}  // namespace chains
}  // namespace ricci::cuda
