#include "supervisor/unwinding/module_table.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace sp::supervisor {
namespace {

core::Module describe(const ProcessFiles& process, core::ModuleKind kind, std::string path) {
  core::Module module;
  module.kind = kind;
  module.path = std::move(path);
  module.process = process.process;
  module.root = process.root;
  return module;
}

std::shared_ptr<const core::ElfImage> parse_file(const OpenedFile& file, const std::string& path) {
  const auto mapped = core::MappedFile::map(file.fd.get(), path);
  if (!mapped) {
    return nullptr;
  }
  auto image = core::ElfImage::parse(*mapped);
  return image ? *image : nullptr;
}

bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace

CodeModule* ModuleTable::add(core::Module module) {
  auto code = std::make_unique<CodeModule>();
  module.id = core::ModuleId{static_cast<std::uint32_t>(modules_.size())};
  code->id = module.id;
  if (module.image != nullptr) {
    module.build_id = module.image->build_id();
    code->image = module.image;
    code->frames = std::make_unique<FrameTable>(module.image);
    code->lowest = std::numeric_limits<std::uint64_t>::max();
    for (const core::LoadSegment& segment : module.image->segments()) {
      code->lowest = std::min(code->lowest, segment.address);
    }
    constexpr std::uint64_t kLargestPage = 0x10000;
    code->lowest -= code->lowest % kLargestPage;
  }
  new_.push_back(std::move(module));
  modules_.push_back(std::move(code));
  return modules_.back().get();
}

CodeModule* ModuleTable::file_module(const ProcessFiles& process, const core::Mapping& mapping,
                                     const std::vector<core::Mapping>& maps) {
  auto& known = files_[{mapping.device, mapping.inode, mapping.path}];
  const auto file = open_mapped_file(process, mapping);
  const FileStamp stamp = file ? file->stamp : FileStamp{};
  for (const KnownFile& candidate : known) {
    if (!file || candidate.stamp == stamp) {
      return candidate.module;
    }
  }
  auto image = file ? parse_file(*file, mapping.path) : image_from_memory(process, mapping, maps);
  if (image == nullptr) {
    if (file) {
      known.push_back({stamp, "", nullptr});
    }
    return nullptr;
  }
  for (const KnownFile& candidate : known) {
    // Touched, or first known from memory only: still the same program.
    if (candidate.module != nullptr && !image->build_id().empty() &&
        candidate.build_id == image->build_id()) {
      return candidate.module;
    }
  }
  core::Module module = describe(process, core::ModuleKind::file, mapping.path);
  module.deleted = mapping.deleted;
  module.image = image;
  module.base = core::Address{load_bias(*image, mapping).value_or(0)};
  known.push_back({stamp, image->build_id(), add(std::move(module))});
  return known.back().module;
}

CodeModule* ModuleTable::vdso_module(const ProcessFiles& process, const core::Mapping& mapping) {
  auto bytes = copy_mapping(process, mapping);
  if (bytes.empty() && !vdsos_.empty()) {
    return vdsos_.back();  // the process is gone; the kernel maps the same vdso into all
  }
  for (CodeModule* known : vdsos_) {
    if (same_bytes(known->image->bytes(), bytes)) {
      return known;
    }
  }
  auto image = core::ElfImage::parse(core::MappedFile::copy(std::move(bytes)));
  if (!image) {
    return nullptr;
  }
  core::Module module = describe(process, core::ModuleKind::vdso, "[vdso]");
  module.image = *image;
  module.base = core::Address{load_bias(**image, mapping).value_or(0)};
  vdsos_.push_back(add(std::move(module)));
  return vdsos_.back();
}

CodeModule* ModuleTable::jit_module(const ProcessFiles& process) {
  return add(describe(process, core::ModuleKind::jit, "[jit]"));
}

CodeModule* ModuleTable::unknown_module() {
  if (unknown_ == nullptr) {
    unknown_ = add(describe({}, core::ModuleKind::unknown, "[unknown]"));
  }
  return unknown_;
}

std::vector<core::Module> ModuleTable::take_new() { return std::exchange(new_, {}); }

}  // namespace sp::supervisor
