#include "end_to_end/support.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>

namespace sp::end_to_end {
namespace {

std::string contents(const core::UniqueFd& fd) {
  std::string text;
  std::array<char, 65536> buffer;
  ssize_t got = 0;
  while ((got = ::pread(fd.get(), buffer.data(), buffer.size(), static_cast<off_t>(text.size()))) >
         0) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

std::string lines_of(const std::string& text, bool own) {
  std::string kept;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size() - 1);
    const std::string line = text.substr(at, end + 1 - at);
    if (line.starts_with("superprofiler: ") == own) {
      kept += line;
    }
    at = end + 1;
  }
  return kept;
}

[[noreturn]] void exec_child(const std::vector<char*>& argv, const StartOptions& options, int in,
                             int out, int err) {
  ::setpgid(0, 0);
  ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);  // inherited descriptors
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  if (!options.directory.empty() && ::chdir(options.directory.c_str()) != 0) {
    ::_exit(120);
  }
  for (const std::string& word : options.environment) {
    ::putenv(const_cast<char*>(word.c_str()));  // NOLINT: not written to before the exec
  }
  if (options.before_exec) {
    options.before_exec();
  }
  ::execvp(argv[0], argv.data());
  ::_exit(121);
}

}  // namespace

int patience_factor() {
  const char* const wanted = std::getenv("SP_TEST_PATIENCE");
  return wanted != nullptr ? std::max(1, std::atoi(wanted)) : 1;
}

int scaled(int much) {
  constexpr int kShort = 3;
  const bool is_short = std::getenv("SP_TEST_SHORT") != nullptr;
  return std::max(1, much / patience_factor() / (is_short ? kShort : 1));
}

int lengthened(int time) { return time * patience_factor(); }

int spaced(int time) { return time * patience_factor() * patience_factor(); }

std::string shell() { return patience_factor() > 1 ? "dash" : "bash"; }

bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience * patience_factor();
  auto pause = std::chrono::microseconds(200);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) {
      return false;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::microseconds(10000));
  }
  return true;
}

std::string target(const std::string& name) { return std::string(SP_TARGETS_DIR) + "/" + name; }

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string words_of(std::size_t bytes) {
  std::string text;
  text.reserve(bytes + 32);
  std::uint64_t state = 1;
  while (text.size() < bytes) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    text += "word" + std::to_string((state >> 33U) % 5000) + (state >> 60U == 0 ? "\n" : " ");
  }
  return text;
}

TempDir::TempDir() : path_((std::filesystem::temp_directory_path() / "sp-e2e-XXXXXX").string()) {
  if (::mkdtemp(path_.data()) == nullptr) {
    std::abort();
  }
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

int Outcome::exit_status() const {
  return wait_status && WIFEXITED(*wait_status) ? WEXITSTATUS(*wait_status) : -1;
}

int Outcome::signal() const {
  return wait_status && WIFSIGNALED(*wait_status) ? WTERMSIG(*wait_status) : 0;
}

std::string Outcome::text() const {
  std::string text = !wait_status    ? "still running"
                     : signal() != 0 ? "killed by signal " + std::to_string(signal())
                                     : "exit status " + std::to_string(exit_status());
  return text + "\nstdout: " + out.substr(0, 2000) + "\nstderr: " + err.substr(0, 4000);
}

std::string Outcome::own_lines() const { return lines_of(err, true); }
std::string Outcome::foreign_lines() const { return lines_of(err, false); }

Running::Running(const Words& argv, const StartOptions& options) {
  // Adopts the children of a killed superprofiler, to see how they end.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  out_.reset(::memfd_create("stdout", MFD_CLOEXEC));
  err_.reset(::memfd_create("stderr", MFD_CLOEXEC));
  // In append mode, so that programs that open it again do not overwrite each other.
  ::fcntl(out_.get(), F_SETFL, O_APPEND);
  ::fcntl(err_.get(), F_SETFL, O_APPEND);
  core::UniqueFd in;
  if (options.input) {
    in.reset(::open(options.input->empty() ? "/dev/null" : options.input->c_str(),
                    O_RDONLY | O_CLOEXEC));
  } else {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) == 0) {
      in.reset(ends[0]);
      input_.reset(ends[1]);
    }
  }
  std::vector<char*> words;
  for (const std::string& word : argv) {
    words.push_back(const_cast<char*>(word.c_str()));  // NOLINT: execvp does not write to it
  }
  words.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {
    exec_child(words, options, in.get(), out_.get(), err_.get());
  }
  ::setpgid(pid_, pid_);
}

Running::Running(Running&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      input_(std::move(other.input_)),
      out_(std::move(other.out_)),
      err_(std::move(other.err_)),
      status_(other.status_) {}

Running::~Running() {
  if (pid_ <= 0) {
    return;
  }
  ::kill(-pid_, SIGKILL);
  if (!status_) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  // Processes that it started and that outlived it are now children of the test.
  while (::waitpid(-pid_, nullptr, 0) > 0 || errno == EINTR) {
  }
}

void Running::signal(int number) const {
  if (!status_) {
    ::kill(pid_, number);
  }
}

void Running::signal_group(int number) const { ::kill(-pid_, number); }

void Running::write_input(const std::string& text) const {
  [[maybe_unused]] const ssize_t written = ::write(input_.get(), text.data(), text.size());
}

std::string Running::out() const { return contents(out_); }
std::string Running::err() const { return contents(err_); }

bool Running::says(const std::string& text) const {
  return eventually([&] { return out().find(text) != std::string::npos; });
}

bool Running::reports(const std::string& text) const {
  return eventually([&] { return err().find(text) != std::string::npos; });
}

bool Running::ended() {
  int status = 0;
  if (!status_ && ::waitpid(pid_, &status, WNOHANG) == pid_) {
    status_ = status;
  }
  return status_.has_value();
}

Outcome Running::wait(std::chrono::milliseconds patience) {
  (void)eventually([this] { return ended(); }, patience);
  return {status_, out(), err()};
}

Outcome run(const Words& argv, StartOptions options) {
  if (!options.input) {
    options.input = "";
  }
  return Running(argv, options).wait();
}

bool has_program(const std::string& name) {
  std::istringstream path(std::getenv("PATH") != nullptr ? std::getenv("PATH") : "");
  for (std::string directory; std::getline(path, directory, ':');) {
    if (::access((directory + "/" + name).c_str(), X_OK) == 0) {
      return true;
    }
  }
  return false;
}

}  // namespace sp::end_to_end
