#pragma once

#include "core/address.h"
#include "core/clock.h"
#include "core/control_flow_graph.h"
#include "supervisor/instruments/probes/probed_code.h"

// With --coverage a block has its probe on its first instruction, until a thread first comes there:
// the original byte is put back, and the thread executes it. So what is hot costs nothing.
namespace sp::supervisor {

/// `last` is an indirect jump with unknown destinations. A probe on it shows them.
[[nodiscard]] bool is_unresolved_jump(const ProbedFunction& function, core::Address last);
/// The block ends with such a jump, and its probe, which is on that, stays.
[[nodiscard]] bool is_watched(const ProbedFunction& function, const ProbedBlock& block);
/// The function as one block, from its entry to its end.
[[nodiscard]] core::ControlFlowGraph whole_function(ProbedCode& code,
                                                    const ProbedFunction& function);
/// Blocks that were reached by other processes, or in earlier runs, need no probes.
void note_known_blocks(ProbedCode& code, const ProbedFunction& function);
/// The function has got blocks: so do the places in the middle of others that it jumps to, as it
/// does to its cold part.
void cover_parts(ProbedCode& code, std::uint32_t number);
/// Removes the probes of what others have reached since the last call. Where they have entered a
/// function its blocks get probes, as far as these are needed.
void drop_known_probes(ProbedCode& code);
/// The function at `entry`, in a process that has not begun: probes on indirect jumps that are
/// known to be reached are removed where these jumps lead to known places alone. May wait for that.
void resolve_known_jumps(ProbedCode& code, core::Address entry);
/// Functions that were not entered lose their probes: they are told as not seen from `now` on.
void end_unentered(ProbedCode& code, core::TimePoint now);
/// A thread has come to a block's probe. True where that was removed and the thread is to execute
/// its instruction; false where the probe stays.
[[nodiscard]] bool reach(ProbedCode& code, BreakpointSite& site, core::TimePoint now);

}  // namespace sp::supervisor
