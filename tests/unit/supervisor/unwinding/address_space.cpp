#include "supervisor/unwinding/address_space.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "core/clock.h"

namespace sp::supervisor {
namespace {

core::ProcessId self() { return {::getpid(), 1}; }

__attribute__((noinline)) int some_code(int x) { return x * 5; }

core::Address code_address() { return core::Address{reinterpret_cast<std::uint64_t>(&some_code)}; }

std::vector<core::Mapping> own_maps() {
  std::ifstream file("/proc/self/maps");
  return core::parse_maps(std::string(std::istreambuf_iterator<char>(file), {}));
}

/// Anonymous executable memory of this process.
class ExecutablePage {
 public:
  ExecutablePage()
      : memory_(::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ExecutablePage(const ExecutablePage&) = delete;
  ExecutablePage& operator=(const ExecutablePage&) = delete;
  ~ExecutablePage() { ::munmap(memory_, 4096); }
  [[nodiscard]] core::Address address() const {
    return core::Address{reinterpret_cast<std::uint64_t>(memory_)};
  }

 private:
  void* memory_;
};

TEST(AddressSpace, finds_code_of_a_file_with_its_bytes) {
  EXPECT_EQ(some_code(2), 10);
  ModuleTable modules;
  AddressSpace space(modules, self(), {});
  space.begin_sample(::getpid(), core::Clock::now());
  const CodeRegion* region = space.find(code_address());
  ASSERT_NE(region, nullptr);
  const auto found = modules.take_new();
  const auto id = static_cast<std::size_t>(region->module->id);
  ASSERT_LT(id, found.size());
  EXPECT_EQ(found[id].kind, core::ModuleKind::file);
  EXPECT_EQ(found[id].path, std::filesystem::read_symlink("/proc/self/exe").string());
  EXPECT_EQ(found[id].base.value() + region->elf_address(code_address()), code_address().value());
  const auto code = region->code_from(code_address());
  ASSERT_GE(code.size(), 4U);
  EXPECT_TRUE(
      std::equal(code.begin(), code.begin() + 4, reinterpret_cast<const std::byte*>(&some_code)));
}

TEST(AddressSpace, makes_each_file_one_module_for_all_processes) {
  ModuleTable modules;
  AddressSpace first(modules, {::getpid(), 1}, {});
  AddressSpace second(modules, {::getpid(), 2}, {});
  first.set_maps(own_maps(), ::getpid());
  const auto met = modules.take_new().size();
  EXPECT_GE(met, 3U);  // this program, libc, the vdso
  second.set_maps(own_maps(), ::getpid());
  EXPECT_TRUE(modules.take_new().empty());
  EXPECT_EQ(first.find(code_address())->module, second.find(code_address())->module);
}

TEST(AddressSpace, reads_the_map_again_for_code_that_is_new) {
  core::TimePoint now{};
  ModuleTable modules;
  AddressSpace space(modules, self(), {});
  space.begin_sample(::getpid(), now);
  const ExecutablePage page;
  EXPECT_EQ(space.find(page.address()), nullptr);  // too soon after the last time
  now += std::chrono::milliseconds(20);
  space.begin_sample(::getpid(), now);
  const CodeRegion* region = space.find(page.address());
  ASSERT_NE(region, nullptr);
  EXPECT_EQ(region->elf_address(page.address()), page.address().value());
  EXPECT_TRUE(region->code.empty());
}

TEST(AddressSpace, forgets_code_that_is_gone) {
  core::TimePoint now{};
  ModuleTable modules;
  AddressSpace space(modules, self(), {});
  core::Address gone;
  {
    const ExecutablePage page;
    gone = page.address();
    space.begin_sample(::getpid(), now);
    EXPECT_NE(space.find(gone), nullptr);
  }
  now += std::chrono::milliseconds(600);
  space.begin_sample(::getpid(), now);
  EXPECT_EQ(space.find(gone), nullptr);
}

TEST(AddressSpace, refuses_the_map_of_another_program_under_the_same_pid) {
  ModuleTable modules;
  AddressSpace space(modules, self(), {});
  auto other = own_maps();
  for (auto& mapping : other) {  // a program that was here before
    mapping.range.begin = mapping.range.begin + 0x10'0000'0000;
    mapping.range.end = mapping.range.end + 0x10'0000'0000;
  }
  space.set_maps(other, ::getpid());
  space.begin_sample(::getpid(), core::Clock::now());
  EXPECT_EQ(space.find(code_address()), nullptr);
}

TEST(AddressSpace, tells_programs_apart_that_have_other_memory_at_the_same_address) {
  const ExecutablePage page;  // as superprofiler maps it into each
  ModuleTable modules;
  AddressSpace space(modules, self(), {});
  auto other = own_maps();
  for (auto& mapping : other) {
    if (!mapping.range.contains(page.address())) {
      mapping.range.begin = mapping.range.begin + 0x10'0000'0000;
      mapping.range.end = mapping.range.end + 0x10'0000'0000;
    }
  }
  std::sort(other.begin(), other.end(), [](const core::Mapping& a, const core::Mapping& b) {
    return a.range.begin < b.range.begin;
  });
  space.set_maps(other, ::getpid());
  space.begin_sample(::getpid(), core::Clock::now());
  EXPECT_EQ(space.find(code_address()), nullptr);
  EXPECT_NE(space.find(page.address()), nullptr);
}

// Files come with a snapshot that is followed; what is mapped later was not there when it was
// counted.
TEST(AddressSpace, knows_for_counts_no_file_that_is_newer_than_the_last_followed_map) {
  const ExecutablePage page;
  auto before = own_maps();
  std::erase_if(before, [&page](const core::Mapping& mapping) {
    return mapping.range.contains(code_address()) || mapping.range.contains(page.address());
  });
  for (const bool is_followed : {true, false}) {
    ModuleTable modules;
    AddressSpace space(modules, self(), {});
    space.set_maps(before, ::getpid(), is_followed);
    space.begin_sample(::getpid(), core::Clock::now());
    EXPECT_NE(space.find(code_address()), nullptr);
    EXPECT_EQ(space.find_mapped(code_address()) == nullptr, is_followed);
    EXPECT_NE(space.find_mapped(page.address()), nullptr);
  }
}

TEST(AddressSpace, gives_a_forked_child_its_parents_code) {
  ModuleTable modules;
  AddressSpace parent(modules, self(), {});
  parent.set_maps(own_maps(), ::getpid());
  constexpr pid_t kNobody = 0x3ffffff;  // above any pid
  AddressSpace child(modules, {kNobody, 1}, {});
  child.inherit(parent);
  child.begin_sample(kNobody, core::Clock::now());
  ASSERT_NE(child.find(code_address()), nullptr);
  EXPECT_EQ(child.find(code_address())->module, parent.find(code_address())->module);
}

TEST(ModuleTable, builds_an_image_from_memory_where_the_file_is_gone) {
  const auto maps = own_maps();
  const core::Mapping* code = core::find_mapping(maps, code_address());
  ASSERT_NE(code, nullptr);
  const ProcessFiles process{self(), ::getpid(), ""};
  const auto image = image_from_memory(process, *code, maps);
  ASSERT_NE(image, nullptr);
  const auto file = core::ElfImage::parse(*core::MappedFile::open("/proc/self/exe"));
  EXPECT_EQ(image->build_id(), (*file)->build_id());
  EXPECT_EQ(load_bias(*image, *code), load_bias(**file, *code));
  FrameTable table(image);
  const std::uint64_t bias = load_bias(*image, *code).value_or(0);
  EXPECT_TRUE(table.find(code_address().value() - bias));
}

TEST(ModuleTable, does_not_take_a_file_for_another_that_has_its_name) {
  const auto maps = own_maps();
  core::Mapping mapping = *core::find_mapping(maps, code_address());
  mapping.path = "/usr/bin/true";
  mapping.range.end = mapping.range.end + 4096;  // no such entry in map_files
  const ProcessFiles process{self(), ::getpid(), ""};
  const auto file = open_mapped_file(process, mapping);
  ASSERT_TRUE(file);  // by /proc/PID/exe
  EXPECT_EQ(file->stamp.inode, mapping.inode);
}

}  // namespace
}  // namespace sp::supervisor
