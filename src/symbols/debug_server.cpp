#include "symbols/debug_server.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "core/clock.h"
#include "core/log.h"
#include "core/progress_line.h"

// Nothing but its types: the library loads libcurl and thirty others, and a machine without it is
// to have superprofiler, too. A cross build may not have the header.
#if __has_include(<elfutils/debuginfod.h>)
#include <elfutils/debuginfod.h>
#define SP_HAS_DEBUGINFOD 1
#else
#define SP_HAS_DEBUGINFOD 0
#endif

namespace sp::symbols {

bool DebugServer::is_wanted() { return urls().find_first_not_of(" \t") != std::string::npos; }

std::string DebugServer::urls() {
  const char* const urls = std::getenv("DEBUGINFOD_URLS");
  return urls == nullptr ? "" : urls;
}

std::shared_ptr<DebugServer> DebugServer::of_environment(Options options) {
  return is_wanted() ? std::make_shared<DebugServer>(std::move(options)) : nullptr;
}

void DebugServer::give_up(const std::string& why) {
  given_up_ = true;
  core::print_note("debuginfod: " + why + "; going on without its debug files");
}

#if SP_HAS_DEBUGINFOD

namespace {

struct Library {
  decltype(&::debuginfod_begin) begin = nullptr;
  decltype(&::debuginfod_end) end = nullptr;
  decltype(&::debuginfod_find_debuginfo) find_debuginfo = nullptr;
  decltype(&::debuginfod_set_progressfn) set_progressfn = nullptr;
  decltype(&::debuginfod_set_user_data) set_user_data = nullptr;
  decltype(&::debuginfod_get_user_data) get_user_data = nullptr;
};

template <typename Function>
bool load(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

/// Null: it is not installed, or too old. Stays loaded.
const Library* load_library() {
  static Library all;
  void* const library = ::dlopen(DEBUGINFOD_SONAME, RTLD_NOW | RTLD_LOCAL);
  const bool is_complete = library != nullptr && load(library, "debuginfod_begin", all.begin) &&
                           load(library, "debuginfod_end", all.end) &&
                           load(library, "debuginfod_find_debuginfo", all.find_debuginfo) &&
                           load(library, "debuginfod_set_progressfn", all.set_progressfn) &&
                           load(library, "debuginfod_set_user_data", all.set_user_data) &&
                           load(library, "debuginfod_get_user_data", all.get_user_data);
  return is_complete ? &all : nullptr;
}

const Library* library() {
  static const Library* const loaded = load_library();
  return loaded;
}

/// How long to wait without a byte: DEBUGINFOD_TIMEOUT, whose default of 90 s is for downloads that
/// somebody has asked for by name.
core::Duration patience() {
  constexpr std::chrono::seconds kPatience{10};
  const char* const text = std::getenv("DEBUGINFOD_TIMEOUT");
  int wanted = 0;
  if (text == nullptr ||
      std::from_chars(text, text + std::strlen(text), wanted).ec != std::errc{} || wanted <= 0) {
    return kPatience;
  }
  return std::chrono::seconds(wanted);
}

std::atomic<int> g_interrupts{0};

/// While it lives SIGINT is counted and does not end the process.
class InterruptCount {
 public:
  InterruptCount() {
    ::sigaction(SIGINT, nullptr, &before_);
    is_ours_ = before_.sa_handler == SIG_DFL && (before_.sa_flags & SA_SIGINFO) == 0;
    if (is_ours_) {
      struct sigaction action {};
      action.sa_handler = [](int) { ++g_interrupts; };
      ::sigaction(SIGINT, &action, nullptr);
    }
  }
  InterruptCount(const InterruptCount&) = delete;
  InterruptCount& operator=(const InterruptCount&) = delete;
  ~InterruptCount() {
    if (is_ours_) {
      ::sigaction(SIGINT, &before_, nullptr);
    }
  }

 private:
  struct sigaction before_ {};
  bool is_ours_ = false;
};

}  // namespace

/// One download, as the library's progress function sees it.
class DebugServer::Download {
 public:
  Download(const Options& options, const std::string& whose)
      : options_(options),
        what_("downloading debug information of " + whose.substr(whose.rfind('/') + 1)),
        line_(what_),
        interrupts_(interrupts()) {}

  /// Not 0 ends it.
  static int on_progress(debuginfod_client* client, long done, long whole) {
    return static_cast<Download*>(library()->get_user_data(client))->go_on(done, whole) ? 0 : 1;
  }

  /// Why it ended here; "" if it did not.
  [[nodiscard]] const std::string& ended_by() const { return ended_by_; }

 private:
  [[nodiscard]] int interrupts() const {
    return options_.interrupts ? options_.interrupts() : g_interrupts.load();
  }

  /// Before a server has answered, `done` is the number of calls; then bytes.
  bool go_on(long done, long whole) {
    const core::TimePoint now = core::Clock::now();
    if (done > last_ + 1) {
      last_change_ = now;
    }
    last_ = done;
    if (interrupts() > interrupts_) {
      ended_by_ = "interrupted";
    } else if (now - last_change_ > patience_) {
      ended_by_ = fmt::format(
          "nothing received for {:.0f} s (DEBUGINFOD_TIMEOUT sets how long to "
          "wait)",
          core::seconds(patience_));
    } else if (now - begun_ > kLongest) {
      ended_by_ = fmt::format("not complete after {:.0f} s", core::seconds(kLongest));
    }
    if (whole > 0) {
      constexpr double kMega = 1e6;
      line_.set(fmt::format("{}: {:.1f} of {:.1f} MB (Ctrl-C: go on without)", what_,
                            static_cast<double>(done) / kMega, static_cast<double>(whole) / kMega));
    } else {
      line_.set(what_ + " (Ctrl-C: go on without)");
    }
    return ended_by_.empty();
  }

  static constexpr core::Duration kLongest = std::chrono::minutes(2);

  const Options& options_;
  std::string what_;
  core::ProgressLine line_;
  InterruptCount counted_;
  int interrupts_;
  core::Duration patience_ = patience();
  core::TimePoint begun_ = core::Clock::now();
  core::TimePoint last_change_ = begun_;
  long last_ = 0;
  std::string ended_by_;
};

DebugServer::DebugServer(Options options) : options_(std::move(options)) {}

DebugServer::~DebugServer() {
  if (client_ != nullptr) {
    library()->end(static_cast<debuginfod_client*>(client_));
  }
}

bool DebugServer::is_usable() { return library() != nullptr; }

std::optional<std::string> DebugServer::find(const std::string& build_id,
                                             const std::string& whose) {
  if (given_up_ || build_id.empty()) {
    return std::nullopt;
  }
  if (library() == nullptr) {
    give_up(
        "DEBUGINFOD_URLS is set, but libdebuginfod.so.1 is not installed (install libdebuginfod1)");
    return std::nullopt;
  }
  if (client_ == nullptr) {
    client_ = library()->begin();
  }
  if (client_ == nullptr) {
    give_up("its library cannot begin");
    return std::nullopt;
  }
  auto* const client = static_cast<debuginfod_client*>(client_);
  Download download(options_, whose);
  library()->set_user_data(client, &download);
  library()->set_progressfn(client, &Download::on_progress);
  const void* id = build_id.c_str();
  char* path = nullptr;
  // A length of 0: the id is in hex.
  const int result =
      library()->find_debuginfo(client, static_cast<const unsigned char*>(id), 0, &path);
  std::optional<std::string> found;
  if (result >= 0) {
    ::close(result);
    found = path;
    std::free(path);  // NOLINT: the library's malloc
  } else if (!download.ended_by().empty()) {
    give_up(download.ended_by());
  } else if (result != -ENOENT) {
    give_up(fmt::format("{}: {}", urls(), std::strerror(-result)));
  }
  return found;
}

#else

DebugServer::DebugServer(Options options) : options_(std::move(options)) {}

DebugServer::~DebugServer() = default;

bool DebugServer::is_usable() { return false; }

std::optional<std::string> DebugServer::find(const std::string& /*build_id*/,
                                             const std::string& /*whose*/) {
  if (!given_up_) {
    give_up("superprofiler was built without libdebuginfod-dev");
  }
  return std::nullopt;
}

#endif

}  // namespace sp::symbols
