// The formats that `convert` writes, of one small run with names that each of them must escape.
#include <gtest/gtest.h>
#include <zlib.h>

#include <sstream>
#include <string>

#include "golden.h"
#include "profiler/formats/callgrind.h"
#include "profiler/formats/folded.h"
#include "profiler/formats/functions_csv.h"
#include "profiler/formats/pprof.h"
#include "profiler/formats/speedscope.h"
#include "profiler/gzip_stream.h"
#include "profiler/recorded_profile.h"
#include "recorded.h"

namespace sp::profiler {
namespace {

using test::demo_code;
using test::demo_run;
using test::expect_golden;
using test::hard_stacks;
using test::Stacks;

/// A protobuf message as text, a line for each field; a message's own fields are indented. Nested
/// are the messages of a Profile. Fails if the bytes are no message.
std::string proto_text(std::string_view bytes, const std::string& indent = "") {
  std::string text;
  const auto varint = [&bytes] {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (bytes.empty() || shift > 63) {
        ADD_FAILURE() << "a number is cut";
        return value;
      }
      const auto byte = static_cast<unsigned char>(bytes.front());
      bytes.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) {
        return value;
      }
    }
  };
  while (!bytes.empty()) {
    const std::uint64_t tag = varint();
    const std::uint64_t field = tag >> 3U;
    text += indent + std::to_string(field) + ": ";
    if ((tag & 7U) == 0) {
      text += std::to_string(varint()) + "\n";
      continue;
    }
    EXPECT_EQ(tag & 7U, 2U);
    const std::uint64_t size = varint();
    if (size > bytes.size()) {
      ADD_FAILURE() << "a field is cut";
      return text;
    }
    const std::string_view inner = bytes.substr(0, size);
    bytes.remove_prefix(size);
    const bool is_packed = indent == "2 ";
    if (is_packed) {
      for (const char c : inner) {
        text += std::to_string(static_cast<unsigned char>(c)) + " ";
      }
      text += "\n";
    } else if (!indent.empty() || field != 6) {
      text += "\n" + proto_text(inner, field == 2 ? "2 " : indent + "  ");
    } else {
      text += std::string(inner) + "\n";
    }
  }
  return text;
}

template <typename Write>
std::string written(Write write) {
  std::ostringstream out;
  write(out);
  return out.str();
}

TEST(Callgrind, has_costs_calls_and_jumps_of_blocks_beside_samples) {
  Stacks stacks = hard_stacks();
  const RecordedCode code = demo_code();
  expect_golden("callgrind.out", written([&](std::ostream& out) {
                  write_callgrind(out, demo_run(), stacks, &code);
                }));
}

TEST(Callgrind, has_neither_addresses_nor_jumps_by_lines) {
  Stacks stacks = hard_stacks();
  const RecordedCode code = demo_code();
  expect_golden("callgrind_lines.out", written([&](std::ostream& out) {
                  write_callgrind(out, demo_run(), stacks, &code, CallgrindPositions::lines);
                }));
}

TEST(Callgrind, has_samples_alone_if_nothing_was_counted) {
  Stacks stacks = hard_stacks();
  expect_golden("callgrind_samples.out", written([&](std::ostream& out) {
                  write_callgrind(out, demo_run(), stacks, nullptr);
                }));
}

TEST(Callgrind, has_counts_alone_if_nothing_was_sampled) {
  Stacks stacks({{"main", test::kProgram, "", 0, 0, 0, 1, "exact"}}, {});
  RecordedRun run = demo_run();
  run.samples = 0;
  RecordedCode code = demo_code();
  code.blocks_to_the_end = code.blocks.size();
  const std::string text =
      written([&](std::ostream& out) { write_callgrind(out, run, stacks, &code); });
  EXPECT_NE(text.find("\nevents: Ir\nsummary: 44\n"), std::string::npos) << text;
  EXPECT_NE(text.find("exact from start to end in all 5 blocks"), std::string::npos) << text;
  EXPECT_EQ(text.find("calls=1 0x0"), std::string::npos) << text;
}

TEST(Speedscope, has_a_weight_for_each_stack) {
  Stacks stacks = hard_stacks();
  expect_golden("speedscope.json", written([&](std::ostream& out) {
                  EXPECT_EQ(write_speedscope(out, demo_run(), stacks), 0U);
                }));
}

TEST(Speedscope, tells_how_many_numbers_JavaScript_rounds) {
  Stacks stacks({{"f", "", "", 0, 0, 0, {}, ""}}, {{{0}, kExactInJavaScript + 1}, {{0, 0}, 7}});
  const std::string text = written([&](std::ostream& out) {
    EXPECT_EQ(write_speedscope(out, demo_run(), stacks), 2U);  // the sum, too
  });
  EXPECT_NE(text.find("\n9007199254740993,\n7\n"), std::string::npos) << text;
}

TEST(Pprof, has_samples_calls_and_instructions) {
  Stacks stacks = hard_stacks();
  const RecordedCode code = demo_code();
  const std::string bytes =
      written([&](std::ostream& out) { write_pprof(out, demo_run(), stacks, &code); });
  expect_golden("pprof.txt", proto_text(bytes));
}

TEST(Pprof, has_samples_without_a_stack_as_well) {
  // 5 of 9 samples have a stack; whose "twice" it was is not known.
  Stacks stacks({{"main", test::kProgram, "", 0, 3, 9, {}, ""},
                 {"twice", test::kProgram, "", 0, 2, 0, {}, ""},
                 {"twice", test::kLibrary, "", 0, 4, 0, {}, ""},
                 {"twice", "", "", 0, 0, 0, {}, ""}},
                {{{0}, 2}, {{0, 3}, 3}});
  RecordedRun run = demo_run();
  run.samples = 9;
  run.with_stack = 5;
  run.cpu_ns = 0;
  const std::string text =
      proto_text(written([&](std::ostream& out) { write_pprof(out, run, stacks, nullptr); }));
  EXPECT_NE(text.find("2: \n2 1: 1 \n2 2: 2 \n"    // main, with a stack
                      "2: \n2 1: 4 1 \n2 2: 3 \n"  // one of "twice"
                      "2: \n2 1: 1 \n2 2: 1 \n"
                      "2: \n2 1: 3 \n2 2: 3 \n"),
            std::string::npos)
      << text;
}

TEST(Pprof, has_a_type_of_value_even_for_an_empty_run) {
  Stacks stacks({}, {});
  RecordedRun run = demo_run();
  run.samples = 0;
  const std::string bytes =
      written([&](std::ostream& out) { write_pprof(out, run, stacks, nullptr); });
  EXPECT_NE(proto_text(bytes).find("samples\n6: count\n"), std::string::npos) << proto_text(bytes);
}

TEST(FoldedOfARun, escapes_what_separates_frames) {
  Stacks stacks = hard_stacks();
  const std::string text = written([&](std::ostream& out) { write_folded(out, stacks); });
  EXPECT_EQ(text,
            "main;op:\"<'\\??\xEF\xBF\xBD() 4\n"
            "main;op:\"<'\\??\xEF\xBF\xBD();memcpy 3\n"
            "main;op:\"<'\\??\xEF\xBF\xBD();op:\"<'\\??\xEF\xBF\xBD();memcpy 1\n"
            "(1) read;memcpy 2\n");
}

TEST(FunctionsCsv, quotes_commas_quotes_and_line_ends) {
  const std::string text = written(
      [](std::ostream& out) { write_functions_csv(out, hard_stacks().functions().first(2)); });
  EXPECT_EQ(text, std::string("module,function,source,self_samples,total_samples,calls,calls_kind\n"
                              "/bin/demo,main,\"/src/a,b.c:12\",0,10,1,exact\n"
                              "/bin/demo,\"op;\"\"<'\\\n") +
                      '\0' + "\xff()\",\"/src/a,b.c:30\",4,7,3,exact-until:0.500\n");
}

TEST(NamedProfile, of_a_finished_run_has_its_stacks) {
  Stacks stacks = hard_stacks();
  const NamedProfile profile = named_profile(demo_run(), stacks);
  EXPECT_EQ(profile.tree.totals()[CallTree::kRoot], 10U);
  EXPECT_EQ(profile.tree.nodes().size(), 8U);
  EXPECT_EQ(profile.functions[0].kind, FunctionKind::executable);
  EXPECT_EQ(profile.functions[2].kind, FunctionKind::library);
  EXPECT_EQ(profile.functions[3].kind, FunctionKind::unknown);
}

TEST(Gzip, gives_back_what_was_written) {
  std::string text;
  for (unsigned i = 0; text.size() < 300'000; ++i) {  // more than the buffers hold
    text += std::to_string(i * 2654435761U);
  }
  std::ostringstream out;
  GzipBuffer buffer(out);
  std::ostream in(&buffer);
  in << text;
  buffer.finish();
  const std::string packed = out.str();
  EXPECT_LT(packed.size(), text.size());
  std::string unpacked(text.size() + 1, '\0');
  z_stream stream{};
  ASSERT_EQ(::inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
  std::string from = packed;
  stream.next_in = reinterpret_cast<unsigned char*>(from.data());
  stream.avail_in = static_cast<unsigned>(from.size());
  stream.next_out = reinterpret_cast<unsigned char*>(unpacked.data());
  stream.avail_out = static_cast<unsigned>(unpacked.size());
  EXPECT_EQ(::inflate(&stream, Z_FINISH), Z_STREAM_END);
  unpacked.resize(stream.total_out);
  ::inflateEnd(&stream);
  EXPECT_EQ(unpacked, text);
}

}  // namespace
}  // namespace sp::profiler
