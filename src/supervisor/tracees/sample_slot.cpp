#include "supervisor/tracees/sample_slot.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace sp::supervisor {

std::string_view reread(core::UniqueFd& fd, const SampleSlot& slot, const char* name,
                        std::span<char> buffer) {
  const bool was_open = fd.valid();
  if (!was_open) {
    const auto path = fmt::format("/proc/{}/task/{}/{}", slot.process.pid, slot.thread.tid, name);
    fd.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  }
  const ssize_t got = ::pread(fd.get(), buffer.data(), buffer.size(), 0);
  return got > 0 ? std::string_view(buffer.data(), static_cast<std::size_t>(got))
                 : std::string_view{};
}

}  // namespace sp::supervisor
