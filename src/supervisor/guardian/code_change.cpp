#include "supervisor/guardian/code_change.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "arch/native.h"
#include "core/check.h"
#include "core/page.h"

namespace sp::supervisor {
namespace {

using arch::NativeLivePatch;
using core::Address;

constexpr std::uint64_t kLine = NativeLivePatch::kLine;
constexpr auto& kWait = NativeLivePatch::kWait;

/// How many bytes `hold` writes, and `head`.
std::size_t head_size(Address address) {
  return is_held_by_breakpoint(address) ? arch::Native::kBreakpoint.size() : kWait.size();
}

void put_step(const CodeChange& change, ChangeStep step, std::span<std::byte> there) {
  if (change.is_second) {
    if (step != ChangeStep::hold) {
      std::copy_n(change.to.begin(), change.size, there.begin());
    }
    return;
  }
  const std::size_t head = head_size(change.address);
  switch (step) {
    case ChangeStep::hold:
      std::copy_n(
          is_held_by_breakpoint(change.address) ? arch::Native::kBreakpoint.data() : kWait.data(),
          head, there.begin());
      break;
    case ChangeStep::tail:
      std::copy(change.to.begin() + static_cast<std::ptrdiff_t>(head),
                change.to.begin() + static_cast<std::ptrdiff_t>(change.size),
                there.begin() + static_cast<std::ptrdiff_t>(head));
      break;
    case ChangeStep::head:
      std::copy_n(change.to.begin(), head, there.begin());
      break;
  }
}

/// Memory around changes of one page, in whole cache lines.
class Lines {
 public:
  Lines(int memory, std::span<const CodeChange> changes) : memory_(memory) {
    begin_ = changes.front().address.value() / kLine * kLine;
    std::uint64_t end = 0;
    for (const CodeChange& change : changes) {
      SP_CHECK(change.address.value() >= begin_);  // sorted
      end = std::max(end, change.range().end.value());
    }
    bytes_.resize((end + kLine - 1) / kLine * kLine - begin_);
    is_read_ = ::pread(memory_, bytes_.data(), bytes_.size(), static_cast<off_t>(begin_)) ==
               static_cast<ssize_t>(bytes_.size());
  }

  [[nodiscard]] bool is_read() const { return is_read_; }
  [[nodiscard]] std::span<std::byte> at(Address address) {
    return std::span(bytes_).subspan(address.value() - begin_);
  }
  [[nodiscard]] bool write() const {
    return write({Address{begin_}, Address{begin_ + bytes_.size()}});
  }
  [[nodiscard]] bool write(core::AddressRange range) const {
    return ::pwrite(memory_, bytes_.data() + (range.begin.value() - begin_), range.size(),
                    static_cast<off_t>(range.begin.value())) == static_cast<ssize_t>(range.size());
  }

 private:
  int memory_;
  std::uint64_t begin_ = 0;
  std::vector<std::byte> bytes_;
  bool is_read_ = false;
};

template <typename Visit>
void for_each_page_of(int memory, std::span<const CodeChange> changes, const Visit& visit) {
  for (auto rest = changes; !rest.empty();) {
    const std::uint64_t page = rest.front().address.value() / core::kPageSize;
    const auto end = std::find_if(rest.begin(), rest.end(), [&](const CodeChange& change) {
      return change.address.value() / core::kPageSize != page;
    });
    const auto of_page = rest.first(static_cast<std::size_t>(end - rest.begin()));
    Lines lines(memory, of_page);
    visit(of_page, lines);
    rest = rest.subspan(of_page.size());
  }
}

/// The first bytes would be torn if they were written with the page.
bool needs_own_write(const CodeChange& change, ChangeStep step) {
  return step != ChangeStep::tail && !change.is_second && !is_held_by_breakpoint(change.address) &&
         !NativeLivePatch::is_in_word(change.address);
}

}  // namespace

bool is_held_by_breakpoint(Address address) { return !NativeLivePatch::is_seen_whole(address); }

bool is_of_change(const CodeChange& change, std::span<const std::byte> there) {
  for (std::size_t i = 0; i < change.size; ++i) {
    const bool is_held =
        (i < kWait.size() && there[i] == kWait[i]) ||
        (i < arch::Native::kBreakpoint.size() && there[i] == arch::Native::kBreakpoint[i]);
    if (there[i] != change.from[i] && there[i] != change.to[i] && !is_held) {
      return false;
    }
  }
  return true;
}

void sort_changes(std::vector<CodeChange>& changes) {
  std::stable_sort(changes.begin(), changes.end(),
                   [](const CodeChange& a, const CodeChange& b) { return a.address < b.address; });
}

bool take_step(int memory, std::span<const CodeChange> changes, ChangeStep step) {
  bool is_written = true;
  for_each_page_of(memory, changes, [&](std::span<const CodeChange> of_page, Lines& lines) {
    if (!lines.is_read()) {
      is_written = false;
      return;
    }
    bool any_alone = false;
    for (const CodeChange& change : of_page) {
      if (needs_own_write(change, step)) {
        any_alone = true;
      } else {
        put_step(change, step, lines.at(change.address));
      }
    }
    is_written = lines.write() && is_written;
    for (const CodeChange& change : of_page) {
      if (any_alone && needs_own_write(change, step)) {
        put_step(change, step, lines.at(change.address));
        is_written = lines.write(NativeLivePatch::store_range(change.address)) && is_written;
      }
    }
  });
  return is_written;
}

void wait_for_every_cpu() {
  if (::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) != 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

std::vector<FoundBytes> read_changes(int memory, std::span<const CodeChange> changes) {
  std::vector<FoundBytes> found;
  for_each_page_of(memory, changes, [&](std::span<const CodeChange> of_page, Lines& lines) {
    for (const CodeChange& change : of_page) {
      if (lines.is_read()) {
        FoundBytes& one = found.emplace_back(FoundBytes{change, {}});
        std::copy_n(lines.at(change.address).begin(), change.size, one.there.begin());
      }
    }
  });
  return found;
}

}  // namespace sp::supervisor
