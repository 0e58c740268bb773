# The same switches as compilers spell them: switches_COMPILER_OPTIMIZATION_CODE. A compiler that is
# not installed leaves its variants out, and their tests say so.
function(sp_switch_variants name compiler)
  sp_cross_options(cross ${compiler})
  foreach(level O0 O1 O2 Os)
    foreach(kind pie no_pie)
      set(flags -fPIE -pie)
      if(kind STREQUAL "no_pie")
        set(flags -fno-pie -no-pie)
      endif()
      set(variant switches_${name}_${level}_${kind})
      set(output "${CMAKE_BINARY_DIR}/tests/targets/${variant}")
      set(source "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/switches.c")
      add_custom_command(
        OUTPUT ${output}
        COMMAND ${CMAKE_COMMAND} -E make_directory "${CMAKE_BINARY_DIR}/tests/targets"
        COMMAND ${compiler} ${cross} -${level} ${flags} -o ${output} ${source}
        DEPENDS ${source}
        VERBATIM)
      add_custom_target(target_${variant} ALL DEPENDS ${output})
    endforeach()
  endforeach()
endfunction()

sp_switch_variants(gcc ${CMAKE_C_COMPILER})
if(SP_CLANG)
  sp_switch_variants(clang ${SP_CLANG})
endif()
