// Transpositions of lines at any distance and copies of pieces, of every instruction set this CPU runs, against plain loops.
#include <catch2/catch.hpp>

#include <limits>
#include <random>
#include <vector>

#include "guarded.hpp"
#include "kernels/kernels.hpp"

using namespace ricci::kernels;

namespace {

template <class T> constexpr int kind_of = sizeof(T) == 8;

/// Lines that begin anywhere in a vector; the last one ends where it does.
template <class T> void test_turn(const kernel_set& set, std::int64_t lines, std::int64_t length, std::mt19937& rng) {
  const std::int64_t size = 3 * length + 50, pitch = lines + static_cast<std::int64_t>(rng() % 3);
  std::vector<std::int64_t> line;
  for (std::int64_t i = 0; i < lines; ++i) line.push_back(static_cast<std::int64_t>(rng() % static_cast<unsigned>(size - length + 1)));
  line[rng() % line.size()] = size - length;
  guarded<T> from(static_cast<std::size_t>(size), true), to(static_cast<std::size_t>((length - 1) * pitch + lines), true);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = T(i + 1);
  for (T& x : to) x = T(-1);
  set.turn[kind_of<T>]({line.data(), lines, length, pitch}, from.data(), to.data());
  std::int64_t wrong = 0;
  for (std::int64_t j = 0; j < length; ++j)
    for (std::int64_t i = 0; i < pitch && j * pitch + i < static_cast<std::int64_t>(to.size()); ++i) {
      const T want = i < lines ? from[static_cast<std::size_t>(line[static_cast<std::size_t>(i)] + j)] : T(-1);
      wrong += to[static_cast<std::size_t>(j * pitch + i)] != want;
    }
  INFO(set.isa << ", " << lines << " lines of " << length);
  CHECK(wrong == 0);
}

template <class T> void test_pieces(const kernel_set& set, std::int64_t rows, bool adds, bool at_end, std::mt19937& rng, bool streams = false) {
  std::vector<piece> pieces;
  std::int64_t near = 0, far = 0;
  const bool one = rng() % 2 == 0;  // often of whole registers
  for (int p = 0; p < (one ? 1 : 5); ++p) {
    const auto any = static_cast<std::int64_t>(one && rng() % 2 ? 4 * (1 + rng() % 12) : 1 + rng() % 37), gap = static_cast<std::int64_t>(rng() % 4) * (streams ? 16 : 1);
    const std::int64_t count = streams && p != 3 ? (any + 15) / 16 * 16 : any;
    pieces.push_back({near, far + gap, count});
    near += count, far += gap + count;
  }
  std::vector<std::int64_t> from_row, to_row;
  for (std::int64_t r = 0; r < rows; ++r) from_row.push_back((rows - 1 - r) * near), to_row.push_back(r * far);
  guarded<T> from(static_cast<std::size_t>(rows * near), at_end), to(static_cast<std::size_t>(rows * far), at_end);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = T(i % 1000);
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = T(-3);
  std::vector<T> want(to.begin(), to.end());
  for (std::int64_t r = 0; r < rows; ++r)
    for (const piece& p : pieces)
      for (std::int64_t i = 0; i < p.count; ++i) {
        T& x = want[static_cast<std::size_t>(to_row[static_cast<std::size_t>(r)] + p.to + i)];
        const T y = from[static_cast<std::size_t>(from_row[static_cast<std::size_t>(r)] + p.from + i)];
        x = adds ? x + y : y;
      }
  set.pieces[kind_of<T>]({from_row.data(), to_row.data(), rows, pieces.data(), static_cast<std::int64_t>(pieces.size()), adds, streams, adds ? nullptr : from_row.data(), 64}, from.data(), to.data());
  INFO(set.isa << ", " << rows << " rows");
  CHECK(std::equal(want.begin(), want.end(), to.begin()));
}

}  // namespace

TEST_CASE("lines come to lie across") {
  std::mt19937 rng(3);
  const kernel_sets sets = available();
  for (int s = 0; s < sets.count; ++s)
    for (std::int64_t lines = 1; lines <= 34; ++lines)
      for (const std::int64_t length : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33}) {
        test_turn<float>(*sets.first[s], lines, length, rng);
        test_turn<double>(*sets.first[s], lines, length, rng);
      }
}

TEST_CASE("rows of pieces are copied or added") {
  std::mt19937 rng(4);
  const kernel_sets sets = available();
  for (int s = 0; s < sets.count; ++s)
    for (int round = 0; round < 120; ++round)
      for (const bool adds : {false, true}) {
        test_pieces<float>(*sets.first[s], 1 + round % 9, adds, round % 2 == 0, rng);
        test_pieces<double>(*sets.first[s], 1 + round % 9, adds, round % 2 == 0, rng);
        if (adds) continue;
        test_pieces<float>(*sets.first[s], 1 + round % 9, false, round % 2 == 0, rng, true);
        test_pieces<double>(*sets.first[s], 1 + round % 9, false, round % 2 == 0, rng, true);
      }
}
