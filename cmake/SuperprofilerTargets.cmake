# Compile options of all targets, and functions that declare the libraries and tests of folders.

add_library(sp_options INTERFACE)
target_include_directories(sp_options INTERFACE "${CMAKE_SOURCE_DIR}/src")
target_compile_options(
  sp_options
  INTERFACE -Wall -Wextra -Wpedantic -Wshadow -fno-omit-frame-pointer
            $<$<COMPILE_LANGUAGE:CXX>:-Wconversion -Wold-style-cast -Wnon-virtual-dtor>)
if(SP_WERROR)
  target_compile_options(sp_options INTERFACE -Werror)
endif()
if(SP_SANITIZE)
  # GCC warns about uninitialised variables in code that the sanitizers add.
  target_compile_options(sp_options INTERFACE -fsanitize=${SP_SANITIZE} -fno-sanitize-recover=all
                                              -Wno-maybe-uninitialized)
  target_link_options(sp_options INTERFACE -fsanitize=${SP_SANITIZE})
endif()

# GCC 12 reports false overruns in a std::string, more of them in fast builds.
set(SP_QUIET_OPTIONS -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread)

# sp_precompile(TARGET NAME OPTIONS HEADERS...): precompiles headers once for all targets with the same
# NAME, which all have these compile options as their last.
function(sp_precompile target name options)
  if(NOT SP_FAST_BUILD)
    return()
  endif()
  set(owner sp_precompiled_${name})
  if(NOT TARGET ${owner})
    file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/${owner}.cpp" CONTENT "")
    add_library(${owner} OBJECT "${CMAKE_BINARY_DIR}/${owner}.cpp")
    add_library(${owner}_options INTERFACE)
    target_compile_options(${owner}_options INTERFACE ${options})
    target_link_libraries(${owner} PRIVATE sp_options GTest::gtest ${owner}_options)
    target_compile_options(${owner} PRIVATE ${SP_QUIET_OPTIONS})
    target_precompile_headers(
      ${owner}
      PRIVATE
      <algorithm>
      <functional>
      <map>
      <memory>
      <optional>
      <span>
      <string>
      <unordered_map>
      <vector>
      <gtest/gtest.h>
      ${ARGN})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
  target_compile_options(${target} PRIVATE ${SP_QUIET_OPTIONS})
endfunction()

# sp_sources(VARIABLE): the .cpp files of the calling folder and its subfolders, except those for one
# CPU (x86_64/, aarch64/), which their own targets add.
function(sp_sources variable)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}"
       "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "^(x86_64|aarch64)/")
  list(TRANSFORM sources PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()

# sp_library(NAME DEPENDS...): a static library from sp_sources.
function(sp_library name)
  sp_sources(sources)
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC sp_options ${ARGN})
  if(SP_FAST_BUILD)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 10)
    # Of files that are included it says so of each anonymous namespace.
    target_compile_options(${name} PRIVATE -Wno-subobject-linkage ${SP_QUIET_OPTIONS})
  endif()
endfunction()

set(SP_START_OPTIONS -O0)
set(SP_UNIT_OPTIONS "")
if(SP_SANITIZE)
  list(APPEND SP_START_OPTIONS -fno-sanitize=all)
endif()
if(SP_SANITIZE MATCHES "undefined")
  # In the tests' own code, not in what they test: a third of the time that compiling them takes.
  set(SP_UNIT_OPTIONS -fno-sanitize=undefined)
endif()

# sp_only_start_programs(SOURCES...): compiles tests that only start programs as fast as can be: what is
# optimised and sanitized is the programs.
function(sp_only_start_programs)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "${SP_START_OPTIONS}")
endfunction()

# sp_add_suites(TARGET PREFIX LABEL SOURCES...): a test for each suite that the sources name, and one
# for all others: a program takes far longer to start than a suite of pure tests to run.
function(sp_add_suites target prefix label)
  set(suites "")
  foreach(source IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
    file(STRINGS "${source}" heads REGEX "^(TEST|TEST_F|TEST_P)\\([A-Za-z0-9_]+")
    list(TRANSFORM heads REPLACE "^TEST[_FP]*\\(([A-Za-z0-9_]+).*" "\\1")
    list(APPEND suites ${heads})
  endforeach()
  list(REMOVE_DUPLICATES suites)
  set(all "")
  foreach(suite IN LISTS suites)
    add_test(NAME "${prefix}${suite}" COMMAND ${target} "--gtest_filter=${suite}.*:*/${suite}.*")
    list(APPEND all "${suite}.*:*/${suite}.*")
  endforeach()
  list(JOIN all ":" all)
  add_test(NAME "${prefix}${target}_others" COMMAND ${target} "--gtest_filter=-${all}")
  list(TRANSFORM suites PREPEND "${prefix}")
  set_tests_properties(${suites} "${prefix}${target}_others" PROPERTIES LABELS ${label} TIMEOUT 300)
endfunction()

# Tests that start programs, and look at times, costs or shares of the CPU: nothing else runs
# beside them. Others run two at a time on two CPUs, with `ctest --parallel 4`.
set(SP_MEASURING_TESTS
    *Truth* Cost.* Diff.* Dormancy.* Interruptions.* Learning.* OriginalBugs.* OriginalCounts.* Progress.*
    Recordings.* RedisServer.* Split.* Top.* *TopOnTerminal.* TraceInCopies.*
    Probes.stay_in_a_library_of_which_the_linker_takes_a_part_away
    Trace.ends_calls_that_longjmp_leaves_when_it_comes_back)
list(JOIN SP_MEASURING_TESTS ":" SP_MEASURING_TESTS)

# sp_test(NAME LABEL DEPENDS...): a GoogleTest program from sp_sources.
function(sp_test name label)
  sp_sources(sources)
  if(NOT sources)
    return()
  endif()
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE sp_options ${ARGN} GTest::gtest GTest::gtest_main)
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}/tests")
  if(label MATCHES "^(end_to_end|oracle)$")
    sp_only_start_programs(${sources})
    sp_precompile(${name} programs "${SP_START_OPTIONS}" <nlohmann/json.hpp>)
  else()
    target_compile_options(${name} PRIVATE ${SP_UNIT_OPTIONS})
    sp_precompile(${name} units "${SP_UNIT_OPTIONS}")
  endif()
  set(is_sanitized false)
  if(SP_SANITIZE)
    set(is_sanitized true)
  endif()
  target_compile_definitions(
    ${name}
    PRIVATE SP_SOURCE_DIR="${CMAKE_SOURCE_DIR}" SP_BINARY_DIR="${CMAKE_BINARY_DIR}"
            SP_PROGRAM="$<TARGET_FILE:superprofiler>"
            SP_TARGETS_DIR="${CMAKE_BINARY_DIR}/tests/targets"
            SP_PROGRAM_IS_SANITIZED=${is_sanitized})
  # Tells the tests of several builds apart in one summary.
  set(prefix "")
  if(SP_SANITIZE STREQUAL "thread")
    set(prefix "tsan:")
  endif()
  if(label STREQUAL "unit")
    sp_add_suites(${name} "${prefix}" ${label} ${sources})
  else()
    set(measuring "*")
    if(label STREQUAL "end_to_end")
      set(measuring "${SP_MEASURING_TESTS}")
      gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST TEST_PREFIX "${prefix}" TEST_FILTER "-${measuring}"
                           PROPERTIES LABELS ${label} TIMEOUT 300 PROCESSORS 2)
    endif()
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST TEST_PREFIX "${prefix}" TEST_FILTER "${measuring}"
                         PROPERTIES LABELS ${label} TIMEOUT 300 RUN_SERIAL ON)
  endif()
endfunction()
