# Part of an installation: puts PROGRAM's debug information where its build-id says.
execute_process(
  COMMAND "${READELF}" --notes --wide "${PROGRAM}"
  OUTPUT_VARIABLE notes
  COMMAND_ERROR_IS_FATAL ANY)
if(NOT notes MATCHES "Build ID: ([0-9a-f][0-9a-f])([0-9a-f]+)")
  message(FATAL_ERROR "${PROGRAM} has no build-id")
endif()
set(folder "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/lib/debug/.build-id/${CMAKE_MATCH_1}")
set(file "${folder}/${CMAKE_MATCH_2}.debug")
file(MAKE_DIRECTORY "${folder}")
message(STATUS "Installing: ${file}")
execute_process(
  COMMAND "${OBJCOPY}" --only-keep-debug --compress-debug-sections "${PROGRAM}" "${file}"
  COMMAND_ERROR_IS_FATAL ANY)
file(CHMOD "${file}" PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
