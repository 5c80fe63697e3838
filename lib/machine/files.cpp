// Files that are remembered between runs.
#include "machine/files.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <ricci/core/error.hpp>

namespace ricci::detail {

namespace fs = std::filesystem;

fs::path cache_folder() {
  if (const char* own = std::getenv("RICCI_CACHE")) return own;  // set but empty: nowhere
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg && fs::path(xdg).is_absolute()) return fs::path(xdg) / "ricci";
  if (const char* home = std::getenv("HOME"); home && *home) return fs::path(home) / ".cache" / "ricci";
  return {};
}

namespace {

/// The name of the file that is being written, for a signal handler; empty if there is none. One thread at a time has it.
char unfinished[4096] = {};
std::atomic<bool> has_unfinished{false};
std::atomic<int> making{0};  ///< Threads that make a file whose name is not known yet.
std::atomic<bool> ending{false};

/// No signal comes to this thread as long as it lives.
class held_signals {
 public:
  held_signals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~held_signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  held_signals(const held_signals&) = delete;
  held_signals& operator=(const held_signals&) = delete;

 private:
  sigset_t before_;
};

/// The open file of this process that a name such as /dev/stdout stands for, or -1. What such a name leads to is not to be replaced: others
/// write there as well.
int descriptor_of(const std::string& name) {
  if (name == "/dev/stdout") return STDOUT_FILENO;
  if (name == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!name.starts_with(folder)) continue;
    const std::string number = name.substr(folder.size());
    if (!number.empty() && number.size() < 6 && number.find_first_not_of("0123456789") == number.npos) return std::stoi(number);
  }
  return -1;
}

/// Closes the file; 0 or the error.
int write_all(int file, std::initializer_list<std::string_view> parts) {
  int failure = 0;
  for (std::string_view part : parts)
    while (!part.empty() && failure == 0) {
      const ssize_t got = ::write(file, part.data(), part.size());
      if (got > 0) part.remove_prefix(static_cast<std::size_t>(got));
      else if (got == 0 || errno != EINTR) failure = got == 0 ? ENOSPC : errno;
    }
  if (::close(file) != 0 && failure == 0) failure = errno;
  return failure;
}

/// A new file beside `file`, which nobody else has; -1 with errno. Its name is cut so that it is not too long.
int make_beside(const fs::path& file, mode_t mode, std::string& name) {
  static std::atomic<int> count{0};  // threads of a process write to files of their own
  const std::string begin = (file.parent_path() / file.filename().string().substr(0, 200)).string();
  for (int tries = 0; tries < 100; ++tries) {  // a process that ended early may have left one
    name = begin + "." + std::to_string(getpid()) + "." + std::to_string(count++) + ".tmp";
    const int made = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (made >= 0 || errno != EEXIST) return made;
  }
  return -1;
}

/// A new file beside another; a signal handler knows of it, as long as this lives, from the moment there is such a file.
class unfinished_file {
 public:
  unfinished_file(const fs::path& beside, mode_t mode) {
    const held_signals held;  // a handler that waits for `making` runs in another thread
    ++making;
    if (ending) {
      --making;
      for (;;) ::pause();  // the program ends: nothing new is begun
    }
    place_ = make_beside(beside, mode, name_);
    const int failure = errno;
    if (place_ >= 0 && name_.size() < sizeof unfinished && !has_unfinished.exchange(true)) {
      mine_ = true;
      for (std::size_t i = name_.size() + 1; i-- > 0;) unfinished[i] = name_.c_str()[i];  // the first character last
    }
    --making;
    errno = failure;
  }
  ~unfinished_file() {
    if (!mine_) return;
    unfinished[0] = '\0';
    has_unfinished = false;
  }
  unfinished_file(const unfinished_file&) = delete;
  unfinished_file& operator=(const unfinished_file&) = delete;

  const char* name() const { return name_.c_str(); }
  int place() const { return place_; }  ///< The open file, or -1 with errno.

 private:
  std::string name_;
  int place_ = -1;
  bool mine_ = false;
};

}  // namespace

void remove_unfinished() noexcept {
  ending = true;
  while (making > 0) {
  }
  if (unfinished[0] != '\0') ::unlink(unfinished);
}

fs::path end_of_links(fs::path path) {
  std::error_code none;
  for (int step = 0; step < 40 && fs::is_symlink(fs::symlink_status(path, none)); ++step)
    path = path.parent_path() / fs::read_symlink(path, none);  // what is absolute stands alone
  return path;
}

std::string replace_file(const std::string& file, std::initializer_list<std::string_view> parts) {
  if (const int open = descriptor_of(file); open >= 0) {
    const int copy = ::fcntl(open, F_DUPFD_CLOEXEC, 0);
    const int failure = copy < 0 ? errno : write_all(copy, parts);
    return failure == 0 ? std::string() : std::strerror(failure);
  }
  struct stat old {};
  const bool there = ::stat(file.c_str(), &old) == 0;
  if (!there && errno != ENOENT) return std::strerror(errno);
  int failure = 0;
  if (there && !S_ISREG(old.st_mode)) {
    const int place = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
    failure = place < 0 ? errno : write_all(place, parts);
  } else if (there && ::access(file.c_str(), W_OK) != 0) {
    failure = errno;
  } else {
    std::error_code none;
    fs::path target = there ? fs::canonical(file, none) : end_of_links(file);
    if (target.empty()) target = file;  // somebody removed it meanwhile
    const unfinished_file fresh(target, there ? 0600 : 0666);
    if (fresh.place() < 0) return std::strerror(errno);
    if (there && ::fchmod(fresh.place(), old.st_mode & 07777) != 0) failure = errno;
    if (const int bad = write_all(fresh.place(), parts); failure == 0) failure = bad;
    if (failure == 0 && std::rename(fresh.name(), target.c_str()) != 0) failure = errno;
    if (failure != 0) ::unlink(fresh.name());
  }
  return failure == 0 ? std::string() : std::strerror(failure);
}

void write_whole(const std::string& file, const std::string& text, const std::string& what) {
  std::error_code ignored;
  if (fs::path(file).has_parent_path()) fs::create_directories(fs::path(file).parent_path(), ignored);
  if (!replace_file(file, {text}).empty()) throw error(errc::bad_file, "cannot write " + what + " to " + file);
}

}  // namespace ricci::detail
