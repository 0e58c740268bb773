#include "profiler/formats/crash_json.h"

#include <fmt/format.h>

#include "profiler/crash/signal_names.h"
#include "profiler/describe.h"
#include "profiler/formats/json_writer.h"
#include "profiler/formats/run_json.h"

namespace sp::profiler {
namespace {

constexpr int kCrashFormatVersion = 1;

std::string hex(std::uint64_t value) { return fmt::format("{:#x}", value); }

void write_hex(JsonWriter& json, std::string_view key, const std::optional<std::uint64_t>& value) {
  json.key(key);
  value ? json.string(hex(*value)) : json.null();
}

void write_signal(JsonWriter& json, const core::CrashSignal& signal) {
  json.key("signal").string(signal_name(signal.number));
  json.key("signal_number").number(signal.number);
  json.key("code").number(signal.code);
  const std::string_view name = signal_code_name(signal.number, signal.code);
  json.key("code_name");
  name.empty() ? json.null() : json.string(name);
  write_hex(json, "address", signal.address);
  json.key("sender_pid");
  signal.sender != 0 ? json.number(signal.sender) : json.null();
}

void write_crash_call(JsonWriter& json, const CrashCall& call) {
  json.begin_object();
  json.key("function").string(call.function);
  json.key("offset");
  call.offset ? json.number(*call.offset) : json.null();
  json.key("module").string(call.module);
  write_hex(json, "module_offset", call.where.offset);
  write_hex(json, "address", call.address ? std::optional(call.address->value()) : std::nullopt);
  json.key("file");
  call.source ? json.string(call.source->file) : json.null();
  json.key("line");
  call.source ? json.number(call.source->line) : json.null();
  json.key("inlined").boolean(call.inlined);
  json.end_object();
}

void write_crash_thread(JsonWriter& json, const CrashThread& thread, bool got_signal) {
  json.begin_object();
  json.key("tid").number(thread.tid);
  json.key("name").string(thread.name);
  json.key("got_signal").boolean(got_signal);
  json.key("syscall");
  thread.syscall.empty() ? json.null() : json.string(thread.syscall);
  json.key("truncated_by");
  thread.end == core::StackEnd::root ? json.null() : json.string(word_of(thread.end));
  json.key("stack").begin_array();
  for (const CrashCall& call : thread.calls) {
    write_crash_call(json, call);
  }
  json.end_array();
  json.end_object();
}

void write_crash_modules(JsonWriter& json, const std::vector<CrashModule>& modules) {
  json.key("modules").begin_array();
  for (const CrashModule& module : modules) {
    json.begin_object();
    json.key("path").string(module.path);
    json.key("build_id").string(module.build_id);
    write_hex(json, "base", module.base);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

void write_crash_json(std::ostream& out, const CrashReport& report) {
  const NamedCrash& crash = report.crash;
  JsonWriter json(out);
  json.begin_object();
  json.key("format_version").number(kCrashFormatVersion);
  json.key("superprofiler_version").string(report.version);
  json.key("pid").number(crash.pid);
  json.key("command").string(crash.command);
  json.key("host_arch").string(report.host_arch);
  json.key("time_us").number(core::microseconds(crash.time - report.started));
  write_signal(json, crash.signal);
  json.key("registers").begin_object();
  for (const core::NamedRegister& one : crash.registers) {
    json.key(one.name).string(hex(one.value));
  }
  json.end_object();
  json.key("threads").begin_array();
  for (std::size_t i = 0; i < crash.threads.size(); ++i) {
    write_crash_thread(json, crash.threads[i], i == 0);
  }
  json.end_array();
  json.key("unread_threads").number(crash.unread_threads);
  write_crash_modules(json, crash.modules);
  json.end_object();
}

}  // namespace sp::profiler
