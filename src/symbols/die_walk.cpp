#include "symbols/die_walk.h"

#include <dwarf.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace sp::symbols {
namespace {

// Real programs nest some tens deep; damaged ones may nest endlessly.
constexpr int kDeepest = 200;

// DW_AT_GNU_discriminator, which elfutils 0.188 does not name.
constexpr unsigned kGnuDiscriminator = 0x2136;

/// A walk over the entries of one unit, parents before children. In a sound file it only moves
/// forward. A damaged one may lead back or show the same entries below many parents, which would
/// take forever, so the walk ends there.
class Walk {
 public:
  bool to_child(Dwarf_Die& parent, Dwarf_Die& child) {
    return dwarf_child(&parent, &child) == 0 && moves_on(child);
  }
  bool to_sibling(Dwarf_Die& die) {
    Dwarf_Die next;
    if (dwarf_siblingof(&die, &next) != 0 || !moves_on(next)) {
      return false;
    }
    die = next;
    return true;
  }

 private:
  bool moves_on(const Dwarf_Die& die) {
    if (die.addr <= farthest_) {
      return false;
    }
    farthest_ = die.addr;
    return true;
  }

  const void* farthest_ = nullptr;
};

bool may_hold_functions(int tag) {
  switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_interface_type:
      return true;
    default:
      return false;
  }
}

bool has_code(Dwarf_Die& die) {
  return dwarf_hasattr(&die, DW_AT_low_pc) != 0 || dwarf_hasattr(&die, DW_AT_ranges) != 0;
}

bool is_scope(int tag) {
  return tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

void visit_functions(Walk& walk, Dwarf_Die& parent, Reach reach,
                     const std::function<void(Dwarf_Die&)>& visit, int depth) {
  Dwarf_Die child;
  if (depth > kDeepest || !walk.to_child(parent, child)) {
    return;
  }
  do {
    const int tag = dwarf_tag(&child);
    const bool is_function = tag == DW_TAG_subprogram;
    if (is_function && has_code(child)) {
      visit(child);
    }
    if (may_hold_functions(tag) || (reach == Reach::nested && (is_function || is_scope(tag)))) {
      visit_functions(walk, child, reach, visit, depth + 1);
    }
  } while (walk.to_sibling(child));
}

/// Descends into the one child that holds the address, also through blocks without a range of their
/// own.
bool descend(Walk& walk, Dwarf_Die& parent, std::uint64_t address, std::vector<Dwarf_Die>& calls,
             int depth) {
  Dwarf_Die child;
  if (depth > kDeepest || !walk.to_child(parent, child)) {
    return false;
  }
  do {
    const int tag = dwarf_tag(&child);
    const bool is_call = tag == DW_TAG_inlined_subroutine;
    if (!is_call && !is_scope(tag)) {
      continue;
    }
    if (dwarf_haspc(&child, address) == 1) {
      if (is_call) {
        calls.push_back(child);
      }
      descend(walk, child, address, calls, depth + 1);
      return true;
    }
    if (!is_call && !has_code(child) && descend(walk, child, address, calls, depth + 1)) {
      return true;
    }
  } while (walk.to_sibling(child));
  return false;
}

std::optional<Dwarf_Word> number(Dwarf_Die& die, unsigned attribute) {
  Dwarf_Attribute holder;
  Dwarf_Word value = 0;
  if (dwarf_attr(&die, attribute, &holder) == nullptr || dwarf_formudata(&holder, &value) != 0) {
    return std::nullopt;
  }
  return value;
}

/// `file` may be relative to where the unit was compiled.
std::optional<SourceLine> source_line(Dwarf_Die& unit, const char* file, std::uint64_t line) {
  if (file == nullptr || line == 0 || line > UINT32_MAX) {
    return std::nullopt;
  }
  std::filesystem::path path(file);
  Dwarf_Attribute holder;
  if (path.is_relative() && dwarf_attr(&unit, DW_AT_comp_dir, &holder) != nullptr) {
    const char* folder = dwarf_formstring(&holder);
    path = std::filesystem::path(folder != nullptr ? folder : "") / path;
  }
  return SourceLine{path.lexically_normal().string(), static_cast<std::uint32_t>(line)};
}

}  // namespace

void for_each_function(Dwarf_Die& unit, Reach reach, const std::function<void(Dwarf_Die&)>& visit) {
  Walk walk;
  visit_functions(walk, unit, reach, visit, 0);
}

std::vector<Dwarf_Die> inlined_calls_at(Dwarf_Die& function, std::uint64_t address) {
  std::vector<Dwarf_Die> calls;
  Walk walk;
  descend(walk, function, address, calls, 0);
  return calls;
}

std::string name_of(Dwarf_Die& die) {
  Dwarf_Attribute holder;
  for (const unsigned attribute : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name}) {
    if (dwarf_attr_integrate(&die, attribute, &holder) != nullptr) {
      const char* name = dwarf_formstring(&holder);
      if (name != nullptr && *name != '\0') {
        return name;
      }
    }
  }
  return "";
}

std::optional<SourceLine> call_site_of(Dwarf_Die& unit, Dwarf_Die& inlined_call) {
  const auto file = number(inlined_call, DW_AT_call_file);
  const auto line = number(inlined_call, DW_AT_call_line);
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (!file || !line || dwarf_getsrcfiles(&unit, &files, &count) != 0 || *file >= count) {
    return std::nullopt;
  }
  return source_line(unit, dwarf_filesrc(files, *file, nullptr, nullptr), *line);
}

std::optional<SourceLine> line_at(Dwarf_Die& unit, std::uint64_t address) {
  Dwarf_Line* line = dwarf_getsrc_die(&unit, address);
  int number_of_line = 0;
  if (line == nullptr || dwarf_lineno(line, &number_of_line) != 0 || number_of_line <= 0) {
    return std::nullopt;
  }
  return source_line(unit, dwarf_linesrc(line, nullptr, nullptr),
                     static_cast<std::uint64_t>(number_of_line));
}

std::uint32_t discriminator_at(Dwarf_Die& unit, std::uint64_t address) {
  Dwarf_Line* line = dwarf_getsrc_die(&unit, address);
  unsigned discriminator = 0;
  return line != nullptr && dwarf_linediscriminator(line, &discriminator) == 0 ? discriminator : 0;
}

std::uint32_t discriminator_of_call(Dwarf_Die& inlined_call) {
  return static_cast<std::uint32_t>(number(inlined_call, kGnuDiscriminator).value_or(0));
}

std::uint32_t declaration_line(Dwarf_Die& die) {
  Dwarf_Attribute holder;
  Dwarf_Word line = 0;
  const bool known = dwarf_attr_integrate(&die, DW_AT_decl_line, &holder) != nullptr &&
                     dwarf_formudata(&holder, &line) == 0;
  return known ? static_cast<std::uint32_t>(line) : 0;
}

bool is_artificial(Dwarf_Die& die) {
  Dwarf_Attribute holder;
  bool flag = false;
  const char* const name = dwarf_diename(&die);
  return dwarf_attr_integrate(&die, DW_AT_artificial, &holder) != nullptr &&
         dwarf_formflag(&holder, &flag) == 0 && flag &&
         // GCC marks a generic lambda's "operator()<int>", though it is the user's code.
         (name == nullptr || !std::string_view(name).starts_with("operator()"));
}

bool ends_in_brace(Dwarf_Die& unit, Dwarf_Die& function) {
  Dwarf_Attribute holder;
  const char* const text =
      dwarf_attr(&unit, DW_AT_producer, &holder) == nullptr ? nullptr : dwarf_formstring(&holder);
  const std::string_view producer = text == nullptr ? std::string_view() : text;
  const std::size_t level = producer.rfind(" -O");  // the last one counts
  return producer.starts_with("GNU ") &&
         (level == std::string_view::npos || producer.substr(level).starts_with(" -O0")) &&
         dwarf_attr_integrate(&function, DW_AT_type, &holder) != nullptr;
}

namespace {

/// The rows of a unit's line table by address, as libdw sorts them.
class LineRows {
 public:
  explicit LineRows(Dwarf_Die& unit) {
    if (dwarf_getsrclines(&unit, &lines_, &count_) != 0) {
      count_ = 0;
    }
  }

  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] Dwarf_Line* row(std::size_t index) const { return dwarf_onesrcline(lines_, index); }
  [[nodiscard]] Dwarf_Addr address(std::size_t index) const {
    Dwarf_Addr address = 0;
    dwarf_lineaddr(row(index), &address);
    return address;
  }
  /// The first row that is not before `address`.
  [[nodiscard]] std::size_t first_from(std::uint64_t begin) const {
    std::size_t first = 0;
    for (std::size_t size = count_; size > 0;) {
      const std::size_t half = size / 2;
      const bool before = address(first + half) < begin;
      first += before ? half + 1 : 0;
      size = before ? size - half - 1 : half;
    }
    return first;
  }

 private:
  Dwarf_Lines* lines_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace

void add_line_rows(Dwarf_Die& unit, const CodeRange& range, std::vector<std::uint64_t>& rows) {
  const LineRows table(unit);
  for (std::size_t i = table.first_from(range.begin);
       i < table.size() && table.address(i) < range.end; ++i) {
    rows.push_back(table.address(i));
  }
}

void add_line_ranges(Dwarf_Die& unit, const CodeRange& range, std::vector<LineRange>& rows) {
  const LineRows table(unit);
  std::optional<SourceLine> before;  // of the row in front, which is in `rows`
  for (std::size_t i = table.first_from(range.begin);
       i < table.size() && table.address(i) < range.end; ++i) {
    Dwarf_Line* const row = table.row(i);
    bool is_end = false;
    bool is_statement = false;
    int line = 0;
    const auto in_front = std::exchange(before, std::nullopt);
    if (dwarf_lineendsequence(row, &is_end) != 0 || is_end ||
        dwarf_linebeginstatement(row, &is_statement) != 0 || (!is_statement && !in_front) ||
        dwarf_lineno(row, &line) != 0 || line <= 0) {
      continue;
    }
    auto source =
        source_line(unit, dwarf_linesrc(row, nullptr, nullptr), static_cast<std::uint64_t>(line));
    if (source && (is_statement || source == in_front)) {
      const std::uint64_t next = i + 1 < table.size() ? table.address(i + 1) : range.end;
      rows.push_back({.begin = table.address(i),
                      .end = std::min<std::uint64_t>(next, range.end),
                      .source = *source,
                      .continues = !is_statement});
      before = std::move(source);
    }
  }
}

}  // namespace sp::symbols
