// Runs einsum for the Python tests: one line of JSON a request, followed by the bytes of its arrays; answers likewise.
#include <ricci/core/error.hpp>
#include <ricci/einsum/einsum.hpp>

#include <nlohmann/json.hpp>

#include <cstdio>
#include <iostream>
#include <string>

#include "einsum/lower.hpp"
#include "tools/einsum_files.hpp"

using ricci::detail::array_info;
using json = nlohmann::json;
using numbers = std::vector<std::int64_t>;

namespace {

struct array {
  numbers extents, strides;
  std::vector<std::byte> bytes;
  std::int64_t offset = 0;

  array_info info(ricci::dtype type) {
    static std::byte none{};
    std::byte* const first = bytes.empty() ? &none : bytes.data() + offset * static_cast<std::int64_t>(size_of(type));
    return {first, type, extents, strides};
  }
};

array read_array(const json& j) {
  array a{j.at("extents"), j.at("strides"), std::vector<std::byte>(j.at("bytes").get<std::size_t>()), j.value("offset", 0)};
  std::cin.read(reinterpret_cast<char*>(a.bytes.data()), static_cast<std::streamsize>(a.bytes.size()));
  return a;
}

ricci::dtype type_of(const std::string& name) { return ricci::tools::parse_dtype(name); }

/// What points into the request has to live as long as the words.
struct words_of {
  explicit words_of(const json& j) {
    if (j.contains("labels")) {
      lists = j.at("labels").get<std::vector<std::vector<int>>>();
      words.lists = &lists;
      if (!j.at("result").is_null()) result = j.at("result").get<std::vector<int>>(), words.result = &result;
    } else {
      text = j.at("subscripts").get<std::string>(), words.text = text;
    }
  }
  words_of(const words_of&) = delete;
  words_of& operator=(const words_of&) = delete;

  std::string text;
  std::vector<std::vector<int>> lists;
  std::vector<int> result;
  ricci::detail::einsum_words words;
};

template <class T>
std::vector<std::byte> evaluate(const words_of& words, const std::vector<array_info>& infos, numbers& extents) {
  const auto out = ricci::detail::evaluate_einsum<T>(words.words, infos, {});
  extents = out.extents();
  const auto* const first = reinterpret_cast<const std::byte*>(out.data());
  return {first, first + static_cast<std::size_t>(out.size()) * sizeof(T)};
}

std::vector<std::byte> evaluate(ricci::dtype type, const words_of& words, const std::vector<array_info>& infos, numbers& extents) {
  switch (type) {
    case ricci::dtype::f32: return evaluate<float>(words, infos, extents);
    case ricci::dtype::f64: return evaluate<double>(words, infos, extents);
    case ricci::dtype::c64: return evaluate<std::complex<float>>(words, infos, extents);
    case ricci::dtype::c128: return evaluate<std::complex<double>>(words, infos, extents);
    case ricci::dtype::f16: return evaluate<ricci::half>(words, infos, extents);
    default: return evaluate<ricci::bfloat16>(words, infos, extents);
  }
}

/// out = beta out + alpha einsum, some operands conjugated: through the program, as statements do it.
void update(const json& j, const words_of& words, const std::vector<array_info>& infos, const array_info& out) {
  auto lowered = ricci::detail::lower_einsum(ricci::detail::parse(words.words, infos.size()), infos, &out);
  ricci::program& p = lowered.statement;
  ricci::statement& s = p.statements[0];
  const std::vector<bool> conj = j.value("conj", std::vector<bool>(infos.size(), false));
  for (std::size_t q = 0; q < infos.size(); ++q) s.terms[0].factors[q].conj = conj[q];
  s.terms[0].scalar = 0;
  const double beta = j.value("beta", 0.0);
  std::complex<double> scalars[2] = {j.value("alpha", 1.0), beta};
  p.scalar_count = 1;
  std::vector<void*> pointers = {out.data};
  for (const auto& info : infos) pointers.push_back(info.data);
  if (beta == 1) s.op = ricci::update::add;
  if (beta != 1 && beta != 0) {
    ricci::product old;
    old.scalar = 1, p.scalar_count = 2;
    old.factors.push_back(s.left);
    old.factors[0].slot = p.slot_count++;
    p.overlaps.push_back({0, old.factors[0].slot, ricci::overlap::kind::same});
    s.terms.push_back(old);
    pointers.push_back(out.data);
  }
  ricci::run(*ricci::compile(p), {pointers.data(), scalars});
}

json answer(const json& j, std::vector<std::byte>& bytes) {
  std::vector<array> operands;
  for (const json& x : j.value("operands", json::array())) operands.push_back(read_array(x));
  array out;
  if (j.contains("out")) out = read_array(j.at("out"));
  if (j.contains("files")) {
    ricci::tools::einsum_request request{j.at("subscripts"), {}, {}, false};
    std::vector<ricci::tools::npy_array> arrays;
    for (const std::string file : j.at("files")) arrays.push_back(ricci::tools::read_npy(file));
    ricci::tools::write_npy(j.at("output"), einsum_arrays(request, arrays).result);
    return {{"ok", true}};
  }
  const ricci::dtype type = type_of(j.at("dtype"));
  std::vector<array_info> infos;
  for (array& x : operands) infos.push_back(x.info(type));
  const words_of words(j);
  numbers extents;
  if (!j.contains("out")) {
    bytes = evaluate(type, words, infos, extents);
  } else if (j.contains("alpha") || j.contains("conj")) {
    update(j, words, infos, out.info(type));
    bytes = out.bytes;
  } else {
    const array_info info = out.info(type);
    ricci::detail::run_einsum(*ricci::detail::prepare_einsum(words.words, infos, &info, {}), info.data, infos);
    bytes = out.bytes;
  }
  return {{"ok", true}, {"extents", extents}, {"bytes", bytes.size()}};
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) {
    std::vector<std::byte> bytes;
    json reply;
    try {
      reply = answer(json::parse(line), bytes);
    } catch (const ricci::error& e) {
      reply = {{"ok", false}, {"code", static_cast<int>(e.code())}, {"what", e.what()}};
      bytes.clear();
    }
    std::cout << reply.dump(-1, ' ', true, json::error_handler_t::replace) << '\n';
    std::cout.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size())).flush();
  }
}
