// The sentence that ricci_last_error() gives.
#pragma once

namespace ricci::capi {

/// Keeps a sentence for the calling thread, cut to a fixed length: nothing is allocated.
[[gnu::format(printf, 1, 2)]] void set_last_error(const char* format, ...) noexcept;

/// Of the exception in flight: its sentence, and RICCI_NO_MEMORY or RICCI_FAILED.
int report_exception(const char* function) noexcept;

/// What ricci_set_num_threads() said.
int most_threads() noexcept;

}  // namespace ricci::capi
