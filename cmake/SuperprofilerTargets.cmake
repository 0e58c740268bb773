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

# sp_precompile(TARGET NAME DEPENDS...): precompiles common headers once for all targets with the
# same NAME, with the include directories of DEPENDS.
function(sp_precompile target name)
  if(NOT SP_PRECOMPILE)
    return()
  endif()
  set(owner sp_precompiled_${name})
  # GCC 12 reports false overruns in a precompiled std::string.
  set(options -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
              -Wno-stringop-overread)
  if(NOT TARGET ${owner})
    file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/${owner}.cpp" CONTENT "")
    add_library(${owner} OBJECT "${CMAKE_BINARY_DIR}/${owner}.cpp")
    target_link_libraries(${owner} PRIVATE sp_options ${ARGN})
    target_compile_options(${owner} PRIVATE ${options})
    set(headers
        <algorithm>
        <functional>
        <map>
        <memory>
        <optional>
        <span>
        <string>
        <unordered_map>
        <vector>)
    if(name STREQUAL "tests")
      list(APPEND headers <gtest/gtest.h>)
    else()
      list(APPEND headers <fmt/format.h>)
    endif()
    target_precompile_headers(${owner} PRIVATE ${headers})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
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
  sp_precompile(${name} sources fmt::fmt)
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
  sp_precompile(${name} tests GTest::gtest)
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
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST TEST_PREFIX "${prefix}"
                       PROPERTIES LABELS ${label} TIMEOUT 300)
endfunction()
