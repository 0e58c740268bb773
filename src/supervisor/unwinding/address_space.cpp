#include "supervisor/unwinding/address_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {
namespace {

bool shows_same(const core::Mapping& a, const core::Mapping& b) {
  return a.range == b.range && a.file_offset == b.file_offset && a.inode == b.inode &&
         a.device == b.device && a.path == b.path;
}

}  // namespace

std::span<const std::byte> CodeRegion::code_from(core::Address address) const {
  const std::uint64_t at = address - range.begin;
  return at < code.size() ? code.subspan(at) : std::span<const std::byte>();
}

std::span<const std::byte> CodeRegion::code_before(core::Address address) const {
  const std::uint64_t at = address - range.begin;
  return at <= code.size() ? code.first(at) : std::span<const std::byte>();
}

AddressSpace::AddressSpace(ModuleTable& modules, core::ProcessId process, RefreshOptions options)
    : modules_(modules), options_(options) {
  files_.process = process;
  files_.tid = process.pid;
}

void AddressSpace::set_maps(std::vector<core::Mapping> maps, pid_t tid, bool is_followed) {
  files_.tid = tid;
  maps_text_.clear();
  inherited_ = false;
  if (rebuild(std::move(maps), true) && is_followed) {
    told_ = regions_;
  }
}

void AddressSpace::inherit(const AddressSpace& parent) {
  inherited_ = true;
  maps_ = parent.maps_;
  regions_ = parent.regions_;
  told_ = parent.told_;
}

void AddressSpace::begin_sample(pid_t tid, core::TimePoint now) {
  files_.tid = tid;
  now_ = now;
  if (!refreshed_ || now - *refreshed_ >= options_.period) {
    refresh();
  }
}

const CodeRegion* AddressSpace::find(core::Address address) {
  CodeRegion* region = find_known(address);
  const bool may_look = !refreshed_ || now_ - *refreshed_ >= options_.after_miss;
  if (region == nullptr && may_look) {
    refresh();
    region = find_known(address);
  }
  return with_module(region);
}

const CodeRegion* AddressSpace::find_mapped(core::Address address) {
  if (CodeRegion* const told = find_in(told_, address)) {
    return with_module(told);
  }
  CodeRegion* const known = find_known(address);
  const bool is_file = known != nullptr && known->module != nullptr && known->module != jit_;
  return is_file && !told_.empty() ? nullptr : with_module(known);
}

const CodeRegion* AddressSpace::with_module(CodeRegion* region) {
  if (region != nullptr && region->module == nullptr) {
    if (jit_ == nullptr) {
      jit_ = modules_.jit_module(files_);
    }
    region->module = jit_;
  }
  return region;
}

const core::Mapping* AddressSpace::mapping_at(core::Address address) const {
  return core::find_mapping(maps_, address);
}

CodeRegion* AddressSpace::find_in(std::vector<CodeRegion>& regions, core::Address address) {
  const auto behind = std::upper_bound(
      regions.begin(), regions.end(), address,
      [](core::Address a, const CodeRegion& region) { return a < region.range.end; });
  return behind != regions.end() && behind->range.contains(address) ? &*behind : nullptr;
}

void AddressSpace::refresh() {
  refreshed_ = now_;
  auto text = read_proc(fmt::format("/proc/{}/task/{}/maps", files_.process.pid, files_.tid));
  if (!text || text->empty()) {
    // A leader that has ended shows nothing although its threads live on.
    text = read_proc(fmt::format("/proc/{}/maps", files_.process.pid));
  }
  if (!text || text->empty() || *text == maps_text_) {
    return;
  }
  if (rebuild(core::parse_maps(*text), inherited_ || regions_.empty())) {
    inherited_ = false;
    maps_text_ = std::move(*text);
  }
}

/// False if the maps are of another program: after an exec, or if the pid was reused, they share no
/// mapped file with the program whose samples are still being unwound. `may_be_another` accepts
/// them anyway.
bool AddressSpace::rebuild(std::vector<core::Mapping> maps, bool may_be_another) {
  if (maps.empty()) {
    return false;
  }
  const auto known_region = [&](const core::Mapping& mapping) -> const CodeRegion* {
    const core::Mapping* old = core::find_mapping(maps_, mapping.range.begin);
    return old != nullptr && old->executable && shows_same(*old, mapping)
               ? find_known(mapping.range.begin)
               : nullptr;
  };
  // What we map is at the same addresses in every program.
  const auto is_known_file = [&](const core::Mapping& mapping) {
    return mapping.inode != 0 && known_region(mapping) != nullptr;
  };
  if (!may_be_another && std::none_of(maps.begin(), maps.end(), is_known_file)) {
    return false;
  }
  if (!root_known_) {
    root_known_ = true;
    files_.root = foreign_root(files_.process, files_.tid);
  }
  std::vector<CodeRegion> regions;
  for (const core::Mapping& mapping : maps) {
    if (mapping.executable && mapping.path != "[vsyscall]") {  // emulated by the kernel
      const CodeRegion* known = known_region(mapping);
      regions.push_back(known != nullptr ? *known : region_of(mapping, maps));
    }
  }
  regions_ = std::move(regions);
  maps_ = std::move(maps);
  return true;
}

CodeRegion AddressSpace::region_of(const core::Mapping& mapping,
                                   const std::vector<core::Mapping>& maps) {
  CodeModule* module = nullptr;
  if (mapping.path == "[vdso]") {
    module = modules_.vdso_module(files_, mapping);
  } else if (mapping.inode != 0) {
    module = modules_.file_module(files_, mapping, maps);
  }
  const auto bias = module != nullptr ? load_bias(*module->image, mapping) : std::nullopt;
  if (!bias) {
    return {mapping.range, nullptr, 0, {}};
  }
  const auto file = module->image->bytes();
  const std::uint64_t offset = std::min<std::uint64_t>(mapping.file_offset, file.size());
  const std::uint64_t size = std::min<std::uint64_t>(mapping.range.size(), file.size() - offset);
  return {mapping.range, module, *bias, file.subspan(offset, size)};
}

std::optional<core::Address> AddressSpace::address_of(core::ModuleOffset where) const {
  for (const CodeRegion& region : regions_) {
    const core::Address address{where.offset + region.bias};
    if (region.module != nullptr && region.module->id == where.module &&
        region.range.contains(address)) {
      return address;
    }
  }
  return std::nullopt;
}

}  // namespace sp::supervisor
