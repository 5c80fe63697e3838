# Install rules: the library, the headers, the command, the CMake package and the pkg-config file.
include(CMakePackageConfigHelpers)
set(ricci_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ricci)

install(TARGETS ricci ricci_headers EXPORT ricci_targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ricci DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
install(EXPORT ricci_targets NAMESPACE ricci:: FILE ricci-targets.cmake DESTINATION ${ricci_package_dir})

get_target_property(ricci_library_type ricci TYPE)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/ricci-config.cmake.in
  ${PROJECT_BINARY_DIR}/package/ricci-config.cmake INSTALL_DESTINATION ${ricci_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/ricci-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/ricci-config.cmake ${PROJECT_BINARY_DIR}/package/ricci-config-version.cmake
  DESTINATION ${ricci_package_dir})

# The files find all folders from where they lie, so that an installed tree may be moved.
set(ricci_pc_libs_private)
if(ricci_library_type STREQUAL "STATIC_LIBRARY")
  set(ricci_pc_libs_private "-fopenmp -pthread -lstdc++ -lm")
endif()
file(RELATIVE_PATH ricci_pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
file(RELATIVE_PATH ricci_pc_include ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_FULL_INCLUDEDIR})
foreach(name ricci ricci-c)  # the second without C++ flags
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${name}.pc.in ${PROJECT_BINARY_DIR}/package/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/package/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

if(TARGET ricci_command)
  install(TARGETS ricci_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
