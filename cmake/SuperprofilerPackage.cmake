# cpack -G DEB in the build directory makes two Debian packages of the components: superprofiler, and
# superprofiler-dbgsym with its debug information.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME superprofiler)
set(CPACK_PACKAGE_CONTACT "superprofiler developers <superprofiler@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "profiler for native programs that needs ptrace alone")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES OFF) # the component "program" is stripped when it is installed
set(CPACK_COMPONENTS_ALL program debug)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
else()
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE amd64)
endif()
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME superprofiler)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS libcurl4) # --push loads it
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS libdebuginfod1) # loaded where DEBUGINFOD_URLS is set
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION
    "superprofiler samples running programs, counts their basic blocks exactly, and writes
 flame graphs and tables. It needs ptrace(2) and nothing else: no recompilation, no
 performance counters, no kernel interface reserved for root.")

set(CPACK_DEBIAN_DEBUG_PACKAGE_NAME superprofiler-dbgsym)
set(CPACK_DEBIAN_DEBUG_PACKAGE_SECTION debug)
set(CPACK_DEBIAN_DEBUG_PACKAGE_DEPENDS "superprofiler (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_DEBUG_DESCRIPTION "debug information of superprofiler")

include(CPack)
