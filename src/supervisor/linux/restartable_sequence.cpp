#include "supervisor/linux/restartable_sequence.h"

#include <sys/ptrace.h>

#include <array>
#include <cstdint>
#include <span>

#include "supervisor/linux/process_vm.h"

namespace sp::supervisor {
namespace {

/// linux/ptrace.h: struct ptrace_rseq_configuration.
struct Configuration {
  std::uint64_t area = 0;
  std::uint32_t size = 0;
  std::uint32_t signature = 0;
  std::uint32_t flags = 0;
  std::uint32_t pad = 0;
};
constexpr auto kGetConfiguration = static_cast<__ptrace_request>(0x420F);
/// linux/rseq.h: rseq_cs in struct rseq.
constexpr std::uint64_t kSectionOfArea = 8;
/// linux/rseq.h: struct rseq_cs.
struct Section {
  std::uint32_t version = 0;
  std::uint32_t flags = 0;
  std::uint64_t start = 0;
  std::uint64_t size = 0;
  std::uint64_t abort = 0;
};

template <typename T>
bool read(pid_t tid, std::uint64_t at, T& to) {
  return copy_memory(tid, core::Address{at}, std::as_writable_bytes(std::span(&to, 1))) ==
         sizeof to;
}

}  // namespace

std::optional<core::AddressRange> restartable_sequence(pid_t tid) {
  Configuration configuration;
  std::uint64_t at = 0;
  Section section;
  if (::ptrace(kGetConfiguration, tid, sizeof configuration, &configuration) <= 0 ||
      configuration.area == 0 || !read(tid, configuration.area + kSectionOfArea, at) || at == 0 ||
      !read(tid, at, section)) {
    return std::nullopt;
  }
  return core::AddressRange{core::Address{section.start},
                            core::Address{section.start + section.size}};
}

}  // namespace sp::supervisor
