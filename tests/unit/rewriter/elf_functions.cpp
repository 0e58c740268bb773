#include "unit/rewriter/elf_functions.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "analyzer/control_flow_graph.h"
#include "core/mapped_file.h"
#include "core/table_hints.h"
#include "rewriter/jump_targets.h"
#include "rewriter/padding.h"
#include "symbols/instrumentation_candidates.h"

namespace sp::rewriter {

using core::Address;
using core::Flow;

namespace {

/// Leaders that no direct jump or branch of the function leads to, nor the instruction in front:
/// entries and destinations of jump tables.
std::vector<Address> find_entries(const core::ControlFlowGraph& graph) {
  std::set<Address> reached;
  for (const core::BasicBlock& block : graph.blocks) {
    const Flow flow = block.last.flow;
    if (block.last.target && flow != Flow::call) {
      reached.insert(*block.last.target);
    }
    if (block.falls_through || flow == Flow::branch || flow == Flow::call ||
        flow == Flow::indirect_call) {
      reached.insert(block.last.next());
    }
  }
  std::vector<Address> entries;
  for (const core::BasicBlock& block : graph.blocks) {
    if (!reached.contains(block.start)) {
      entries.push_back(block.start);
    }
  }
  return entries;
}

/// Addresses of code that the file's relocated data hold.
std::vector<std::uint64_t> find_pointers(const std::shared_ptr<const core::ElfImage>& image) {
  const symbols::ElfSections sections(image);
  const symbols::Section* section = sections.find(".rela.dyn");
  std::vector<std::uint64_t> pointers;
  if (section == nullptr) {
    return pointers;
  }
  const auto bytes = sections.bytes(*section);
  for (std::size_t at = 0; at + sizeof(Elf64_Rela) <= bytes.size(); at += sizeof(Elf64_Rela)) {
    Elf64_Rela relocation;
    std::memcpy(&relocation, bytes.data() + at, sizeof(relocation));
    if (ELF64_R_TYPE(relocation.r_info) == R_X86_64_RELATIVE) {
      pointers.push_back(static_cast<std::uint64_t>(relocation.r_addend));
    }
  }
  std::sort(pointers.begin(), pointers.end());
  return pointers;
}

}  // namespace

core::FunctionToCopy ElfFunction::to_copy() const {
  core::FunctionToCopy function;
  function.bounds = bounds;
  function.code = code;
  function.graph = &graph;
  function.entries = entries;
  function.dead = {padding};
  function.is_complete = jumps_through_pointers(graph, bounds, code);
  function.copies_tables = true;
  return function;
}

std::optional<ElfFunctions> ElfFunctions::open(const std::string& path, std::uint64_t bias,
                                               bool is_loaded) {
  const auto file = core::MappedFile::open(path);
  if (!file) {
    return std::nullopt;
  }
  const auto image = core::ElfImage::parse(*file);
  if (!image) {
    return std::nullopt;
  }
  ElfFunctions functions;
  functions.image_ = *image;
  functions.bias_ = bias;
  functions.is_loaded_ = is_loaded;
  const auto sources = symbols::find_symbol_sources(*image, path, "", {});
  functions.pointers_ = find_pointers(*image);
  functions.candidates_ = symbols::find_candidates(**image, sources);
  return functions;
}

ElfFunction ElfFunctions::at(std::size_t index) const {
  const core::CandidateFunction& candidate = candidates_.functions[index];
  ElfFunction function;
  function.bounds = {Address{candidate.begin + bias_}, Address{candidate.end + bias_}};
  function.code = image_->bytes_at(candidate.begin);
  function.code =
      function.code.first(std::min<std::size_t>(function.code.size(), function.bounds.size()));
  std::vector<Address> leaders{function.bounds.begin};
  for (const std::uint64_t pad : candidate.landing_pads) {
    leaders.push_back(Address{pad + bias_});
  }
  for (auto pointer = std::lower_bound(pointers_.begin(), pointers_.end(), candidate.begin);
       pointer != pointers_.end() && *pointer < candidate.end; ++pointer) {
    leaders.push_back(Address{*pointer + bias_});
  }
  if (index + 1 < size()) {
    const std::uint64_t next = candidates_.functions[index + 1].begin;
    const auto behind = image_->bytes_at(candidate.end);
    function.padding =
        find_padding(behind.first(std::min<std::size_t>(behind.size(), next - candidate.end)),
                     function.bounds.end);
  }
  const core::TableHints hints{[](core::AddressRange) { return std::optional<Address>(); },
                               [](Address) { return true; }, [](Address) { return false; }};
  function.graph = analyzer::build_control_flow_graph(
      function.bounds, leaders,
      [&](Address from, std::span<std::byte> into) {
        const auto bytes = image_->bytes_at(from.value() - bias_);
        const std::size_t size = std::min(bytes.size(), into.size());
        const auto* const begin =
            is_loaded_ ? reinterpret_cast<const std::byte*>(from.value()) : bytes.data();  // NOLINT
        std::copy_n(begin, size, into.begin());
        return size;
      },
      &hints);
  function.entries = find_entries(function.graph);
  std::copy_if(leaders.begin(), leaders.end(), std::back_inserter(function.entries),
               [&](Address leader) { return function.bounds.contains(leader); });
  return function;
}

}  // namespace sp::rewriter
