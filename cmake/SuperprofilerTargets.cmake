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

# sp_precompile_tests(TARGET): precompiles common headers, once for all programs of tests.
function(sp_precompile_tests target)
  if(NOT SP_FAST_BUILD)
    return()
  endif()
  # GCC 12 reports false overruns in a precompiled std::string.
  set(options -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
              -Wno-stringop-overread)
  if(NOT TARGET sp_precompiled)
    file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/sp_precompiled.cpp" CONTENT "")
    add_library(sp_precompiled OBJECT "${CMAKE_BINARY_DIR}/sp_precompiled.cpp")
    target_link_libraries(sp_precompiled PRIVATE sp_options GTest::gtest)
    target_compile_options(sp_precompiled PRIVATE ${options})
    target_precompile_headers(
      sp_precompiled
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
      <gtest/gtest.h>)
  endif()
  target_precompile_headers(${target} REUSE_FROM sp_precompiled)
  target_compile_options(${target} PRIVATE ${options})
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
    target_compile_options(${name} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

# sp_test(NAME LABEL DEPENDS...): a GoogleTest program from sp_sources.
function(sp_test name label)
  sp_sources(sources)
  if(NOT sources)
    return()
  endif()
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE sp_options ${ARGN} GTest::gtest GTest::gtest_main)
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}/tests")
  sp_precompile_tests(${name})
  target_compile_definitions(
    ${name}
    PRIVATE SP_SOURCE_DIR="${CMAKE_SOURCE_DIR}" SP_BINARY_DIR="${CMAKE_BINARY_DIR}"
            SP_PROGRAM="$<TARGET_FILE:superprofiler>"
            SP_TARGETS_DIR="${CMAKE_BINARY_DIR}/tests/targets")
  # Tells the tests of several builds apart in one summary.
  set(prefix "")
  if(SP_SANITIZE STREQUAL "thread")
    set(prefix "tsan:")
  endif()
  # What starts processes needs the machine for itself.
  set(is_serial ON)
  if(label STREQUAL "unit")
    set(is_serial OFF)
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST TEST_PREFIX "${prefix}"
                       PROPERTIES LABELS ${label} TIMEOUT 300 RUN_SERIAL ${is_serial})
endfunction()
