#include "profiler/formats/firefox_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <ostream>

#include "profiler/text.h"

namespace sp::profiler {
namespace {

/// Of the categories in firefox.cpp.
std::uint32_t category_of(FunctionKind kind) {
  switch (kind) {
    case FunctionKind::executable:
      return 1;
    case FunctionKind::library:
      return 2;
    case FunctionKind::jit:
      return 3;
    case FunctionKind::blocked:
      return 4;
    case FunctionKind::unknown:
    case FunctionKind::collapsed:
    case FunctionKind::truncated:
    case FunctionKind::thread:
      break;
  }
  return 0;
}

/// A build-id as Breakpad writes it: its first 16 bytes as a GUID, whose first three fields are
/// little-endian, and an age of 0.
std::string breakpad_id(std::string_view build_id) {
  constexpr std::size_t kDigits = 32;
  std::string digits(build_id.substr(0, kDigits));
  digits.resize(kDigits, '0');
  std::string id;
  for (const auto& [begin, end] : {std::pair{0, 8}, std::pair{8, 12}, std::pair{12, 16}}) {
    for (int at = end - 2; at >= begin; at -= 2) {
      id += digits.substr(static_cast<std::size_t>(at), 2);
    }
  }
  id += digits.substr(16) + "0";
  std::transform(id.begin(), id.end(), id.begin(),
                 [](char c) { return static_cast<char>(std::toupper(c)); });
  return id;
}

std::string_view arch_of(ContainerHeader::Cpu cpu) {
  return cpu == ContainerHeader::Cpu::aarch64 ? "arm64" : "x86_64";
}

void put(std::ostream& out, std::optional<std::uint32_t> number) {
  number ? out << *number : out << "null";
}

std::optional<std::uint32_t> number_in(
    const std::unordered_map<std::string_view, std::uint32_t>& numbers, std::string_view text) {
  const auto found = numbers.find(text);
  return found == numbers.end() ? std::nullopt : std::optional(found->second);
}

void write_constant(std::ostream& out, std::string_view name, std::size_t length,
                    std::string_view value) {
  write_column(out, name, length, [&](std::size_t) { out << value; });
}

}  // namespace

FirefoxTables::FirefoxTables(const RecordingReader& recording, const PlaceNames& names)
    : recording_(recording), names_(names) {
  add_libs();
  add_files();
  for (std::uint32_t place = 0; place < recording.places().size(); ++place) {
    first_frame_.push_back(frames_.size());
    add_frames(place);
  }
  first_frame_.push_back(frames_.size());
  std::uint32_t end = 0;
  for (std::uint32_t node = 0; node < recording.nodes().size(); ++node) {
    if (node > Profile::kPcOnlyRoot) {
      end += static_cast<std::uint32_t>(names.at(recording.nodes()[node].place).size());
    }
    stack_ends_.push_back(end);
  }
}

void FirefoxTables::add_libs() {
  for (const RecordingModule& module : recording_.modules()) {
    if (lib_numbers_.try_emplace(module.path, libs_.size()).second) {
      libs_.push_back(&module);
    }
  }
}

void FirefoxTables::add_files() {
  for (const RecordedFunction& function : names_.functions()) {
    if (!function.file.empty() && file_numbers_.try_emplace(function.file, files_.size()).second) {
      files_.push_back(function.file);
    }
  }
}

void FirefoxTables::add_frames(std::uint32_t number) {
  const RecordingPlace& place = recording_.places()[number];
  const bool is_code =
      place.kind == StepKind::instruction || place.kind == StepKind::return_address;
  const auto names = recording_.names_of(number);
  std::uint32_t depth = 0;
  for (const std::uint32_t function : names_.at(number)) {
    Frame frame{function};
    const RecordingName* name = names.empty() ? nullptr : &names[depth];
    frame.inline_depth = depth++;
    const auto lib = number_in(lib_numbers_, names_.functions()[function].module);
    if (is_code && lib) {
      // One byte back, a return address is in the call.
      const bool is_behind = place.kind == StepKind::return_address && place.value > 0;
      frame.address = static_cast<std::int64_t>(place.value - (is_behind ? 1 : 0));
      if (name != nullptr && !name->inlined) {
        frame.symbol = symbol_of(*lib, name->start, function);
      }
    }
    if (name != nullptr && name->line > 0) {
      frame.line = name->line;
    }
    frames_.push_back(frame);
  }
}

std::optional<std::uint32_t> FirefoxTables::symbol_of(std::uint32_t lib, std::uint64_t address,
                                                      std::uint32_t function) {
  const auto [place, is_new] =
      symbol_numbers_.try_emplace((std::uint64_t{lib} << 32U) | function, symbols_.size());
  if (is_new) {
    symbols_.push_back({lib, function, address});
  }
  return place->second;
}

std::uint32_t FirefoxTables::category(const Frame& frame) const {
  return category_of(names_.kind_of(frame.function));
}

/// -1: none.
std::int64_t FirefoxTables::resource(const RecordedFunction& function) const {
  const auto lib = number_in(lib_numbers_, function.module);
  return lib ? std::int64_t{*lib} : -1;
}

std::optional<std::uint32_t> FirefoxTables::stack_of(std::uint32_t node) const {
  return node > Profile::kPcOnlyRoot && stack_ends_[node] > stack_ends_[node - 1]
             ? std::optional(stack_ends_[node] - 1)
             : std::nullopt;
}

void FirefoxTables::write_libs(std::ostream& out) const {
  std::string_view between = "[\n";
  for (const RecordingModule* lib : libs_) {
    const std::string name = json_string(base_name(lib->path));
    const std::string path = json_string(lib->path);
    out << between
        << fmt::format(
               R"({{"name":{0},"path":{1},"debugName":{0},"debugPath":{1},"breakpadId":{2},)", name,
               path, json_string(breakpad_id(lib->build_id)))
        << fmt::format(R"("codeId":{},"arch":"{}"}})",
                       lib->build_id.empty() ? "null" : json_string(lib->build_id),
                       arch_of(recording_.header().cpu));
    between = ",\n";
  }
  out << (libs_.empty() ? "[" : "") << "]";
}

void FirefoxTables::write(std::ostream& out) const {
  out << "{";
  write_stacks(out);
  write_frames(out);
  write_functions(out);
  write_symbols(out);
  write_strings(out);
  out << "}";
}

void FirefoxTables::write_stacks(std::ostream& out) const {
  const std::vector<RecordingNode>& nodes = recording_.nodes();
  out << "\"stackTable\":{\"frame\":[";
  std::string_view between;
  for (std::uint32_t node = Profile::kPcOnlyRoot + 1; node < nodes.size(); ++node) {
    const std::uint32_t place = nodes[node].place;
    for (std::size_t frame = first_frame_[place]; frame < first_frame_[place + 1]; ++frame) {
      out << between << frame;
      between = ",";
    }
  }
  out << "],\n\"prefixOffset\":[";
  between = "";
  for (std::uint32_t node = Profile::kPcOnlyRoot + 1; node < nodes.size(); ++node) {
    const std::uint32_t first = stack_ends_[node - 1];
    const auto parent = stack_of(nodes[node].parent);
    for (std::uint32_t stack = first; stack < stack_ends_[node]; ++stack) {
      const std::uint32_t under = stack > first ? stack - 1 : parent.value_or(stack);
      out << between << stack - under;
      between = ",";
    }
  }
  out << "],\n\"length\":" << (stack_ends_.empty() ? 0 : stack_ends_.back()) << "},\n";
}

void FirefoxTables::write_frames(std::ostream& out) const {
  const std::size_t length = frames_.size();
  out << "\"frameTable\":{";
  write_column(out, "address", length, [&](std::size_t i) { out << frames_[i].address; });
  write_column(out, "inlineDepth", length, [&](std::size_t i) { out << frames_[i].inline_depth; });
  write_column(out, "category", length, [&](std::size_t i) { out << category(frames_[i]); });
  write_constant(out, "subcategory", length, "0");
  write_column(out, "func", length, [&](std::size_t i) { out << frames_[i].function; });
  write_column(out, "nativeSymbol", length, [&](std::size_t i) { put(out, frames_[i].symbol); });
  write_constant(out, "innerWindowID", length, "0");
  write_column(out, "line", length, [&](std::size_t i) { put(out, frames_[i].line); });
  write_constant(out, "column", length, "null");
  write_constant(out, "originalLocation", length, "null");
  out << "\"length\":" << length << "},\n";
}

/// Strings are the functions' names, then the paths of files, then the names of modules.
void FirefoxTables::write_functions(std::ostream& out) const {
  const std::vector<RecordedFunction>& functions = names_.functions();
  const std::size_t length = functions.size();
  out << "\"funcTable\":{";
  write_column(out, "name", length, [&](std::size_t i) { out << i; });
  write_constant(out, "isJS", length, "false");
  write_constant(out, "relevantForJS", length, "false");
  write_column(out, "resource", length, [&](std::size_t i) { out << resource(functions[i]); });
  write_column(out, "source", length,
               [&](std::size_t i) { put(out, number_in(file_numbers_, functions[i].file)); });
  write_constant(out, "lineNumber", length, "null");
  write_constant(out, "columnNumber", length, "null");
  write_constant(out, "originalLocation", length, "null");
  out << "\"length\":" << length << "},\n";
}

void FirefoxTables::write_symbols(std::ostream& out) const {
  const std::size_t functions = names_.functions().size();
  out << "\"nativeSymbols\":{";
  write_column(out, "libIndex", symbols_.size(), [&](std::size_t i) { out << symbols_[i].lib; });
  write_column(out, "address", symbols_.size(), [&](std::size_t i) { out << symbols_[i].address; });
  write_column(out, "name", symbols_.size(), [&](std::size_t i) { out << symbols_[i].function; });
  write_constant(out, "functionSize", symbols_.size(), "null");
  out << "\"length\":" << symbols_.size() << "},\n\"resourceTable\":{";
  write_column(out, "lib", libs_.size(), [&](std::size_t i) { out << i; });
  write_column(out, "name", libs_.size(),
               [&](std::size_t i) { out << functions + files_.size() + i; });
  write_constant(out, "host", libs_.size(), "null");
  write_constant(out, "type", libs_.size(), "1");
  out << "\"length\":" << libs_.size() << "},\n\"sources\":{";
  write_constant(out, "id", files_.size(), "null");
  write_column(out, "filename", files_.size(), [&](std::size_t i) { out << functions + i; });
  write_constant(out, "startLine", files_.size(), "1");
  write_constant(out, "startColumn", files_.size(), "1");
  write_constant(out, "sourceMapURL", files_.size(), "null");
  write_constant(out, "content", files_.size(), "null");
  out << "\"length\":" << files_.size()
      << "},\n\"sourceLocationTable\":{\"source\":[],\"line\":[],\"column\":[],\"length\":0},\n";
}

void FirefoxTables::write_strings(std::ostream& out) const {
  std::string_view between = "\n";
  const auto write = [&](std::string_view text) {
    out << between << json_string(text);
    between = ",\n";
  };
  out << "\"stringArray\":[";
  for (const RecordedFunction& function : names_.functions()) {
    write(function.name);
  }
  for (const std::string_view file : files_) {
    write(file);
  }
  for (const RecordingModule* lib : libs_) {
    write(base_name(lib->path));
  }
  out << "]";
}

}  // namespace sp::profiler
