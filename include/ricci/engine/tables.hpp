// What a run needs of index tensors, for whoever remembers executables.
#pragma once

namespace ricci {

class executable;

namespace detail {

/// Whether it needs what compile() with tables has read of them. If not, one that was compiled without tables runs with any whose entries
/// are indices; the caller has them checked.
bool keeps_tables(const executable& e);

}  // namespace detail
}  // namespace ricci
