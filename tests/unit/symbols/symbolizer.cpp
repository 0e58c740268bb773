#include "symbols/symbolizer.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <gtest/gtest.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cstring>
#include <future>
#include <string>
#include <thread>
#include <utility>

#include "symbols/elf_sections.h"
#include "unit/symbols/elf_builder.h"
#include "unit/symbols/own_base.h"
#include "unit/symbols/scratch_folder.h"

namespace {

using sp::core::Address;
using sp::core::ElfImage;
using sp::core::MappedFile;
using sp::core::Module;
using sp::core::ModuleId;
using sp::core::ModuleKind;
using sp::core::ModuleOffset;
using sp::symbols::NamedFrame;
using sp::symbols::Symbolizer;
using sp::test::ElfBuilder;

constexpr ModuleId kId{1};

std::shared_ptr<const ElfImage> image_of(const std::string& path) {
  const auto file = MappedFile::open(path);
  return file ? ElfImage::parse(*file).value_or(nullptr) : nullptr;
}

Module module_of(const std::string& path, std::shared_ptr<const ElfImage> image) {
  Module module;
  module.id = kId;
  module.kind = ModuleKind::file;
  module.path = path;
  module.build_id = image != nullptr ? image->build_id() : "";
  module.image = std::move(image);
  return module;
}

struct Caller {
  std::uint64_t return_address = 0;
  std::uint32_t line = 0;
};

[[gnu::noinline]] Caller who_calls(std::uint32_t line) {
  asm volatile("");
  return {reinterpret_cast<std::uint64_t>(__builtin_return_address(0)), line};  // NOLINT
}

[[gnu::always_inline]] inline Caller inlined_twice() { return who_calls(__LINE__); }
[[gnu::always_inline]] inline Caller inlined_once() { return inlined_twice(); }
constexpr std::uint32_t kLineOfInlinedOnce = __LINE__ - 1;

[[gnu::noinline]] Caller holds_inlined_calls() {
  Caller caller = inlined_once();
  asm volatile("" : "+m"(caller));
  return caller;
}
constexpr std::uint32_t kLineOfHolder = __LINE__ - 4;

TEST(Symbolizer, names_inlined_calls_with_their_lines) {
  Symbolizer symbolizer({});
  symbolizer.add_module(module_of("/proc/self/exe", image_of("/proc/self/exe")));
  const Caller caller = holds_inlined_calls();
  const auto& frames = symbolizer.name({kId, caller.return_address - sp::test::own_base()}, true);
  ASSERT_EQ(frames.size(), 3U);
  EXPECT_NE(frames[0].function.find("inlined_twice"), std::string::npos);
  EXPECT_NE(frames[1].function.find("inlined_once"), std::string::npos);
  EXPECT_NE(frames[2].function.find("holds_inlined_calls()"), std::string::npos);
  EXPECT_TRUE(frames[0].inlined);
  EXPECT_FALSE(frames[2].inlined);
  EXPECT_EQ(frames[0].start, frames[2].start);
  const std::uint32_t lines[] = {caller.line, kLineOfInlinedOnce, kLineOfHolder};
  for (std::size_t i = 0; i < frames.size(); ++i) {
    ASSERT_TRUE(frames[i].source.has_value()) << i;
    EXPECT_EQ(frames[i].source->line, lines[i]) << i;
    EXPECT_TRUE(frames[i].source->file.ends_with("unit/symbols/symbolizer.cpp"))
        << frames[i].source->file;
  }
}

TEST(Symbolizer, reads_a_file_on_another_thread_for_which_only_its_names_wait) {
  std::promise<void> may_read;
  std::thread::id reader;
  sp::symbols::SymbolizerOptions options;
  options.beside = [&](const std::function<void()>& work) {
    reader = std::this_thread::get_id();
    may_read.get_future().wait();
    work();
  };
  Symbolizer symbolizer(std::move(options));
  constexpr ModuleId kOther{2};
  constexpr ModuleId kUnknown{3};
  symbolizer.add_module(module_of("/proc/self/exe", image_of("/proc/self/exe")));
  Module other = module_of("/no/such/file", nullptr);
  other.id = kOther;
  symbolizer.add_module(other);
  const Caller caller = holds_inlined_calls();
  const ModuleOffset where{kId, caller.return_address - sp::test::own_base()};
  EXPECT_TRUE(symbolizer.prepare({kUnknown, 16}));
  EXPECT_TRUE(symbolizer.prepare(where));
  EXPECT_FALSE(symbolizer.prepare({kOther, 16})) << "one file at a time";
  may_read.set_value();
  EXPECT_EQ(symbolizer.name(where, true).size(), 3U);
  EXPECT_NE(reader, std::thread::id{});
  EXPECT_NE(reader, std::this_thread::get_id());
  EXPECT_TRUE(symbolizer.prepare(where)) << "it is read";
}

TEST(Symbolizer, reads_no_lines_when_they_are_not_wanted) {
  Symbolizer symbolizer({.debug_directories = {}, .source_lines = false, .server = nullptr});
  symbolizer.add_module(module_of("/proc/self/exe", image_of("/proc/self/exe")));
  const auto& frames =
      symbolizer.name({kId, holds_inlined_calls().return_address - sp::test::own_base()}, true);
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_FALSE(frames[0].source.has_value());
}

// A loaded libc is a real stripped library; its table names each of its functions.
TEST(Symbolizer, names_every_exported_function_of_libc_at_both_ends) {
  Dl_info info{};
  ASSERT_NE(::dladdr(reinterpret_cast<const void*>(&::gnu_get_libc_version), &info), 0);  // NOLINT
  const auto image = image_of(info.dli_fname);
  ASSERT_NE(image, nullptr);
  const sp::symbols::ElfSections sections(image);
  const auto* table = sections.find(".dynsym");
  ASSERT_NE(table, nullptr);
  Symbolizer symbolizer({.debug_directories = {}, .source_lines = false, .server = nullptr});
  symbolizer.add_module(module_of(info.dli_fname, image));
  const auto bytes = sections.bytes(*table);
  int checked = 0;
  for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= bytes.size(); at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    std::memcpy(&symbol, bytes.data() + at, sizeof symbol);
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF ||
        symbol.st_size == 0) {
      continue;
    }
    for (const std::uint64_t offset : {std::uint64_t{0}, symbol.st_size - 1}) {
      const NamedFrame& frame = symbolizer.name({kId, symbol.st_value + offset}, false).back();
      EXPECT_TRUE(frame.has_symbol) << std::hex << symbol.st_value;
      EXPECT_GE(frame.start, symbol.st_value);
      EXPECT_LE(frame.start, symbol.st_value + offset);
    }
    ++checked;
  }
  EXPECT_GT(checked, 1000);
  void* libc = ::dlopen(info.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
  ASSERT_NE(libc, nullptr);
  for (const char* name : {"puts", "malloc", "qsort", "fopen", "printf", "pthread_create"}) {
    const auto address = reinterpret_cast<std::uint64_t>(::dlsym(libc, name));  // NOLINT
    const auto base = reinterpret_cast<std::uint64_t>(info.dli_fbase);          // NOLINT
    EXPECT_EQ(symbolizer.name({kId, address - base}, false).back().function, name);
  }
  ::dlclose(libc);
}

TEST(Symbolizer, names_the_vdso) {
  const auto base = ::getauxval(AT_SYSINFO_EHDR);
  if (base == 0) {
    GTEST_SKIP() << "this machine gives its processes no vdso";
  }
  Elf64_Ehdr header;
  std::memcpy(&header, reinterpret_cast<const void*>(base), sizeof header);  // NOLINT
  sp::test::Bytes bytes(header.e_shoff + header.e_shnum * sizeof(Elf64_Shdr));
  std::memcpy(bytes.data(), reinterpret_cast<const void*>(base), bytes.size());  // NOLINT
  Module module = module_of("[vdso]", *ElfImage::parse(MappedFile::copy(std::move(bytes))));
  module.kind = ModuleKind::vdso;
  const sp::symbols::ElfSections sections(module.image);
  const auto* table = sections.find(".dynsym");
  ASSERT_NE(table, nullptr);
  Symbolizer symbolizer({});
  symbolizer.add_module(module);
  std::string all;
  const auto symbols = sections.bytes(*table);
  for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= symbols.size(); at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    std::memcpy(&symbol, symbols.data() + at, sizeof symbol);
    if (symbol.st_size != 0) {
      all += symbolizer.name({kId, symbol.st_value}, false).back().function + " ";
    }
  }
  EXPECT_NE(all.find("clock_gettime"), std::string::npos) << all;
}

TEST(Symbolizer, looks_return_addresses_up_one_byte_back) {
  ElfBuilder builder;
  const auto text = builder.add_code(".text", 0x1000, 0x100);
  builder.add_symbol({"never_returns", 0x1000, 0x10, text});
  builder.add_symbol({"neighbour", 0x1010, 0x10, text});
  Symbolizer symbolizer({});
  symbolizer.add_module(module_of("/opt/prog", builder.build_image()));
  EXPECT_EQ(symbolizer.name({kId, 0x1010}, true).back().function, "never_returns");
  EXPECT_EQ(symbolizer.name({kId, 0x1010}, false).back().function, "neighbour");
}

TEST(Symbolizer, gives_what_has_no_name_its_module_and_offset) {
  Symbolizer symbolizer({});
  symbolizer.add_module(module_of("/opt/gone/prog", nullptr));
  const NamedFrame frame = symbolizer.name({kId, 0x1234}, false).back();
  EXPECT_EQ(frame.function, "prog+0x1234");
  EXPECT_FALSE(frame.has_symbol);
  EXPECT_EQ(symbolizer.name({ModuleId{99}, 0x1234}, false).back().function, "[unknown]+0x1234");
  EXPECT_EQ(symbolizer.name({kId, 0}, true).back().function, "prog+0xffffffffffffffff");
}

TEST(Symbolizer, reads_the_symbols_of_a_separate_debug_file) {
  const sp::test::ScratchFolder folder;
  ElfBuilder debug;
  debug.set_build_id("\x01\x02\x03\x04");
  const auto empty = debug.add({".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, {}, 0x100});
  debug.add_symbol({"_ZN3foo3barEv", 0x1000, 0x10, empty, STT_FUNC, STB_LOCAL});
  folder.write(".build-id/01/020304.debug", debug.build());
  ElfBuilder stripped;
  stripped.set_build_id("\x01\x02\x03\x04");
  stripped.add_code(".text", 0x1000, 0x100);
  Symbolizer symbolizer(
      {.debug_directories = {folder.path()}, .source_lines = true, .server = nullptr});
  symbolizer.add_module(module_of("/opt/prog", stripped.build_image()));
  EXPECT_EQ(symbolizer.name({kId, 0x1008}, false).back().function, "foo::bar()");
}

TEST(Symbolizer, names_jit_code_as_soon_as_its_map_does) {
  const sp::test::ScratchFolder root;
  const std::string map = "tmp/perf-" + std::to_string(::getpid()) + ".map";
  root.write(map, "1000 10 first\n");
  Module module;
  module.id = kId;
  module.kind = ModuleKind::jit;
  module.path = "[jit]";
  module.process.pid = ::getpid();
  module.root = root.path();
  Symbolizer symbolizer({});
  symbolizer.add_module(module);
  EXPECT_EQ(symbolizer.name({kId, 0x1004}, false).back().function, "first");
  EXPECT_EQ(symbolizer.name({kId, 0x2004}, false).back().function, "[jit]+0x2004");
  root.write(map, "1000 10 first\n2000 10 LazyCompile:*second file.js:1\n");
  EXPECT_EQ(symbolizer.name({kId, 0x2004}, false).back().function, "LazyCompile:*second file.js:1");
}

}  // namespace
