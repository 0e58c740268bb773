#pragma once

#include <iosfwd>
#include <string_view>

#include "core/code_counts.h"
#include "profiler/counted_span.h"
#include "profiler/named_code.h"

namespace sp::profiler {

/// blocks.tsv: a header, then one row for each block in the order of `code`. A block that was not
/// counted to the end and has samples has a second row of kind "sampled", whose `hits` are samples.
void write_blocks_tsv(std::ostream& out, const NamedCode& code, const CountsContext& context);

/// edges.tsv: a header, then one row for each edge in the order of `code`. An edge that comes from
/// outside of the counted code has no from_offset.
void write_edges_tsv(std::ostream& out, const NamedCode& code, const CountsContext& context);

/// "taken": as edges.tsv has it.
[[nodiscard]] std::string_view flow_word(core::EdgeFlow flow);

}  // namespace sp::profiler
