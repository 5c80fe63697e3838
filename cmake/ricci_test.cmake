# ricci_test(<folder>.<name> SOURCES a.cpp ... [LIBRARIES x ...] [SUPPORT y ...] [INTERNAL] [SECONDS n]): a Catch2 program and its
# ctest entry. SUPPORT are libraries that change no flags, so that the common headers need not be parsed again; INTERNAL lets it include
# headers of lib/; of long tests SECONDS says about how long: they begin first. The folder is the ctest label, and tests.<folder>
# builds all of its tests.
function(ricci_test name)
  cmake_parse_arguments(arg "INTERNAL" "SECONDS" "SOURCES;LIBRARIES;SUPPORT" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ricci ricci_dev ricci_catch ${arg_LIBRARIES} ${arg_SUPPORT})
  ricci_test_flags(${name} ${arg_INTERNAL})
  if(NOT arg_LIBRARIES)
    ricci_precompiled(${name} FROM ricci_test_headers)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  string(REGEX REPLACE "\\..*" "" label ${name})
  set_tests_properties(${name} PROPERTIES LABELS ${label})
  if(arg_SECONDS)
    set_tests_properties(${name} PROPERTIES COST ${arg_SECONDS})
  endif()
  if(NOT TARGET tests.${label})
    add_custom_target(tests.${label})
  endif()
  add_dependencies(tests.${label} ${name})
endfunction()

# ricci_test_library(<target> SOURCES a.cpp ... [SUPPORT y ...]): what several tests share, compiled once.
function(ricci_test_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;SUPPORT" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_link_libraries(${name} PUBLIC ricci ricci_dev ricci_catch ${arg_SUPPORT})
  ricci_test_flags(${name} TRUE)
  ricci_precompiled(${name} FROM ricci_test_headers)
endfunction()

function(ricci_test_flags name internal)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support)
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)  # two thirds of the time of -O2, which benches and examples have
  if(CMAKE_BUILD_TYPE STREQUAL "Debug" AND CMAKE_CXX_FLAGS_DEBUG MATCHES "sanitize=[a-z,]*undefined")
    # The loops of tests' own references were up to half of the time. What statements compile to in a caller's program is checked.
    if((internal AND NOT name MATCHES "^front") OR name MATCHES "^capi")
      target_compile_options(${name} PRIVATE -fno-sanitize=undefined)
    else()
      target_compile_options(${name} PRIVATE -fno-sanitize=pointer-overflow)
    endif()
  endif()
  if(internal)
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/lib)
  endif()
endfunction()
