#include "profiler/emitter/emit_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace sp::profiler {
namespace {

constexpr std::uint64_t kProtocol = 1;

/// {"type":TYPE,"data": and, behind what `write_data` writes, the end.
template <typename WriteData>
std::string line_of(std::string_view type, WriteData write_data) {
  std::string line;
  CompactJson json(line);
  json.open('{');
  json.key("type").string(type);
  json.key("data");
  write_data(json, line);
  json.close('}');
  line += '\n';
  return line;
}

std::uint64_t unsigned_us(std::int64_t microseconds) {
  return microseconds < 0 ? 0 : static_cast<std::uint64_t>(microseconds);
}

void write_emit_modules(CompactJson& json, std::span<const core::Module> modules) {
  json.key("modules").open('[');
  for (const core::Module& module : modules) {
    json.open('{');
    json.key("path").string(module.path);
    json.key("build_id").string(module.build_id);
    json.key("base").number(module.base.value());
    json.close('}');
  }
  json.close(']');
}

void write_labels(CompactJson& json, std::span<const std::string> labels) {
  std::map<std::string_view, std::string_view> last;  // of each name
  for (const std::string_view label : labels) {
    const std::size_t sign = std::min(label.find('='), label.size());
    last[label.substr(0, sign)] = label.substr(std::min(sign + 1, label.size()));
  }
  json.key("labels").open('{');
  for (const auto& [name, value] : last) {
    json.text_key(name).string(value);
  }
  json.close('}');
}

}  // namespace

std::string hello_line(const EmitHello& hello) {
  using std::chrono::duration_cast;
  using std::chrono::microseconds;
  return line_of("hello", [&](CompactJson& json, std::string& /*line*/) {
    json.open('{');
    json.key("protocol").number(kProtocol);
    json.key("version").string(hello.version);
    json.key("run_id").string(fmt::format("{:016x}", hello.run_id));
    json.key("pid").number(static_cast<std::uint64_t>(hello.facts.pid));
    json.key("command").open('[');
    for (const std::string& word : hello.facts.command) {
      json.string(word);
    }
    json.close(']');
    json.key("cpu").string(hello.facts.host_arch);
    write_emit_modules(json, hello.modules);
    write_labels(json, hello.options.labels);
    json.key("clock").open('{');
    json.key("name").string("CLOCK_MONOTONIC");
    json.key("start_us").number(unsigned_us(core::microseconds(hello.started.time_since_epoch())));
    json.key("start_realtime_us")
        .number(unsigned_us(
            duration_cast<microseconds>(hello.facts.started_at.time_since_epoch()).count()));
    json.close('}');
    json.key("period_us").number(unsigned_us(core::microseconds(hello.options.every)));
    json.close('}');
  });
}

std::string profile_line(const EmitProfile& profile) {
  return line_of("profile", [&](CompactJson& json, std::string& line) {
    json.open('{');
    json.key("seq").number(profile.seq);
    json.key("since_us").number(unsigned_us(profile.since_us));
    json.key("until_us").number(unsigned_us(profile.until_us));
    json.key("lost").open('{');
    json.count("events", profile.lost_events);
    json.count("samples", profile.lost_samples);
    json.close('}');
    json.key("tree");
    line += profile.tree;
    json.close('}');
  });
}

std::string symbols_line(const std::vector<EmitSymbol>& symbols) {
  return line_of("symbols", [&](CompactJson& json, std::string& /*line*/) {
    json.open('[');
    for (const EmitSymbol& symbol : symbols) {
      json.open('{');
      json.key("id").number(symbol.id);
      json.key("name").string(symbol.name);
      json.key("module").string(symbol.module);
      json.key("offset").number(symbol.offset);
      if (!symbol.file.empty()) {
        json.key("file").string(symbol.file);
        json.key("line").number(symbol.line);
      }
      json.close('}');
    }
    json.close(']');
  });
}

std::string metrics_line(const ProcessMetrics& metrics) {
  return line_of("metrics", [&](CompactJson& json, std::string& /*line*/) {
    const auto write = [&](std::string_view name, const std::optional<std::uint64_t>& value) {
      json.key(name);
      if (value) {
        json.number(*value);
      } else {
        json.null();
      }
    };
    json.open('{');
    write("cpu_user_us", metrics.cpu_user_us);
    write("cpu_system_us", metrics.cpu_system_us);
    write("rss_bytes", metrics.rss_bytes);
    write("peak_rss_bytes", metrics.peak_rss_bytes);
    write("threads", metrics.threads);
    write("switches", metrics.switches);
    write("involuntary_switches", metrics.involuntary_switches);
    write("read_bytes", metrics.read_bytes);
    write("write_bytes", metrics.write_bytes);
    json.close('}');
  });
}

std::string event_line(const std::function<void(CompactJson&)>& write) {
  return line_of("event", [&](CompactJson& json, std::string& /*line*/) {
    json.open('{');
    write(json);
    json.close('}');
  });
}

std::string state_line(bool is_awake, std::string_view reason, int pid) {
  return event_line([&](CompactJson& json) {
    json.key("state").string(is_awake ? "awake" : "dormant");
    json.key("reason").string(reason);
    if (pid > 0) {
      json.key("pid").number(static_cast<std::uint64_t>(pid));
    }
  });
}

std::string exit_line(int status) {
  return event_line(
      [status](CompactJson& json) { json.key("exit").number(static_cast<std::uint64_t>(status)); });
}

std::string log_line(std::string_view level, std::string_view message) {
  return line_of("log", [&](CompactJson& json, std::string& /*line*/) {
    json.open('{');
    json.key("level").string(level);
    json.key("message").string(message);
    json.close('}');
  });
}

}  // namespace sp::profiler
