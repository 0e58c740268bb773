#include "commands/doctor/process.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "core/bytes.h"
#include "core/mapped_file.h"
#include "supervisor/startup/ptrace_probe.h"
#include "supervisor/startup/refusal.h"

namespace sp::doctor {
namespace {

using core::read_at;

std::string_view name_at(std::span<const std::byte> bytes, std::uint64_t offset) {
  if (offset >= bytes.size()) {
    return "";
  }
  const auto* text = reinterpret_cast<const char*>(bytes.data()) + offset;
  return {text, ::strnlen(text, bytes.size() - offset)};
}

// Finds the sections of an ELF file that names come from.
void read_sections(std::span<const std::byte> bytes, ProcessFacts& facts) {
  const auto header = read_at<Elf64_Ehdr>(bytes, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64) {
    return;
  }
  const auto section = [&](std::uint64_t index) {
    return read_at<Elf64_Shdr>(bytes, header->e_shoff + index * sizeof(Elf64_Shdr));
  };
  const auto names = section(header->e_shstrndx);
  for (std::uint64_t i = 0; names && i < header->e_shnum; ++i) {
    const auto entry = section(i);
    if (!entry) {
      return;
    }
    const std::string_view name = name_at(bytes, names->sh_offset + entry->sh_name);
    facts.has_symbols = facts.has_symbols || entry->sh_type == SHT_SYMTAB;
    facts.has_debug_info =
        facts.has_debug_info || name == ".debug_info" || name == ".gnu_debugdata";
  }
}

Finding judge_state(const supervisor::AttachFacts& process) {
  const std::string who =
      fmt::format("{} ({}), uid {}, {} thread{}", process.pid, process.name, process.uid,
                  process.threads, process.threads == 1 ? "" : "s");
  switch (process.state) {
    case 'T':
      return {Level::warn, "process", who + ", stopped by job control: there is nothing to sample",
              fmt::format("kill -CONT {}", process.pid)};
    case 'D':
      return {Level::ok, "process", who + ", waiting in the kernel (D) at the moment", ""};
    default:
      return {Level::ok, "process", who, ""};
  }
}

Finding judge_names(const ProcessFacts& facts) {
  if (!facts.readable) {
    return {Level::warn, "names", "the program's file cannot be read: no function will have a name",
            "run superprofiler as its owner or as root, in its mount namespace"};
  }
  if (facts.has_debug_info) {
    return {Level::ok, "names", "the program has debug information", ""};
  }
  if (facts.has_symbols) {
    return {Level::ok, "names", "the program has symbols, but no source lines (compile with -g)",
            ""};
  }
  return {Level::warn, "names", "the program is stripped: only exported functions have names",
          "install its -dbgsym package, or name its debug directory with --debug-dir"};
}

}  // namespace

ProcessFacts look_at_process(pid_t pid) {
  ProcessFacts facts;
  facts.attach = supervisor::read_attach_facts(pid, 0);
  // The kernel would allow an attach to superprofiler itself, which then would stop itself.
  if (!facts.attach.is_ours) {
    if (const auto attached = supervisor::probe_attach(pid); !attached) {
      facts.attach.error = attached.error().code;
    }
  }
  if (const auto file = core::MappedFile::open(fmt::format("/proc/{}/exe", pid))) {
    facts.readable = true;
    read_sections((*file)->bytes(), facts);
  }
  return facts;
}

std::vector<Finding> judge(const ProcessFacts& facts) {
  const supervisor::AttachFacts& process = facts.attach;
  const bool attachable = process.error == 0 && process.exists && !process.is_ours &&
                          !process.is_32_bit && process.leader == process.pid;
  if (!attachable) {
    const supervisor::Refusal refusal = supervisor::describe_refusal(process);
    return {{Level::fail, "process", refusal.fact, refusal.fix}};
  }
  std::vector<Finding> findings = {judge_state(process)};
  findings.push_back({Level::ok, "attach", "allowed: attached and detached", ""});
  findings.push_back(judge_names(facts));
  if (process.has_seccomp_filter) {
    findings.push_back({Level::ok, "sandbox",
                        "it has a seccomp filter; sampling needs none of its "
                        "system calls",
                        ""});
  }
  return findings;
}

}  // namespace sp::doctor
