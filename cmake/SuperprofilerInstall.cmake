# sp_install_program(TARGET): installs the program stripped, as component "program". Its debug
# information is component "debug", which is only installed where it is asked for:
#   cmake --install build/release --component debug
# It goes to PREFIX/lib/debug/.build-id/xx/yyyy.debug, where gdb looks for it if PREFIX is /usr.
function(sp_install_program target)
  target_link_options(${target} PRIVATE -Wl,--build-id=sha1)
  install(TARGETS ${target} RUNTIME COMPONENT program)
  # The toolchain's, which may be for another CPU.
  set(tools "set(STRIP \"${CMAKE_STRIP}\")
set(OBJCOPY \"${CMAKE_OBJCOPY}\")
set(READELF \"${CMAKE_READELF}\")
set(PROGRAM \"$<TARGET_FILE:${target}>\")
set(INSTALLED \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/$<TARGET_FILE_NAME:${target}>\")")
  install(CODE "${tools}" COMPONENT program)
  install(SCRIPT "${PROJECT_SOURCE_DIR}/cmake/strip_installed.cmake" COMPONENT program)
  install(CODE "${tools}" COMPONENT debug EXCLUDE_FROM_ALL)
  install(SCRIPT "${PROJECT_SOURCE_DIR}/cmake/install_debug.cmake" COMPONENT debug EXCLUDE_FROM_ALL)
endfunction()
