// A long measurement that is interrupted ends with what it has.
#pragma once

#include <csignal>

namespace ricci::tools {

/// While one lives, the first SIGINT or SIGTERM is only noted; a second one ends the program as it would have without it. There is
/// one at a time. Signals that are ignored stay so.
class interrupt {
 public:
  interrupt();
  ~interrupt();
  interrupt(const interrupt&) = delete;
  interrupt& operator=(const interrupt&) = delete;

  bool asked() const { return noted != 0; }

  /// Nothing more is measured: signals end the program as they would have, while files are written.
  void rest() const;

  /// Ends the program by the signal that was noted, if one was: whoever waits for it sees that.
  void end() const;

 private:
  static void note(int signal);
  static volatile std::sig_atomic_t noted;
};

}  // namespace ricci::tools
