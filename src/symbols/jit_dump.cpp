#include "symbols/jit_dump.h"

#include <algorithm>
#include <utility>

#include "core/bytes.h"

namespace sp::symbols {
namespace {

constexpr std::uint32_t kMagic = 0x4A695444;
constexpr std::uint32_t kSwappedMagic = 0x4454694A;
constexpr std::uint64_t kArchTimestamps = 1;  // JITDUMP_FLAGS_ARCH_TIMESTAMP
constexpr std::size_t kFileHeader = 40;
constexpr std::size_t kRecordHeader = 16;
constexpr std::size_t kLoadFields = 40;
constexpr std::size_t kMoveFields = 48;
constexpr std::size_t kLinesFields = 16;
constexpr std::size_t kLineFields = 16;
constexpr std::size_t kLongestName = 8 * 1024;
constexpr std::size_t kLargestLines = std::size_t{1} << 24U;
constexpr std::size_t kMaxAnnounced = 256;
constexpr std::uint64_t kLargestCode = std::uint64_t{1} << 30U;

enum RecordKind : std::uint32_t { kLoad = 0, kMove = 1, kLines = 2, kClose = 3 };

// V8 and LLVM add the size of the ELF header that `perf inject` puts before the code to the
// addresses of lines; the JVM's agents do not. The former never have a line below it.
constexpr std::uint32_t kElfHeader = 0x40;

/// True for a path as one is written: V8 (node 20) often writes garbage.
bool is_path(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return c >= ' ' && c != 127; });
}

}  // namespace

std::uint32_t JitDump::u32(Bytes bytes, std::size_t at) const {
  const auto value = core::read_at<std::uint32_t>(bytes, at).value_or(0);
  return swapped_ ? __builtin_bswap32(value) : value;
}

std::uint64_t JitDump::u64(Bytes bytes, std::size_t at) const {
  const auto value = core::read_at<std::uint64_t>(bytes, at).value_or(0);
  return swapped_ ? __builtin_bswap64(value) : value;
}

/// Fewer than `size` bytes if the file ends before. Valid until the next call.
JitDump::Bytes JitDump::view(const PieceReader& read, std::uint64_t offset, std::size_t size) {
  constexpr std::size_t kPiece = std::size_t{1} << 16U;
  const bool is_inside = offset >= window_at_ && offset - window_at_ <= window_.size() &&
                         window_.size() - (offset - window_at_) >= size;
  if (!is_inside) {
    window_.resize(std::max(kPiece, size));
    window_.resize(std::min(read(offset, window_), window_.size()));
    window_at_ = offset;
  }
  return core::cut(window_, offset - window_at_, size);
}

void JitDump::read_on(const PieceReader& read) {
  Step step = Step::done;
  while (!ended_ && step == Step::done) {
    step = at_ == 0 ? read_header(read) : read_record(read);
    ended_ = ended_ || step == Step::damaged || codes_.size() >= kMaxCodes ||
             text_bytes_ >= kMaxText || line_count_ >= kMaxLines;
  }
  window_ = {};
  window_at_ = 0;
}

JitDump::Step JitDump::read_header(const PieceReader& read) {
  const Bytes header = view(read, 0, kFileHeader);
  if (header.size() < kFileHeader) {
    return Step::unfinished;
  }
  const auto magic = core::read_at<std::uint32_t>(header, 0).value_or(0);
  swapped_ = magic == kSwappedMagic;
  if (magic != kMagic && !swapped_) {
    return Step::damaged;
  }
  const std::uint32_t size = u32(header, 8);
  if (size < kFileHeader) {
    return Step::damaged;
  }
  monotonic_ = (u64(header, 32) & kArchTimestamps) == 0;
  at_ = size;
  return Step::done;
}

JitDump::Step JitDump::read_record(const PieceReader& read) {
  const Bytes header = view(read, at_, kRecordHeader);
  if (header.size() < kRecordHeader) {
    return Step::unfinished;
  }
  const std::uint32_t kind = u32(header, 0);
  const std::uint32_t size = u32(header, 4);
  const std::uint64_t time = u64(header, 8);
  if (size < kRecordHeader) {
    // Zeros: the file was made longer, and is not written yet.
    return size == 0 && kind == 0 && time == 0 ? Step::unfinished : Step::damaged;
  }
  Step step = Step::done;
  if (kind == kLoad) {
    step = read_load(read, size, time);
  } else if (kind == kMove) {
    step = read_move(read, size, time);
  } else if (kind == kLines) {
    step = read_lines(read, size);
  } else if (kind == kClose) {
    ended_ = true;
  }
  if (step == Step::done) {
    at_ += size;
  }
  return step;
}

JitDump::Step JitDump::read_load(const PieceReader& read, std::uint32_t size, std::uint64_t time) {
  constexpr std::size_t kMost = kRecordHeader + kLoadFields + kLongestName;
  const std::size_t wanted = std::min<std::size_t>(size, kMost);
  const Bytes record = view(read, at_, wanted);
  const Bytes name = core::cut(record, kRecordHeader + kLoadFields, kLongestName);
  const bool is_whole = record.size() == wanted;
  const auto end = std::find(name.begin(), name.end(), std::byte{0});
  if (size <= kRecordHeader + kLoadFields || (is_whole && end == name.end() && wanted < kMost)) {
    return Step::damaged;
  }
  if (!is_whole && end == name.end()) {
    return Step::unfinished;
  }
  // As in perf, the code's address is code_addr; vma is where it is mapped.
  const std::uint64_t begin = u64(record, kRecordHeader + 16);
  const std::uint64_t bytes = u64(record, kRecordHeader + 24);
  const std::uint64_t index = u64(record, kRecordHeader + 32);
  const auto length = static_cast<std::size_t>(end - name.begin());
  std::shared_ptr<const std::vector<JitLine>> lines;
  if (const auto announced = announced_.find(begin); announced != announced_.end()) {
    lines = std::move(announced->second);
    announced_.erase(announced);
  }
  if (bytes > 0 && bytes <= kLargestCode && begin + bytes > begin && length > 0) {
    const void* text = name.data();
    add(index,
        {begin, begin + bytes, time, std::string(static_cast<const char*>(text), length), lines});
  }
  return Step::done;
}

JitDump::Step JitDump::read_move(const PieceReader& read, std::uint32_t size, std::uint64_t time) {
  const Bytes record = view(read, at_, kRecordHeader + kMoveFields);
  if (size < kRecordHeader + kMoveFields) {
    return Step::damaged;
  }
  if (record.size() < kRecordHeader + kMoveFields) {
    return Step::unfinished;
  }
  const std::uint64_t begin = u64(record, kRecordHeader + 24);
  const std::uint64_t index = u64(record, kRecordHeader + 40);
  const auto moved = by_index_.find(index);
  if (moved == by_index_.end()) {
    return Step::done;
  }
  JitCode code = moved->second;
  code.end = begin + (code.end - code.begin);
  code.begin = begin;
  code.time = time;
  if (code.end > code.begin) {
    add(index, std::move(code));
  }
  return Step::done;
}

void JitDump::add(std::uint64_t index, JitCode code) {
  text_bytes_ += 2 * code.name.size();
  by_index_.insert_or_assign(index, code);
  codes_.add(std::move(code));
}

JitDump::Step JitDump::read_lines(const PieceReader& read, std::uint32_t size) {
  if (size < kRecordHeader + kLinesFields) {
    return Step::damaged;
  }
  if (size > kLargestLines) {
    return Step::done;
  }
  const Bytes record = view(read, at_, size);
  if (record.size() < size) {
    return Step::unfinished;
  }
  const std::uint64_t code = u64(record, kRecordHeader);
  const std::uint64_t count = u64(record, kRecordHeader + 8);
  auto lines = std::make_shared<std::vector<JitLine>>();
  std::size_t at = kRecordHeader + kLinesFields;
  std::string_view file;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!add_line(record, at, code, file, *lines)) {
      return Step::done;  // the lines of this function alone are not known
    }
  }
  if (lines->empty()) {
    return Step::done;
  }
  const auto by_offset = [](const JitLine& one, const JitLine& other) {
    return one.offset < other.offset;
  };
  std::stable_sort(lines->begin(), lines->end(), by_offset);
  has_lines_below_header_ = has_lines_below_header_ || lines->front().offset < kElfHeader;
  line_count_ += lines->size();
  if (announced_.size() >= kMaxAnnounced) {
    announced_.clear();
  }
  announced_.insert_or_assign(code, std::move(lines));
  return Step::done;
}

bool JitDump::add_line(Bytes entries, std::size_t& at, std::uint64_t code, std::string_view& file,
                       std::vector<JitLine>& lines) {
  if (at > entries.size() || entries.size() - at < kLineFields + 1) {
    return false;
  }
  const std::uint64_t address = u64(entries, at);
  const std::uint32_t line = u32(entries, at + 8);
  const std::string_view name = core::text_at(entries, at + kLineFields);
  at += kLineFields + name.size() + 1;
  // The JVM's agents write "\xff" for the name of the entry before (perf's genelf_debug.c).
  if (name != "\xff") {
    file = name;
  }
  if (at > entries.size() || address < code || address - code >= kLargestCode || !is_path(file)) {
    return false;
  }
  lines.push_back({static_cast<std::uint32_t>(address - code), line, file_number(file)});
  return true;
}

std::uint32_t JitDump::file_number(std::string_view name) {
  const auto [entry, is_new] =
      file_numbers_.try_emplace(std::string(name), static_cast<std::uint32_t>(files_.size()));
  if (is_new) {
    files_.emplace_back(name);
    text_bytes_ += 2 * name.size();
  }
  return entry->second;
}

std::optional<SourceLine> JitDump::line_of(const JitCode& code, std::uint64_t address) const {
  if (code.lines == nullptr || address < code.begin) {
    return std::nullopt;
  }
  const std::uint64_t offset = address - code.begin + (has_lines_below_header_ ? 0 : kElfHeader);
  const auto behind =
      std::upper_bound(code.lines->begin(), code.lines->end(), offset,
                       [](std::uint64_t at, const JitLine& line) { return at < line.offset; });
  if (behind == code.lines->begin()) {
    return std::nullopt;
  }
  const JitLine& line = *std::prev(behind);
  return line.line == 0 ? std::nullopt : std::optional(SourceLine{files_[line.file], line.line});
}

}  // namespace sp::symbols
