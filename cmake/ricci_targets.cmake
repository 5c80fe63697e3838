# The targets: ricci::headers (front end alone), ricci::ricci (front end + CPU), and ricci_dev (our own warnings).
if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
  endif()
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()

find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(Boost 1.70 REQUIRED)  # Hana, headers only

add_library(ricci_headers INTERFACE)
add_library(ricci::headers ALIAS ricci_headers)
set_target_properties(ricci_headers PROPERTIES EXPORT_NAME headers)
target_compile_features(ricci_headers INTERFACE cxx_std_20)
target_include_directories(ricci_headers INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(ricci_headers INTERFACE Boost::headers)

add_library(ricci)
add_library(ricci::ricci ALIAS ricci)
target_link_libraries(ricci PUBLIC ricci_headers PRIVATE $<BUILD_INTERFACE:OpenMP::OpenMP_CXX> $<BUILD_INTERFACE:Threads::Threads>
  $<INSTALL_INTERFACE:ricci::threads>)  # which ricci-config.cmake makes of what the user's languages allow
target_include_directories(ricci PRIVATE ${PROJECT_SOURCE_DIR}/lib)
set_target_properties(ricci PROPERTIES POSITION_INDEPENDENT_CODE ON VERSION ${PROJECT_VERSION} SOVERSION 0)

include(ricci_precompiled)
include(ricci_unity)
ricci_precompiled(ricci HEADERS <algorithm> <bit> <cmath> <complex> <cstdint> <cstring> <functional> <map> <memory> <mutex> <numeric>
  <optional> <set> <string> <unordered_map> <vector> <ricci/core/error.hpp> <ricci/program/program.hpp>)

add_library(ricci_dev INTERFACE)
# Warnings about libstdc++ 12 itself: gcc 12 of operator+ (its bug 105651; at -O2 also as bounds), clang 19 of stable_sort's buffer.
target_compile_options(ricci_dev INTERFACE -Wall -Wextra -Wpedantic $<$<CXX_COMPILER_ID:GNU>:-Wshadow$<$<BOOL:${RICCI_UNITY}>:=local> -Wno-restrict>
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread>
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
target_link_libraries(ricci PRIVATE $<BUILD_INTERFACE:ricci_dev>)
target_compile_options(ricci PRIVATE $<IF:$<BOOL:${RICCI_UNITY}>,$<$<CXX_COMPILER_ID:GNU>:-Wshadow=local>,-Wshadow>)  # elsewhere clang complains of a tensor u beside the label u
