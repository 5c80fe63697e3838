// What the texts of kernels for long sides share: constants, offsets of flattened labels, how their groups are arranged.
#pragma once

#include "gpu/small.hpp"

namespace ricci::cuda {

/// "  static constexpr TYPE NAME = VALUE;"
std::string constant_text(const char* type, const char* name, std::int64_t value);
std::string constant_text(const char* name, bool value);

/// A function that adds the offsets of a flattened index to each operand of `operands` ("ac": of a and of c). If the innermost
/// axis is counted to `padded` of which only its extent is there, it says whether the index is.
std::string offset_function(const char* name, const std::vector<axis>& axes, const std::string& operands, std::int64_t padded = 0);

/// Elements that one copy may take along the innermost axis of `fast`, given the other strides and the alignment. `cut`: the last
/// copy along a single axis may have fewer.
int vector_of(const std::vector<axis>& fast, const std::vector<const std::vector<axis>*>& others, stride_of_axis stride, dtype t, int aligned, bool cut = false);

/// Where the neighbours in memory are, in a group; its end if they are not.
std::size_t unit_in(const std::vector<axis>& group, stride_of_axis stride);

/// The axis becomes the innermost, if there is one.
void to_back(std::vector<axis>& group, std::size_t at);

/// Two operands have their neighbours along different axes of a group: blocks of `size` of each are innermost, so that
/// both read whole sectors. False if the extents are no multiples.
bool in_blocks(std::vector<axis>& group, std::size_t second, std::size_t first, std::int64_t size);

/// Rows and sums so that neighbours of a, and of b along the sums, are innermost.
void arrange_rows_and_sums(step_shape& s);

/// Whether neighbours in memory run along k.
bool runs_along_k(const std::vector<axis>& k, const std::vector<axis>& lines, stride_of_axis stride);

}  // namespace ricci::cuda
