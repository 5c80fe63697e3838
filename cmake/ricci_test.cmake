# ricci_test(<folder>.<name> SOURCES a.cpp ... [LIBRARIES x ...] [INTERNAL]): a Catch2 program and its ctest entry.
# INTERNAL lets it include headers of lib/. The folder is the ctest label.
function(ricci_test name)
  cmake_parse_arguments(arg "INTERNAL" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ricci ricci_dev ricci_catch ${arg_LIBRARIES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support)
  if(arg_INTERNAL)
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/lib)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  string(REGEX REPLACE "\\..*" "" label ${name})
  set_tests_properties(${name} PROPERTIES LABELS ${label})
endfunction()
