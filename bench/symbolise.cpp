// How long it takes to symbolise addresses of a file: the first one, which opens its debug
// information, and others, evenly spread over its code.
//
//   symbolise FILE...

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <memory>

#include "core/clock.h"
#include "core/elf_image.h"
#include "core/mapped_file.h"
#include "symbols/symbolizer.h"

namespace sp {
namespace {

constexpr std::uint64_t kFurther = 2000;

void measure(const char* path) {
  auto file = core::MappedFile::open(path);
  if (!file) {
    fmt::print("{}: {}\n", path, file.error().message());
    return;
  }
  const auto image = core::ElfImage::parse(*file);
  if (!image) {
    fmt::print("{}: {}\n", path, image.error().message());
    return;
  }
  symbols::Symbolizer symbolizer({});
  core::Module module;
  module.id = core::ModuleId{1};
  module.kind = core::ModuleKind::file;
  module.path = path;
  module.build_id = (*image)->build_id();
  module.image = *image;
  symbolizer.add_module(module);
  core::LoadSegment code;
  for (const core::LoadSegment& segment : (*image)->segments()) {
    if (segment.executable && segment.file_size > code.file_size) {
      code = segment;
    }
  }
  const auto name = [&](std::uint64_t number) {
    const std::uint64_t offset = code.address + code.file_size / (kFurther + 2) * number;
    return symbolizer.name({module.id, offset}, false).front().has_symbol;
  };
  const auto start = core::Clock::now();
  std::uint64_t named = name(kFurther / 2) ? 1 : 0;
  const auto first = core::Clock::now();
  for (std::uint64_t i = 0; i < kFurther; ++i) {
    named += name(i) ? 1 : 0;
  }
  const auto end = core::Clock::now();
  fmt::print(
      "{}: {:.0f} MB, first address {:.1f} ms, each of {} further ones {:.1f} us, {} named\n", path,
      static_cast<double>((*image)->bytes().size()) / 1e6, core::seconds(first - start) * 1e3,
      kFurther, core::seconds(end - first) * 1e6 / static_cast<double>(kFurther), named);
}

}  // namespace
}  // namespace sp

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    sp::measure(argv[i]);
  }
}
