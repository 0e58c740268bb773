#include "supervisor/linux/address_room.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <charconv>
#include <limits>
#include <string_view>

#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {
namespace {

/// A field in kB, as bytes; 0 where it is missing.
std::uint64_t size_in(std::string_view status, std::string_view name) {
  const auto field = status_field(status, name);
  std::uint64_t size = 0;
  if (field) {
    (void)std::from_chars(field->data(), field->data() + field->size(), size);
  }
  return size << 10U;
}

}  // namespace

std::uint64_t room_for_us(pid_t tid) {
  constexpr std::uint64_t kOfLocked = std::uint64_t{1} << 20U;
  constexpr std::uint64_t kShare = 8;  // of what is left is ours
  const auto status = read_proc(fmt::format("/proc/{}/status", tid));
  if (status && size_in(*status, "VmLck") > 0) {
    return kOfLocked;
  }
  rlimit limit{};
  if (!status || ::prlimit(tid, RLIMIT_AS, nullptr, &limit) != 0 ||
      limit.rlim_cur == RLIM_INFINITY) {
    return std::numeric_limits<std::uint64_t>::max();
  }
  const std::uint64_t used = size_in(*status, "VmSize");
  return limit.rlim_cur > used ? (limit.rlim_cur - used) / kShare : 0;
}

}  // namespace sp::supervisor
