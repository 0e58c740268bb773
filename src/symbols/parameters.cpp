#include "symbols/parameters.h"

#include <dwarf.h>
#include <elf.h>

#include <utility>

#include "symbols/debug_files.h"
#include "symbols/die_walk.h"
#include "symbols/dwarf_file.h"
#include "symbols/parameter_types.h"

namespace sp::symbols {
namespace {

/// Hands out the registers of a call's arguments, in the order of the parameters.
class Registers {
 public:
  explicit Registers(unsigned machine)
      : machine_(machine), integer_registers_(machine == EM_AARCH64 ? 8 : 6) {}

  void give_address_of_result() { ++integers_; }

  /// The number of an argument of one word; 0 if it cannot be read.
  unsigned give(const PassedValue& value) {
    if (value.in != PassedValue::In::registers) {
      is_lost_ = is_lost_ || value.in == PassedValue::In::unknown;
      has_other_memory_ = true;
      return 0;
    }
    const bool is_one = value.integers + value.floatings == 1;
    const bool fits = integers_ + value.integers <= integer_registers_ &&
                      floatings_ + value.floatings <= kFloatingRegisters;
    if (!is_one && !fits) {
      // The whole of it is on the stack; AAPCS64 then uses no further register of that kind.
      has_other_memory_ = true;
      is_lost_ = is_lost_ || machine_ == EM_AARCH64;
      return 0;
    }
    integers_ += value.integers;
    floatings_ += value.floatings;
    if (is_lost_ || !is_one || !value.read_as) {
      return 0;
    }
    if (value.floatings == 1) {
      has_other_memory_ = has_other_memory_ || floatings_ > kFloatingRegisters;
      return floatings_ <= kFloatingRegisters ? floatings_ : 0;
    }
    const bool is_on_stack = integers_ > integer_registers_;
    const bool is_known =
        !is_on_stack || (!has_other_memory_ && integers_ <= core::CallQuery::kMostArguments);
    return is_known ? integers_ : 0;
  }

 private:
  static constexpr unsigned kFloatingRegisters = 8;

  unsigned machine_;
  unsigned integer_registers_;
  unsigned integers_ = 0;
  unsigned floatings_ = 0;
  bool has_other_memory_ = false;  // words on the stack that are no integers of their own
  bool is_lost_ = false;           // from here on registers are not known
};

/// The entry with the parameters as they are written: of an out-of-line copy its origin.
Dwarf_Die written(Dwarf_Die& function) {
  Dwarf_Die die = function;
  Dwarf_Attribute at;
  Dwarf_Die origin;
  constexpr int kMostOrigins = 4;
  for (int i = 0; i < kMostOrigins && dwarf_attr(&die, DW_AT_abstract_origin, &at) != nullptr &&
                  dwarf_formref_die(&at, &origin) != nullptr;
       ++i) {
    die = origin;
  }
  return die;
}

bool is_changed(Dwarf_Die& function) {
  Dwarf_Attribute at;
  Dwarf_Word convention = 0;
  return dwarf_attr(&function, DW_AT_calling_convention, &at) != nullptr &&
         dwarf_formudata(&at, &convention) == 0 && convention == DW_CC_nocall;
}

constexpr int kMostEntries = 10'000;

FunctionParameters read_parameters(Dwarf_Die& function, unsigned machine) {
  FunctionParameters parameters;
  parameters.is_changed = is_changed(function);
  Dwarf_Die die = written(function);
  Registers registers(machine);
  if (auto result = type_of(die); result && takes_address_of_result(*result, machine)) {
    registers.give_address_of_result();
  }
  Dwarf_Die child;
  if (dwarf_child(&die, &child) != 0) {
    return parameters;
  }
  int left = kMostEntries;  // a damaged file may lead back
  do {
    if (dwarf_tag(&child) != DW_TAG_formal_parameter) {
      continue;
    }
    auto type = type_of(child);
    const PassedValue value = type ? passed_value(*type, machine) : PassedValue{};
    const char* const name = dwarf_diename(&child);
    parameters.list.push_back({name == nullptr ? "" : name, type ? type_text(*type) : "?",
                               value.read_as.value_or(core::ValueType::signed_number), value.bytes,
                               registers.give(value)});
  } while (--left > 0 && dwarf_siblingof(&child, &child) == 0);
  return parameters;
}

}  // namespace

struct ParameterReader::State {
  unsigned machine = 0;
  std::optional<DwarfFile> dwarf;
};

ParameterReader::ParameterReader(const std::shared_ptr<const core::ElfImage>& image,
                                 const std::string& path, const std::string& root,
                                 const std::vector<std::string>& debug_directories)
    : state_(std::make_unique<State>()) {
  state_->machine = image->machine();
  if (auto sources = find_dwarf(image, path, root, debug_directories)) {
    state_->dwarf.emplace(std::move(sources->main), std::move(sources->alternate));
  }
}

ParameterReader::ParameterReader(ParameterReader&&) noexcept = default;
ParameterReader::~ParameterReader() = default;

std::optional<FunctionParameters> ParameterReader::find(std::uint64_t address) {
  if (!state_->dwarf || !state_->dwarf->valid()) {
    return std::nullopt;
  }
  std::optional<FunctionParameters> found;
  for (const std::uint32_t index : state_->dwarf->units_at(address)) {
    for_each_function(state_->dwarf->unit(index).functions, Reach::nested, [&](Dwarf_Die& die) {
      Dwarf_Addr entry = 0;
      if (!found && dwarf_entrypc(&die, &entry) == 0 && entry == address) {
        found = read_parameters(die, state_->machine);
      }
    });
    if (found) {
      break;
    }
  }
  return found;
}

}  // namespace sp::symbols
