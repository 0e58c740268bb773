#include "symbols/instrumentation_candidates.h"

#include <elf.h>

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

#include "core/bytes.h"
#include "symbols/cold_part.h"
#include "symbols/debug_files.h"
#include "symbols/eh_frame.h"
#include "symbols/elf_symbols.h"
#include "symbols/go_functions.h"
#include "symbols/mini_debug_info.h"

namespace sp::symbols {
namespace {

/// A range of code for which there is a symbol or an unwind entry.
struct Claim {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool is_weak = false;  // a function only if no other claim holds its first byte
};

struct Findings {
  std::vector<Claim> claims;
  std::vector<std::uint64_t> landing_pads;
  std::unordered_set<std::uint64_t> parts;  // where those of other functions begin
};

/// The regions that may hold code: executable sections without PLT stubs, or executable segments if
/// there are no section headers.
class CodeRegions {
 public:
  CodeRegions(const core::ElfImage& image, const ElfSections& sections) {
    for (const Section& section : sections.all()) {
      const bool is_plt =
          section.name == ".plt" || section.name.starts_with(".plt.") || section.name == ".iplt";
      if ((section.flags & SHF_EXECINSTR) != 0 && section.type == SHT_PROGBITS && !is_plt) {
        ranges_.push_back({section.address, section.address + section.size});
      }
    }
    if (sections.all().empty()) {
      for (const core::LoadSegment& segment : image.segments()) {
        if (segment.executable) {
          ranges_.push_back({segment.address, segment.address + segment.file_size});
        }
      }
    }
  }

  /// The range that holds an address; nullptr if there is no code.
  [[nodiscard]] const CodeRange* find(std::uint64_t address) const {
    const auto found =
        std::find_if(ranges_.begin(), ranges_.end(),
                     [address](const CodeRange& range) { return range.contains(address); });
    return found == ranges_.end() ? nullptr : &*found;
  }

 private:
  std::vector<CodeRange> ranges_;
};

void claim(Findings& findings, const CodeRegions& regions, std::uint64_t begin,
           std::optional<std::uint64_t> size) {
  const CodeRange* range = regions.find(begin);
  if (range == nullptr) {
    return;
  }
  const std::uint64_t room = range->end - begin;
  findings.claims.push_back({begin, begin + std::min(size.value_or(room), room), !size});
}

void read_frames(const core::ElfImage& image, const ElfSections& own, const CodeRegions& regions,
                 Findings& findings) {
  std::uint64_t at = 0;
  if (const Section* frames = own.find(".eh_frame")) {
    at = frames->address;
  } else if (const auto header = image.eh_frame_header()) {
    FrameReader reader(image.bytes_at(header->address), header->address);
    reader.skip(1);  // version
    const auto encoding = reader.take<std::uint8_t>();
    reader.skip(2);  // encodings of the table that follows
    at = reader.take_encoded(encoding, header->address);
    at = reader.failed() ? 0 : at;
  }
  FrameEncodingsCache cache;
  while (at != 0) {
    const FrameRecord record = read_frame_record(image, at, cache);
    if (record.covers) {
      const std::uint64_t begin = record.covers->begin + (record.is_signal_frame ? 1 : 0);
      claim(findings, regions, begin, record.covers->end - std::min(begin, record.covers->end));
    }
    if (record.covers && record.begins_in_frame) {
      findings.parts.insert(record.covers->begin);
    }
    if (record.covers && record.handlers != 0) {
      const auto pads = read_landing_pads(image, record.handlers, record.covers->begin);
      findings.landing_pads.insert(findings.landing_pads.end(), pads.begin(), pads.end());
    }
    at = record.next > at ? record.next : 0;
  }
}

/// Code that the loader calls. A stripped file has neither unwind entries nor symbols for it.
void read_startup_code(const ElfSections& own, const CodeRegions& regions, Findings& findings) {
  std::vector<CodeRange> arrays;
  for (const Section& section : own.all()) {
    if (section.name == ".init" || section.name == ".fini") {
      claim(findings, regions, section.address, section.size);
    }
    if (section.type == SHT_INIT_ARRAY || section.type == SHT_FINI_ARRAY) {
      arrays.push_back({section.address, section.address + section.size});
      const auto bytes = own.bytes(section);  // addresses, in a program that is not relocated
      for (std::uint64_t at = 0; at + sizeof(std::uint64_t) <= bytes.size(); at += 8) {
        claim(findings, regions, *core::read_at<std::uint64_t>(bytes, at), std::nullopt);
      }
    }
  }
  for (const Section& section : own.all()) {
    const auto bytes = own.bytes(section);
    if (section.type != SHT_RELA) {
      continue;
    }
    for (std::uint64_t at = 0; at + sizeof(Elf64_Rela) <= bytes.size(); at += sizeof(Elf64_Rela)) {
      const auto relocation = *core::read_at<Elf64_Rela>(bytes, at);
      const bool is_relative = ELF64_R_SYM(relocation.r_info) == 0;
      if (is_relative && std::any_of(arrays.begin(), arrays.end(), [&](const CodeRange& array) {
            return array.contains(relocation.r_offset);
          })) {
        claim(findings, regions, static_cast<std::uint64_t>(relocation.r_addend), std::nullopt);
      }
    }
  }
}

/// Calls `use` with the name, the address and the size of each function that the file names.
template <typename Use>
void for_each_function(const ElfSections& file, Use use) {
  for (const GoFunction& function : go_functions(file)) {
    use(function.name, function.begin, function.end - function.begin);
  }
  for_each_symbol(file, [&](std::string_view name, const Elf64_Sym& symbol) {
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
    const bool is_elsewhere = symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS;
    if ((type == STT_FUNC || type == STT_GNU_IFUNC) && !is_elsewhere) {
      use(name, symbol.st_value, symbol.st_size);
    }
  });
}

bool by_begin(const Claim& a, const Claim& b) {
  if (a.begin != b.begin) {
    return a.begin < b.begin;
  }
  return a.is_weak != b.is_weak ? b.is_weak : a.end > b.end;
}

/// Makes a function of each claim, which ends where the next one begins or with the claims that
/// hold it.
std::vector<core::CandidateFunction> bound_functions(std::vector<Claim> claims,
                                                     std::uint64_t entry) {
  std::sort(claims.begin(), claims.end(), by_begin);
  std::vector<core::CandidateFunction> functions;
  std::uint64_t covered = 0;  // by claims that are not weak
  for (const Claim& claim : claims) {
    const bool is_known = !functions.empty() && functions.back().begin == claim.begin;
    if (!is_known && claim.is_weak && claim.begin < covered && claim.begin != entry) {
      continue;
    }
    if (!claim.is_weak) {
      covered = std::max(covered, claim.end);
    }
    if (is_known) {
      continue;  // the first one is the longest
    }
    if (!functions.empty()) {
      functions.back().end = std::min(functions.back().end, claim.begin);
    }
    const bool is_within = claim.begin < covered;  // a larger one
    functions.push_back(
        {claim.begin, is_within ? covered : claim.end, {}, false, is_within || !claim.is_weak});
  }
  std::erase_if(functions, [](const core::CandidateFunction& f) { return f.end <= f.begin; });
  return functions;
}

void assign_landing_pads(std::vector<std::uint64_t> pads,
                         std::vector<core::CandidateFunction>& functions) {
  std::sort(pads.begin(), pads.end());
  pads.erase(std::unique(pads.begin(), pads.end()), pads.end());
  auto function = functions.begin();
  for (const std::uint64_t pad : pads) {
    while (function != functions.end() && function->end <= pad) {
      ++function;
    }
    if (function == functions.end()) {
      return;
    }
    if (function->begin <= pad) {
      function->landing_pads.push_back(pad);
    }
  }
}

void keep_selected(const std::vector<ElfSections>& sources, const CodeSelection& selection,
                   std::vector<core::CandidateFunction>& functions) {
  const FunctionMatcher matcher(selection);
  std::unordered_set<std::uint64_t> wanted;
  for (const ElfSections& source : sources) {
    for_each_function(source, [&](std::string_view name, std::uint64_t begin, std::uint64_t) {
      // With its parts.
      if (!wanted.contains(begin) && matcher.matches(whole_of_cold_part(name))) {
        wanted.insert(begin);
      }
    });
  }
  std::erase_if(functions, [&wanted](const core::CandidateFunction& function) {
    return !wanted.contains(function.begin);
  });
}

}  // namespace

std::vector<ElfSections> find_symbol_sources(const std::shared_ptr<const core::ElfImage>& image,
                                             const std::string& path, const std::string& root,
                                             const std::vector<std::string>& debug_directories,
                                             DebugServer* server) {
  std::vector<ElfSections> sources;
  const ElfSections own(image);
  sources.push_back(own);
  if (own.has_symbol_table()) {
    return sources;
  }
  if (const Section* packed = own.find(".gnu_debugdata")) {
    if (auto unpacked = unpack_mini_debug_info(own.bytes(*packed))) {
      sources.emplace_back(*unpacked);
    }
  }
  const DebugFiles files(debug_directories, root, server);
  if (auto found = files.find(path, own, image->build_id())) {
    sources.emplace_back(found->file);
  }
  return sources;
}

core::InstrumentationCandidates find_candidates(const core::ElfImage& image,
                                                const std::vector<ElfSections>& sources,
                                                const CodeSelection& selection) {
  if (sources.empty()) {
    return {};
  }
  const CodeRegions regions(image, sources.front());
  Findings findings;
  read_frames(image, sources.front(), regions, findings);
  for (const ElfSections& source : sources) {
    for_each_function(source, [&](std::string_view name, std::uint64_t begin, std::uint64_t size) {
      if (is_cold_part(name)) {
        findings.parts.insert(begin);
      }
      claim(findings, regions, begin, size != 0 ? std::optional(size) : std::nullopt);
    });
  }
  read_startup_code(sources.front(), regions, findings);
  claim(findings, regions, image.entry(), std::nullopt);
  core::InstrumentationCandidates candidates{
      bound_functions(std::move(findings.claims), image.entry()), selection.only_funcs.empty()};
  assign_landing_pads(std::move(findings.landing_pads), candidates.functions);
  for (core::CandidateFunction& function : candidates.functions) {
    function.is_part = findings.parts.contains(function.begin);
  }
  if (!selection.only_funcs.empty()) {
    keep_selected(sources, selection, candidates.functions);
  }
  return candidates;
}

}  // namespace sp::symbols
