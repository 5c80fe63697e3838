// A compiler for this CPU builds the kernels: RICCI_HOST_COMMAND, to which tests/gpu/host/kernels.hpp is known.
#include "host_gpu.hpp"

#include <dlfcn.h>
#include <stdlib.h>

#include <algorithm>
#include <complex>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "build_program.hpp"
#include "gpu/kernel_texts.hpp"

namespace ricci::test {
namespace {

constexpr cuda::alignments aligned{16, 16, 16}, unaligned{2, 2, 2};

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) text.replace(at, what.size(), by);
  return text;
}

/// A header of the library without what it includes, but for what the kernel's text configures too.
std::string header(const std::string& name) {
  const auto* const at = std::find(cuda::kernel_text_names, cuda::kernel_text_names + cuda::kernel_text_count, name);
  std::istringstream lines(cuda::kernel_texts[at - cuda::kernel_text_names]);
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    if (line == "#include \"small_bulk.cuh\"") text += header("small_bulk.cuh");
    else if (line == "#include \"turn_pairs.cuh\"") text += header("turn_pairs.cuh");
    else if (line[0] != '#' || line.find("unroll") != line.npos) text += line + "\n";
  }
  return text;
}

/// A kernel's text in a namespace of its own, with a function that launches it. Headers that the text configures go with it.
std::string wrapped(const std::string& text, std::size_t n) {
  const std::string space = "kernel_" + std::to_string(n);
  std::string body = replaced(replaced(text, "#include \"chain.cuh\"\n", ""), "#include \"functions.cuh\"\n", "");
  std::string name = body.find(" elementwise(") == body.npos ? "chain" : "elementwise";
  for (const char* const own : {"general", "permute", "turn", "window", "small", "panel"}) {
    const std::string line = std::string("#include \"") + own + ".cuh\"\n";
    if (text.find(line) == text.npos) continue;
    name = own;
    body = replaced(replaced(body, line, header(name + ".cuh")), "__shared__ W", "static W");
  }
  body = replaced(body, "*reinterpret_cast<const u32*>(at(b, r, shift))", "host::word(at(b, r, shift))");
  body = replaced(body, "*reinterpret_cast<const u32*>(pair)", "host::word(pair)");
  body = replaced(body, "extern __shared__ __align__(16) char shared[];", "char* const shared = reinterpret_cast<char*>(pool);");
  body = replaced(body, "extern \"C\" ", "static ");
  return "namespace " + space + " {\nuint4 pool[16384];\n" + body + "void call(void* args) { " + name + "(*static_cast<" + name + "_args*>(args)); }\n}\n" +
         "extern \"C\" void launch_" + std::to_string(n) + "(void* args, unsigned grid, unsigned threads, bool reverse) {\n  host::launch(grid, threads, reverse, " +
         space + "::pool, sizeof " + space + "::pool, " + space + "::call, args);\n}\n";
}

std::complex<double> scalar(const coefficient& c, const bindings& b) {
  std::complex<double> x = c.base;
  if (c.scalar >= 0) x *= b.scalars[c.scalar];
  for (const auto& [slot, sign] : c.more) x += sign * b.scalars[slot];
  return x;
}

/// One contraction, every label a loop.
void contract(const pair_op& op, const program& source, const std::vector<void*>& pointers, const bindings& b) {
  std::vector<int> labels = op.c.labels, sums;
  for (const operand* x : {&op.a, &op.b})
    for (const int l : x->labels)
      if (!contains(labels, l) && !contains(sums, l)) sums.push_back(l);
  std::vector<std::int64_t> at(source.labels.size(), 0);
  const auto extent = [&](int l) { return source.labels[static_cast<std::size_t>(l)].extent; };
  const auto next = [&](const std::vector<int>& over) {
    for (std::size_t d = over.size(); d-- > 0; at[static_cast<std::size_t>(over[d])] = 0)
      if (++at[static_cast<std::size_t>(over[d])] < extent(over[d])) return true;
    return false;
  };
  const auto place = [&](const operand& x) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < x.labels.size(); ++d) offset += at[static_cast<std::size_t>(x.labels[d])] * x.strides[d];
    return offset;
  };
  const auto read = [&](const operand& x, int which) -> std::complex<double> {
    if (x.where == operand::kind::one) return 1;
    const auto y = get(x.type, pointers[static_cast<std::size_t>(which)], place(x));
    return x.conj ? std::conj(y) : y;
  };
  do {
    std::complex<double> sum = 0;
    do sum += read(op.a, 0) * read(op.b, 1);
    while (next(sums));
    const std::complex<double> beta = scalar(op.beta, b);
    sum *= scalar(op.alpha, b);
    if (beta != 0.0) sum += beta * get(op.c.type, pointers[2], place(op.c));
    put(op.c.type, pointers[2], place(op.c), sum);
  } while (next(labels));
}

}  // namespace

bool host_gpu::runs(const cuda::step_plan& p) const {
  const cuda::step_passes passes = passes_of(p);
  return std::all_of(passes.begin(), passes.end(), [&](const cuda::step_pass& x) { return runs_alone(*x.plan); });
}

bool host_gpu::runs_alone(const cuda::step_plan& p) const {
  if (p.kind == cuda::kernel_kind::panel) return small_ && p.panel.teams == 1;
  return p.kind == cuda::kernel_kind::general || p.kind == cuda::kernel_kind::permute || p.kind == cuda::kernel_kind::window || (small_ && p.kind == cuda::kernel_kind::small && p.config.compute != cuda::arithmetic::wgmma_16);
}

host_gpu::~host_gpu() {
  if (library_) dlclose(library_);
}

void host_gpu::add(const cuda::program_plan& p) {
  const auto add_text = [&](const std::string& text) {
    if (std::find(texts_.begin(), texts_.end(), text) == texts_.end()) texts_.push_back(text);
  };
  for (const cuda::launch_plan& l : p.launches) {
    if (l.chain) add_text(request_of(*l.chain).text);
    else if (l.tiles) add_text(request_of(*l.tiles).text);
    else if (runs(l.step))
      for (const cuda::step_pass& pass : passes_of(l.step))
        for (const cuda::alignments& at : {aligned, unaligned}) add_text(request_of(*pass.plan, at).text);
  }
}

void host_gpu::launch(const std::string& text, void* args, unsigned grid, int threads, bool reverse) const {
  const auto at = std::find(texts_.begin(), texts_.end(), text) - texts_.begin();
  launchers_[static_cast<std::size_t>(at)](args, grid, static_cast<unsigned>(threads), reverse);
}

void host_gpu::run_step(const cuda::step_plan& p, const cuda::operands& x, bool reverse) const {
  const void *a = x.a, *b = x.b;
  if (p.shape.swapped) std::swap(a, b);
  const cuda::alignments there = alignments_of(p.shape, a, b, x.c);
  cuda::packed_args args = pack(p, x, {}, cuda::described_h200());
  if (p.kind == cuda::kernel_kind::small || p.kind == cuda::kernel_kind::window || p.kind == cuda::kernel_kind::panel || p.turn.stays) args.grid = std::min(args.grid, 3u);  // so that blocks walk over several tiles
  launch(request_of(p, there == aligned ? aligned : unaligned).text, args.bytes, args.grid, threads_of(p), reverse);
}

std::string host_gpu::compile() {
  {
    std::ofstream out(folder_.path / "kernels.cpp");
    for (std::size_t n = 0; n < texts_.size(); ++n) out << wrapped(texts_[n], n);
  }
  const std::string folder = folder_.path.string(), file = folder + "/kernels.so", log = folder + "/log";
  const std::string command = RICCI_HOST_COMMAND " -o " + file + " " + folder + "/kernels.cpp 2> " + log;
  const int result = std::system(command.c_str());
  if (result == 0) library_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library_) {
    std::ostringstream said;
    said << std::ifstream(log).rdbuf();
    return "the kernels do not compile for this CPU:\n" + said.str().substr(0, 4000);
  }
  for (std::size_t n = 0; n < texts_.size(); ++n)
    launchers_.push_back(reinterpret_cast<launcher>(dlsym(library_, ("launch_" + std::to_string(n)).c_str())));
  return "";
}

void host_gpu::watch(const void* begin, const void* end) const { reinterpret_cast<void (*)(const void*, const void*)>(dlsym(library_, "watch"))(begin, end); }

host_gpu::read_words host_gpu::words() const {
  read_words x;
  reinterpret_cast<void (*)(long&, long&)>(dlsym(library_, "counted"))(x.all, x.beyond);
  return x;
}

void host_gpu::run(const cuda::program_plan& p, const bindings& b, bool reverse) const {
  std::vector<char> workspace(static_cast<std::size_t>(p.workspace) + 256, '\xff');
  const auto pointer = [&](const cuda::place& x) -> void* {
    if (x.where == operand::kind::external) return static_cast<char*>(b.pointers[x.slot]) + x.offset;
    return x.where == operand::kind::temporary ? workspace.data() + x.offset : nullptr;
  };
  for (const cuda::launch_plan& l : p.launches) {
    if (!l.chain && !l.tiles && library_ && runs(l.step)) {
      const pair_op& op = p.ops[static_cast<std::size_t>(l.op)];
      const std::complex<double> alpha = scalar(op.alpha, b), beta = scalar(op.beta, b);
      cuda::operands x{pointer(l.places[0]), pointer(l.places[1]), pointer(l.places[2]), {alpha.real(), alpha.imag()}, {beta.real(), beta.imag()}};
      std::vector<char> parts(static_cast<std::size_t>(partial_bytes(l.step)) + 256, '\xff');
      const std::uintptr_t beyond = reinterpret_cast<std::uintptr_t>(parts.data()) % 256;
      for (const cuda::step_pass& pass : passes_of(l.step)) run_step(*pass.plan, operands_of(pass, x, parts.data() + (256 - beyond)), reverse);
      continue;
    }
    if (!l.chain && !l.tiles) {
      contract(p.ops[static_cast<std::size_t>(l.op)], p.source, {pointer(l.places[0]), pointer(l.places[1]), pointer(l.places[2])}, b);
      continue;
    }
    const auto add_all = [&](cuda::argument_list& args, auto&& add_counts) {
      for (const cuda::place& x : l.pointers) args.add(pointer(x));
      add_counts();
      for (const coefficient& c : l.scalars) {
        const auto x = scalar(c, b);
        const double both[2] = {x.real(), x.imag()};
        args.add(both);
      }
    };
    if (l.tiles) {
      const std::int64_t tiles = tiles_of(*l.tiles);
      cuda::argument_list args;
      add_all(args, [&] { args.add(tiles); });
      launch(request_of(*l.tiles).text, args.bytes(), static_cast<unsigned>(std::min<std::int64_t>(tiles, 3)), l.tiles->threads, reverse);
      continue;
    }
    cuda::chain_args args(*l.chain, 2);
    add_all(args, [&] { args.add_counts(); });
    launch(request_of(*l.chain).text, args.bytes(), args.grid(), l.chain->config.threads, reverse);
  }
}

}  // namespace ricci::test
