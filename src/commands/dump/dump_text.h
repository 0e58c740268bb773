#pragma once

#include <iosfwd>
#include <string>

#include "commands/dump/named_dump.h"
#include "profiler/formats/json_writer.h"

namespace sp::dump {

/// For people: a line for the process, then each thread with a line for each call.
void write_text(std::ostream& out, const NamedDump& dump);
/// One object.
void write_json(profiler::JsonWriter& json, const NamedDump& dump);

/// "stopped for 0.31 ms: 2 of 100 threads; the others slept and were not stopped"
[[nodiscard]] std::string cost_text(const NamedDump& dump);

}  // namespace sp::dump
