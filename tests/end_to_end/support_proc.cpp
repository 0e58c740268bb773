#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "end_to_end/support.h"

namespace sp::end_to_end {
namespace {

/// The fields of a stat file from the state on (field 3).
std::vector<std::string> stat_fields(const std::string& path) {
  const std::string text = read_file(path);
  const auto name_end = text.rfind(')');
  std::vector<std::string> fields;
  if (name_end != std::string::npos) {
    std::istringstream rest(text.substr(name_end + 1));
    for (std::string field; rest >> field;) {
      fields.push_back(field);
    }
  }
  return fields;
}

std::vector<pid_t> numbers_in(const std::string& directory) {
  std::vector<pid_t> numbers;
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator(directory, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename();
    pid_t number = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), number).ec == std::errc{}) {
      numbers.push_back(number);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::string task(pid_t pid, pid_t tid) {
  return "/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid);
}

std::string field_of(const std::string& path, const std::string& field) {
  std::istringstream status(read_file(path));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field + ":")) {
      const auto value = line.find_first_not_of(" \t", field.size() + 1);
      return value == std::string::npos ? "" : line.substr(value);
    }
  }
  return "";
}

constexpr std::uint64_t kSigstopBit = std::uint64_t{1} << 18U;

}  // namespace

std::string status_of(pid_t pid, const std::string& field) {
  return field_of("/proc/" + std::to_string(pid) + "/status", field);
}

char state_of(pid_t pid, pid_t tid) {
  const auto fields = stat_fields(task(pid, tid) + "/stat");
  return fields.empty() ? '?' : fields[0][0];
}

std::vector<pid_t> threads_of(pid_t pid) {
  return numbers_in("/proc/" + std::to_string(pid) + "/task");
}

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> children;
  for (const pid_t tid : threads_of(pid)) {
    std::istringstream list(read_file(task(pid, tid) + "/children"));
    for (pid_t child = 0; list >> child;) {
      children.push_back(child);
    }
  }
  return children;
}

pid_t launched_by(pid_t superprofiler) {
  for (const pid_t child : children_of(superprofiler)) {
    const std::string name = read_file("/proc/" + std::to_string(child) + "/comm");
    if (name != "sp-guardian\n" && !name.starts_with("superprofiler")) {
      return child;
    }
  }
  return 0;
}

bool is_alive(pid_t pid) {
  const auto fields = stat_fields("/proc/" + std::to_string(pid) + "/stat");
  return !fields.empty() && fields[0] != "Z" && fields[0] != "X";
}

std::vector<pid_t> processes_named(const std::string& comm) {
  std::vector<pid_t> found;
  for (const pid_t pid : numbers_in("/proc")) {
    if (read_file("/proc/" + std::to_string(pid) + "/comm") == comm + "\n") {
      found.push_back(pid);
    }
  }
  return found;
}

std::uint64_t cpu_ticks(pid_t pid) {
  const auto fields = stat_fields("/proc/" + std::to_string(pid) + "/stat");
  return fields.size() < 13 ? 0 : std::stoull(fields[11]) + std::stoull(fields[12]);
}

std::string what_was_left_behind(pid_t pid) {
  std::string wrong;
  for (const pid_t tid : threads_of(pid)) {
    const std::string status = task(pid, tid) + "/status";
    const std::string name = "thread " + std::to_string(tid);
    const char state = state_of(pid, tid);
    if (state == 'T' || state == 't') {
      wrong += name + " is in state " + state + "\n";
    }
    const std::string tracer = field_of(status, "TracerPid");
    if (!tracer.empty() && tracer != "0") {
      wrong += name + " is traced by " + tracer + "\n";
    }
    for (const char* field : {"SigPnd", "ShdPnd"}) {
      const std::string pending = field_of(status, field);
      if (!pending.empty() && (std::stoull(pending, nullptr, 16) & kSigstopBit) != 0) {
        wrong += name + " has a SIGSTOP pending in " + field + "\n";
      }
    }
  }
  return wrong;
}

std::string changed_text(pid_t pid) {
  const std::string process = "/proc/" + std::to_string(pid);
  const core::UniqueFd memory(::open((process + "/mem").c_str(), O_RDONLY | O_CLOEXEC));
  std::istringstream maps(read_file(process + "/maps"));
  std::string wrong;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::string range;
    std::string rights;
    std::string offset;
    std::string device;
    std::string inode;
    std::string path;
    words >> range >> rights >> offset >> device >> inode >> path;
    if (rights.size() < 3 || rights[2] != 'x' || !path.starts_with("/")) {
      continue;
    }
    const auto begin = std::stoull(range, nullptr, 16);
    const auto end = std::stoull(range.substr(range.find('-') + 1), nullptr, 16);
    std::string mapped(end - begin, '\0');
    const ssize_t got =
        ::pread(memory.get(), mapped.data(), mapped.size(), static_cast<off_t>(begin));
    const std::string file = read_file(path);
    const auto from = std::min<std::size_t>(std::stoull(offset, nullptr, 16), file.size());
    const std::string expected = file.substr(from, mapped.size());
    if (got < static_cast<ssize_t>(expected.size()) ||
        mapped.compare(0, expected.size(), expected) != 0) {
      wrong += "the text of " + path + " differs from the file\n";
    }
  }
  return wrong;
}

}  // namespace sp::end_to_end
