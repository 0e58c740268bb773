#include "supervisor/sampling/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <utility>

#include "supervisor/linux/proc_files.h"
#include "supervisor/linux/process_vm.h"
#include "supervisor/linux/syscall_restart.h"

namespace sp::supervisor {
namespace {

using arch::Native;

/// Reading the maps may take one part in so many of the time.
constexpr int kMapsShare = 8;
/// A thread that is on a CPU stops sooner than that, unless it is in the kernel. /proc does not
/// tell threads that run from threads that wait for a CPU, and a thread with long turns would wait
/// more often than one with short turns. Emulated CPUs take longer for every stop.
constexpr core::Duration kLongestLatency = std::chrono::microseconds(500);
constexpr int kLongestOverQuickest = 8;
constexpr std::size_t kFirstCopy = std::size_t{16} << 10U;

}  // namespace

Sampler::Sampler(SamplerOptions options, Outbox& outbox)
    : options_(options), outbox_(outbox), random_(std::random_device{}()) {
  spare_.bytes.resize(kFirstCopy);
}

void Sampler::take(Tracee& tracee, core::TimePoint now, core::Duration latency) {
  const std::uint64_t wait = std::exchange(tracee.blocked_wait, 0);
  auto registers = ptrace::registers(tracee.id.tid);
  if (!registers) {
    if (registers.error().code == ENOTSUP) {
      tracee.process->profiled = false;
    }
    return;
  }
  if (tracee.thread_state != nullptr && tracee.thread_state->registers_without_us() != nullptr) {
    *registers = *tracee.thread_state->registers_without_us();
  }
  const auto call = Native::leaving_syscall(*registers);
  on_system_call_ = call.has_value();
  asleep_ = call && (Native::returns_eintr(*registers) || Native::will_restart(*registers));
  if (asleep_ && tracee.slot != nullptr) {
    tracee.slot->scheduled_by_us = true;
    if (Native::syscall_name(*call) != "restart_syscall") {
      tracee.slot->interrupted_call = *call;
    }
  }
  if (latency > core::Duration{}) {
    quickest_ = std::min(quickest_, latency);
  }
  ++tracee.process->samples;
  if (wants_maps(*tracee.process, Native::pc(*registers), now)) {
    send_maps(*tracee.process, tracee.id, now);
  }
  next_ = {tracee.process->id, tracee.id, now, {}};
  if (wait != 0) {
    if (asleep_) {
      prepare_waited(tracee, *registers, wait, *call);
    }
  } else if (asleep_) {
    ++counts_.blocked_before_stop;  // fell asleep between the scan and the stop: used no CPU
  } else if (!call && !options_.wall &&
             latency > std::max(kLongestLatency, kLongestOverQuickest * quickest_)) {
    ++counts_.waited_for_cpu;
  } else {
    prepare_sampled(tracee, *registers);
  }
  restart_interrupted_call(tracee.id.tid, *registers, 0, tracee.interrupted_call);
}

void Sampler::prepare_waited(const Tracee& tracee, const ptrace::Registers& registers,
                             std::uint64_t wait, int call) {
  copy_stack(tracee, registers);
  core::OffCpuSample waited;
  waited.wait_id = wait;
  waited.ticks = 0;
  const int known = tracee.slot != nullptr ? tracee.slot->interrupted_call.load() : -1;
  waited.syscall = Native::syscall_name(known >= 0 ? known : call);
  waited.raw = std::move(spare_);
  next_.detail = std::move(waited);
  pending_ = true;
}

void Sampler::prepare_sampled(const Tracee& tracee, const ptrace::Registers& registers) {
  const bool with_stack = options_.trace_probability >= 1 ||
                          std::generate_canonical<double, 53>(random_) < options_.trace_probability;
  if (with_stack) {
    copy_stack(tracee, registers);
  } else {
    spare_.registers = Native::to_dwarf(registers);
    spare_.bytes.clear();
  }
  const std::uint64_t count = tracee.slot != nullptr ? tracee.slot->ticks.exchange(1) : 1;
  next_.detail = core::Sampled{std::move(spare_), with_stack, count};
  pending_ = true;
  ++tracee.process->samples_since_maps;
}

bool Sampler::send_sample() {
  if (!pending_) {
    return true;
  }
  pending_ = false;
  const bool handed = outbox_.offer(std::move(next_));
  if (handed) {
    ++counts_.samples;
  }
  spare_ = {};
  spare_.bytes.resize(kFirstCopy);
  return handed;
}

void Sampler::copy_stack(const Tracee& tracee, const ptrace::Registers& registers) {
  spare_.registers = Native::to_dwarf(registers);
  spare_.bytes.resize(tracee.stack_bytes);
  supervisor::copy_stack(tracee.id.tid, spare_);
}

/// The analyzer can read unknown maps when it unwinds a stack, but not if the process has ended by
/// then; and many programs live for milliseconds, the first of which load libraries.
bool Sampler::wants_maps(const TracedProcess& process, core::Address pc,
                         core::TimePoint now) const {
  constexpr std::uint64_t kFirstSamples = 64;
  const bool early = process.samples <= kFirstSamples && std::has_single_bit(process.samples);
  return (early || !knows(process, pc)) &&
         now - process.maps_read > kMapsShare * process.maps_reading;
}

bool Sampler::knows(const TracedProcess& process, core::Address pc) const {
  const auto behind =
      std::upper_bound(process.code.begin(), process.code.end(), pc,
                       [](core::Address a, const core::AddressRange& r) { return a < r.end; });
  return behind != process.code.end() && behind->contains(pc);
}

void Sampler::send_maps(TracedProcess& process, core::ThreadId thread, core::TimePoint now) {
  process.maps_read = now;
  process.samples_since_maps = 0;
  const auto text = read_proc(fmt::format("/proc/{}/maps", thread.tid));
  if (!text || text->empty()) {
    return;  // it is gone, or exiting
  }
  core::MappingSnapshot mapped{core::parse_maps(*text)};
  process.code.clear();
  for (const core::Mapping& mapping : mapped.maps) {
    if (mapping.executable) {
      process.code.push_back(mapping.range);
    }
  }
  process.maps_reading = core::Clock::now() - now;
  outbox_.deliver({process.id, thread, now, std::move(mapped)});
}

}  // namespace sp::supervisor
