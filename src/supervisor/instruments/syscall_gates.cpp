#include "supervisor/instruments/syscall_gates.h"

#include <array>
#include <optional>
#include <string_view>

#include "arch/native.h"

namespace sp::supervisor {
namespace {

using arch::Native;
using core::Address;

constexpr auto kCalls =
    std::to_array<std::string_view>({"rt_sigprocmask", "rt_sigaction", "clone", "clone3",
                                     "mprotect", "pkey_mprotect", "arch_prctl"});

}  // namespace

bool SyscallGates::insert(InstrumentedCode& code, const ModuleScan& scan) {
  const ModuleScan::CallingModules calling = scan.find_calling_modules();
  std::vector<BreakpointSite*> gates;
  for (const auto& [module, inode] : calling.modules) {
    for (const Place& place : places_in(module, inode)) {
      const Address at{place.address + *module.bias};
      const auto instruction = module.range.contains(at) ? code.decode(at) : std::nullopt;
      if (BreakpointSite* const site = instruction ? code.gate_site(*instruction) : nullptr) {
        site->gate = place.gate;
        site->gate_number = static_cast<std::uint16_t>(place.number);
        gates.push_back(site);
      }
    }
  }
  code.insert_all(std::move(gates));
  return calling.are_all;
}

SyscallGates::MaskChanges SyscallGates::find_mask_changes(const ModuleScan& scan) {
  const ModuleScan::CallingModules calling = scan.find_calling_modules();
  MaskChanges found{{}, calling.are_all};
  for (const auto& [module, inode] : calling.modules) {
    for (const Place& place : places_in(module, inode)) {
      const Address at{place.address + *module.bias};
      if (place.gate == Gate::at_call && module.range.contains(at) &&
          Native::syscall_name(place.number).starts_with("rt_sig")) {
        found.behind.push_back(at + arch::NativeTrapHandler::kSyscall.size());
      }
    }
  }
  return found;
}

const std::vector<SyscallGates::Place>& SyscallGates::places_in(const ScannedModule& module,
                                                                std::uint64_t inode) {
  const auto [found, is_new] = known_.try_emplace({inode, module.file.path});
  if (is_new) {
    found->second = find(module);
  }
  return found->second;
}

std::vector<SyscallGates::Place> SyscallGates::find(const ScannedModule& module) {
  std::vector<Place> places;
  const core::ElfImage& image = *module.file.image;
  for (const core::LoadSegment& segment : image.segments()) {
    if (!segment.executable) {
      continue;
    }
    for (const arch::SyscallSite& site :
         Native::find_syscall_sites(image.bytes_at(segment.address), kCalls)) {
      const bool makes_task = Native::syscall_name(site.number).starts_with("clone");
      places.push_back(makes_task
                           ? Place{segment.address + site.number_at, Gate::at_number, site.number}
                           : Place{segment.address + site.call_at, Gate::at_call, site.number});
    }
  }
  const auto function = analysis_ != nullptr ? analysis_->symbol(module.file, "syscall")
                                             : std::optional<std::uint64_t>{};
  if (function) {
    places.push_back({*function, Gate::at_function, 0});
  }
  return places;
}

}  // namespace sp::supervisor
