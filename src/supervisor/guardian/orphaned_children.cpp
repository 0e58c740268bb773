#include "supervisor/guardian/orphaned_children.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "arch/native.h"

namespace sp::supervisor {
namespace {

using Rescue = arch::NativeTrapHandler::Rescue;

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

std::vector<pid_t> all_processes() {
  std::vector<pid_t> pids;
  const std::unique_ptr<DIR, CloseDirectory> proc(::opendir("/proc"));
  while (const dirent* const entry = proc ? ::readdir(proc.get()) : nullptr) {
    if (const int pid = std::atoi(&entry->d_name[0]); pid > 0) {
      pids.push_back(pid);
    }
  }
  return pids;
}

/// The address space that a handler's page names; nothing if there is no such page of that
/// superprofiler.
std::optional<std::uint32_t> read_space(int memory, std::uint64_t handler,
                                        std::uint64_t superprofiler) {
  static_assert(Rescue::kSpace == Rescue::kOwner + sizeof(std::uint64_t));
  std::array<std::uint64_t, 2> words{};
  if (::pread(memory, words.data(), sizeof words, static_cast<off_t>(handler + Rescue::kOwner)) ==
          static_cast<ssize_t>(sizeof words) &&
      words[0] == superprofiler) {
    return static_cast<std::uint32_t>(words[1]);
  }
  return std::nullopt;
}

}  // namespace

std::vector<OrphanedChild> find_orphaned_children(const std::set<std::uint64_t>& handlers,
                                                  std::uint64_t superprofiler,
                                                  const std::set<pid_t>& known) {
  std::vector<OrphanedChild> orphans;
  for (const pid_t pid : all_processes()) {
    if (handlers.empty() || known.contains(pid)) {
      continue;
    }
    core::UniqueFd memory(
        ::open(("/proc/" + std::to_string(pid) + "/mem").c_str(), O_RDWR | O_CLOEXEC));
    for (const std::uint64_t handler : handlers) {
      const auto space = read_space(memory.get(), handler, superprofiler);
      if (space) {
        orphans.push_back({pid, std::move(memory), *space, handler});
        break;
      }
    }
  }
  return orphans;
}

}  // namespace sp::supervisor
