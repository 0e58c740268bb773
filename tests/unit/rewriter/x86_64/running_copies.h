#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/function_copy.h"

namespace sp::rewriter {

/// A library that is loaded into the test's own process, apart from the system's.
class LoadedLibrary {
 public:
  /// Loads a copy of the file, so that each object has its own.
  explicit LoadedLibrary(const std::string& path);
  ~LoadedLibrary();
  LoadedLibrary(const LoadedLibrary&) = delete;
  LoadedLibrary& operator=(const LoadedLibrary&) = delete;

  [[nodiscard]] bool is_loaded() const { return handle_ != nullptr; }
  [[nodiscard]] void* symbol(const char* name) const;
  [[nodiscard]] std::uint64_t bias() const { return bias_; }
  [[nodiscard]] core::AddressRange text() const { return text_; }

 private:
  void* handle_ = nullptr;
  std::uint64_t bias_ = 0;
  core::AddressRange text_;
};

/// By the addresses of a branch and of what is executed behind it.
using WaysTaken = std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t>;

struct CopyOptions {
  bool is_complete = true;  // what the graphs say; else never
  bool allow_spill = true;
  bool counts_transfers = false;
  bool writes_events = false;  // of each function's entry, and of its returns
  bool waits = false;          // with that, for room
};

/// Copies of all functions of a loaded library, which control comes to through landings in the
/// library's own text. Serves landings that are breakpoints, as the tracer would. One at a time.
class RunningCopies {
 public:
  RunningCopies(const LoadedLibrary& library, const std::string& path, CopyOptions options);
  ~RunningCopies();
  RunningCopies(const RunningCopies&) = delete;
  RunningCopies& operator=(const RunningCopies&) = delete;

  [[nodiscard]] std::size_t refused() const { return refused_; }
  [[nodiscard]] const std::vector<core::FunctionCopy>& copies() const { return copies_; }
  /// How often each block ran, by its start in the file.
  [[nodiscard]] std::map<std::uint64_t, std::uint64_t> counts() const;
  /// How often control went on from each conditional branch that is counted, and where to: places
  /// in the file.
  [[nodiscard]] WaysTaken ways() const;
  /// The same of returns, indirect calls and indirect jumps; places elsewhere are addresses.
  [[nodiscard]] WaysTaken transfers() const;
  /// How many copies have tables of their own.
  [[nodiscard]] std::uint64_t tables() const;
  /// An event of a thread's ring.
  struct Event {
    std::uint64_t ticks = 0;
    std::uint64_t sp = 0;
    std::uint64_t word = 0;
    std::uint64_t place = 0;  // in the file
  };
  /// Those that were written, in their order.
  [[nodiscard]] std::vector<Event> events() const;
  [[nodiscard]] std::uint64_t lost_events() const;
  /// Of the ring. Any thread; so are the next two.
  [[nodiscard]] bool is_full() const;
  void make_room();
  /// Puts their jumps into the places where copies wait for room.
  void open_waits();
  void reset_counts();
  /// How often control came to a copy by a breakpoint.
  [[nodiscard]] std::uint64_t breakpoint_hits() const;

  /// Until stop(): steps each instruction, and in front of one in `period` of the copies' moves the
  /// thread to the original, from where it comes back by a landing.
  void start_leaving(unsigned period);
  void stop();
  /// How often the thread was moved.
  [[nodiscard]] std::uint64_t moves() const;

 private:
  /// In the file, if it is in the text; else itself.
  [[nodiscard]] std::uint64_t place_of(core::Address address) const;
  void choose_places(core::FunctionToCopy& function);

  std::uint64_t bias_ = 0;
  core::AddressRange text_;
  core::AddressRange region_;
  std::vector<std::byte> original_;  // bytes of text_
  std::size_t refused_ = 0;
  std::vector<core::FunctionCopy> copies_;
  std::vector<core::Address> places_;  // by the number of their events
};

/// Counts block executions of an unchanged library by single steps of this thread.
class SteppedCounts {
 public:
  /// `blocks`: starts in the file.
  SteppedCounts(const LoadedLibrary& library, const std::vector<std::uint64_t>& blocks);
  ~SteppedCounts();
  SteppedCounts(const SteppedCounts&) = delete;
  SteppedCounts& operator=(const SteppedCounts&) = delete;

  void start();
  void stop();
  [[nodiscard]] std::map<std::uint64_t, std::uint64_t> counts() const;
  /// From each place in the file that is the first of a pair in `wanted`, whatever the second is.
  [[nodiscard]] WaysTaken transfers(const WaysTaken& wanted) const;
  /// The same as RunningCopies::ways() of these, which have the same branches.
  [[nodiscard]] WaysTaken ways(const WaysTaken& wanted) const;

 private:
  std::uint64_t bias_ = 0;
  core::AddressRange text_;
};

}  // namespace sp::rewriter
