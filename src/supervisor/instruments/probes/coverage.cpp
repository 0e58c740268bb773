#include "supervisor/instruments/probes/coverage.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "supervisor/instruments/probes/known_jumps.h"
#include "supervisor/instruments/probes/places_in_code.h"

namespace sp::supervisor {
namespace {

using core::Address;

constexpr std::uint64_t kMostJumps = 1'000;  // of one jump that are watched, in the whole run
constexpr std::uint64_t kBetweenLooks = 8;

/// Where the code is in its file.
struct Place {
  CoveredFile* file = nullptr;  // null: in none of which coverage is wanted
  std::uint64_t bias = 0;
};

Place place_of(ProbedCode& code, Address address) {
  const FunctionIndex::Module* const module = code.functions().module_at(address);
  return {code.covered_file(address), module == nullptr ? 0 : module->bias};
}

void note_reached(ProbedCode& code, ProbedBlock& block) {
  block.is_reached = true;
  const auto [file, bias] = place_of(code, block.start);
  if (file != nullptr) {
    const std::uint64_t begin = block.start.value() - bias;
    file->reached.add(begin, begin + block.size);
    ++code.coverage()->news();
  }
}

std::uint64_t& watched_jumps(const Place& place, const ProbedBlock& jump) {
  return place.file->watched_jumps[jump.last.address.value() - place.bias];
}

/// Nobody sees any more where the jump may lead else.
void stop_watching(ProbedCode& code, ProbedBlock& jump, core::TimePoint now) {
  jump.until = now;
  for (const std::uint32_t number : code.function(jump.function).blocks) {
    ProbedBlock& block = code.block(number);
    if (!block.until && !block.is_reached) {
      block.until = now;
      block.has_unreported_change = true;
    }
  }
}

/// Removes what is left of probes of blocks that need none any more.
void remove_needless_probes(ProbedCode& code, core::AddressRange range) {
  std::vector<BreakpointSite*> sites = code.inserted_in(range);
  std::erase_if(sites, [&](const BreakpointSite* site) {
    const bool is_probe = site->block != BreakpointSite::kNoBlock &&
                          site->block != BreakpointSite::kSharedLibraryEvent;
    return !is_probe || site->gate != Gate::none || code.needs_probe(code.block_of(*site)) ||
           code.is_in_loader_function(site->instruction.address);
  });
  code.remove_all(std::move(sites));
}

}  // namespace

CoveredFile* ProbedCode::covered_file(Address address) {
  const FunctionIndex::Module* const module = functions_.module_at(address);
  if (coverage_ == nullptr || module == nullptr || module->file.image == nullptr) {
    return nullptr;
  }
  const auto [known, is_new] = covered_files_.try_emplace(module->mapped.begin);
  if (is_new) {
    known->second = &coverage_->file(module->file, analysis_);
  }
  return known->second;
}

bool is_unresolved_jump(const ProbedFunction& function, Address last) {
  return std::find(function.unresolved.begin(), function.unresolved.end(), last) !=
         function.unresolved.end();
}

bool is_watched(const ProbedFunction& function, const ProbedBlock& block) {
  return block.probe == block.last.address && !block.until &&
         is_unresolved_jump(function, block.last.address);
}

core::ControlFlowGraph whole_function(ProbedCode& code, const ProbedFunction& function) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint8_t>::max();
  core::ControlFlowGraph graph;
  const auto first = code.decode(function.bounds.begin);
  if (!first) {
    return graph;
  }
  core::BasicBlock& block = graph.blocks.emplace_back();
  block.start = function.bounds.begin;
  block.last = *first;
  for (std::uint64_t left = function.bounds.end - function.bounds.begin; left > 0;) {
    const std::uint64_t piece = std::min(left, kMost);
    block.lengths.push_back(static_cast<std::uint8_t>(piece));
    left -= piece;
  }
  return graph;
}

void cover_parts(ProbedCode& code, std::uint32_t number) {
  if (code.coverage()->wanted() != core::Coverage::block) {
    return;
  }
  std::vector<Address> places;
  for (const std::uint32_t block : code.function(number).blocks) {
    const core::Instruction& last = code.block(block).last;
    const ProbedFunction* const part =
        last.target && last.flow != core::Flow::call ? code.functions().at(*last.target) : nullptr;
    if (part != nullptr && part->number != number && *last.target != part->bounds.begin &&
        code.needs_instrumentation(*last.target)) {
      places.push_back(*last.target);
    }
  }
  if (!places.empty()) {
    instrument_places(code, places);
  }
}

void note_known_blocks(ProbedCode& code, const ProbedFunction& function) {
  const Place place = place_of(code, function.bounds.begin);
  if (place.file == nullptr) {
    return;
  }
  for (const std::uint32_t number : function.blocks) {
    ProbedBlock& block = code.block(number);
    if (!block.is_reached && place.file->reached.contains(block.start.value() - place.bias)) {
      block.is_reached = true;
      block.is_known = true;
      block.has_unreported_change = true;
    }
    if (is_watched(function, block) && watched_jumps(place, block) >= kMostJumps) {
      stop_watching(code, block, core::Clock::now());
    }
  }
}

void drop_known_probes(ProbedCode& code) {
  if (std::exchange(code.news_seen(), code.coverage()->news()) == code.coverage()->news()) {
    return;
  }
  std::vector<Address> entered;
  for (const ProbedFunction& function : code.functions().all()) {
    const Place place = place_of(code, function.bounds.begin);
    const bool is_mapped = code.functions().at(function.bounds.begin) == &function;
    if (!is_mapped || place.file == nullptr ||
        !place.file->reached.has_any_in(function.bounds.begin.value() - place.bias,
                                        function.bounds.end.value() - place.bias)) {
      continue;
    }
    if (function.state == ProbedFunction::State::awaiting_entry) {
      entered.push_back(function.bounds.begin);
    } else {
      note_known_blocks(code, function);
    }
  }
  remove_needless_probes(code, BreakpointTable::kEverywhere);
  for (const Address entry : entered) {
    code.instrument_function(std::span(&entry, 1), std::nullopt);
  }
}

void resolve_known_jumps(ProbedCode& code, Address entry) {
  constexpr core::Duration kRound = std::chrono::milliseconds(1);
  constexpr core::Duration kMost = std::chrono::seconds(2);  // in a run
  ProbedFunction* const function = code.functions().at(entry);
  const bool has_any =
      function != nullptr &&
      std::any_of(function->blocks.begin(), function->blocks.end(), [&](std::uint32_t number) {
        return code.block(number).is_known && is_watched(*function, code.block(number));
      });
  core::Duration& waited = code.coverage()->waited();
  while (has_any && !resolve_jumps(code, *function) && waited < kMost) {
    std::this_thread::sleep_for(kRound);
    waited += kRound;
  }
  if (has_any) {
    remove_needless_probes(code, function->bounds);
  }
}

void end_unentered(ProbedCode& code, core::TimePoint now) {
  for (const ProbedFunction& function : code.functions().all()) {
    if (function.state == ProbedFunction::State::awaiting_entry &&
        code.functions().at(function.bounds.begin) == &function) {
      code.untold_functions().push_back({function.bounds.begin, function.bounds.size(), now});
    }
  }
}

bool reach(ProbedCode& code, BreakpointSite& site, core::TimePoint now) {
  ProbedBlock& block = code.block_of(site);
  // The site may be left from when the block was larger.
  const bool is_its =
      core::AddressRange{block.start, block.start + block.size}.contains(site.instruction.address);
  const bool is_jump = is_its && is_watched(code.function(block.function), block);
  if (is_its && !block.is_reached) {
    note_reached(code, block);
    if (!is_jump) {
      code.count(block, now);
    }
  }
  if (is_jump) {
    const Place place = place_of(code, block.start);
    if (place.file != nullptr && ++watched_jumps(place, block) < kMostJumps) {
      if (block.hits % kBetweenLooks == 0 && !code.function(block.function).are_jumps_looked_at) {
        const core::Duration begin = core::thread_cpu_time();
        (void)resolve_jumps(code, code.function(block.function));
        code.coverage()->analysed() += core::thread_cpu_time() - begin;
      }
      return false;
    }
    code.count(block, now);
    stop_watching(code, block, now);
  }
  if (code.is_in_loader_function(site.instruction.address)) {
    return false;  // it tells of libraries, too
  }
  if (site.gate == Gate::none) {
    (void)code.remove(site);
  }
  return true;
}

}  // namespace sp::supervisor
