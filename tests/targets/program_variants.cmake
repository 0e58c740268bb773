# Programs built the ways that programs come: NAME_VARIANT of NAME.c. A compiler that is not
# installed leaves its variants out, and their tests say so.
find_program(SP_CLANG NAMES clang clang-14)
find_program(SP_LLD NAMES ld.lld ld.lld-14)

# What a compiler that is called by hand has to be told of the CPU that is built for.
function(sp_cross_options result compiler)
  set(options "")
  if(CMAKE_CROSSCOMPILING)
    set(options "--sysroot=${CMAKE_SYSROOT}")
    if(compiler MATCHES "clang")
      list(APPEND options "--target=${CMAKE_SYSTEM_PROCESSOR}-linux-gnu")
    endif()
  endif()
  set(${result} "${options}" PARENT_SCOPE)
endfunction()

function(sp_program_variant name variant compiler)
  set(output "${CMAKE_BINARY_DIR}/tests/targets/${name}_${variant}")
  set(source "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${name}.c")
  sp_cross_options(cross ${compiler})
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -E make_directory "${CMAKE_BINARY_DIR}/tests/targets"
    COMMAND ${compiler} ${cross} ${ARGN} -pthread -o ${output} ${source}
    DEPENDS ${source} "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/unwind_truth.h"
    VERBATIM)
  add_custom_target(target_${name}_${variant} ALL DEPENDS ${output})
endfunction()

sp_program_variant(unwind_chain o0 ${CMAKE_C_COMPILER} -O0)
sp_program_variant(unwind_chain o2 ${CMAKE_C_COMPILER} -O2 -fomit-frame-pointer)
sp_program_variant(unwind_chain no_pie ${CMAKE_C_COMPILER} -O2 -no-pie -fomit-frame-pointer)
sp_program_variant(unwind_chain static ${CMAKE_C_COMPILER} -O2 -static -fomit-frame-pointer)
sp_program_variant(unwind_chain static_pie ${CMAKE_C_COMPILER} -O2 -static-pie -fPIE -fomit-frame-pointer)
sp_program_variant(unwind_chain stripped ${CMAKE_C_COMPILER} -O2 -s -fomit-frame-pointer)
sp_program_variant(unwind_chain no_header ${CMAKE_C_COMPILER} -O2 -Wl,--no-eh-frame-hdr -fomit-frame-pointer)
sp_program_variant(unwind_chain debug_frame ${CMAKE_C_COMPILER} -O2 -g -fno-asynchronous-unwind-tables
                  -fno-unwind-tables -fomit-frame-pointer)
sp_program_variant(unwind_chain frame_pointer ${CMAKE_C_COMPILER} -O2 -fno-asynchronous-unwind-tables
                  -fno-unwind-tables -fno-omit-frame-pointer)
sp_program_variant(spin_shares static ${CMAKE_C_COMPILER} -O2 -static)
sp_program_variant(spin_shares stripped ${CMAKE_C_COMPILER} -O2 -s)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  sp_program_variant(unwind_chain pac_ret ${CMAKE_C_COMPILER} -O2 -fomit-frame-pointer
                    -mbranch-protection=standard)
endif()
if(SP_CLANG)
  sp_program_variant(unwind_chain clang ${SP_CLANG} -O2)
  if(SP_LLD)
    sp_program_variant(unwind_chain lld ${SP_CLANG} -O2 -fuse-ld=lld)
    sp_program_variant(spin_shares lld ${SP_CLANG} -O2 -fuse-ld=lld)
    sp_program_variant(unwind_chain lld_no_rosegment ${SP_CLANG} -O2 -fuse-ld=lld -Wl,--no-rosegment)
  endif()
endif()
