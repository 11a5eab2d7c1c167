# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
# Language level, warnings and sanitizers of all targets. Users of the libraries do not inherit them.

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
include(GNUInstallDirs)

# GCC 12 warns of overlapping copies in operator+ of std::string where there are none (GCC bug 105651), so -Wrestrict is off.
add_library(hetsort_flags INTERFACE)
target_compile_features(hetsort_flags INTERFACE cxx_std_20)
target_compile_options(hetsort_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<BOOL:${HETSORT_WERROR}>:-Werror>
  $<$<BOOL:${HETSORT_NATIVE}>:-march=native>)
if(HETSORT_SANITIZE)
  target_compile_options(hetsort_flags INTERFACE -fsanitize=${HETSORT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_compile_definitions(hetsort_flags INTERFACE HETSORT_SANITIZE)
  if(HETSORT_SANITIZE MATCHES thread)
    target_compile_definitions(hetsort_flags INTERFACE HETSORT_SANITIZE_THREAD)
  endif()
  # GCC 12 takes variables of <regex> for uninitialized where sanitizers instrument them (its bug 105562).
  target_compile_options(hetsort_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(hetsort_flags INTERFACE -fsanitize=${HETSORT_SANITIZE})
endif()

# hetsort_library(NAME SOURCES...): a static library. Includes begin at the root of the tree, as in "io/file.h".
function(hetsort_library name)
  add_library(${name} STATIC ${ARGN})
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:hetsort_flags>)
endfunction()

# hetsort_compile_quickly(NAME): for a library whose speed does not matter; optimizing it would take half of its compile time.
function(hetsort_compile_quickly name)
  target_compile_options(${name} PRIVATE $<IF:$<CONFIG:Release>,-O1,-O0>)
endfunction()

# hetsort_test(NAME SOURCES... LIBRARIES ...): a GoogleTest program. CTest runs its cases one by one. Under a sanitizer or an
# emulator it runs every eighth case in one process, because there the start of a process takes longer than most cases do.
function(hetsort_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE hetsort_flags ${arg_LIBRARIES} GTest::gtest GTest::gtest_main rapidcheck rapidcheck_gtest)
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  set(slow FALSE)
  if(HETSORT_SANITIZE OR CMAKE_CROSSCOMPILING)
    set(slow TRUE)
  endif()
  # Every run has the same random cases; `./dev soak` draws others. Slow builds get fewer.
  set(rapidcheck "RC_PARAMS=seed=20250117")
  if(slow)
    string(APPEND rapidcheck " max_success=15")
  endif()
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME folder)
  # Of ctest -j: tests that run the program mostly wait, above all for mpirun, and twice as many of them run side by side.
  set(processors 2)
  if(folder STREQUAL cli)
    set(processors 1)
  endif()
  if(NOT slow)
    set_property(GLOBAL APPEND PROPERTY HETSORT_TEST_PROGRAMS $<TARGET_FILE:${name}>)
    gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60
      PROPERTIES LABELS ${folder} TIMEOUT ${arg_TIMEOUT} PROCESSORS ${processors} ENVIRONMENT ${rapidcheck})
    return()
  endif()
  set(parts 8)
  foreach(part RANGE 1 ${parts})
    math(EXPR index "${part} - 1")
    add_test(NAME ${name}.part_${part}_of_${parts} COMMAND ${name} --gtest_brief=1)
    set_tests_properties(${name}.part_${part}_of_${parts} PROPERTIES TIMEOUT 900 PROCESSORS 2
      ENVIRONMENT "${rapidcheck};GTEST_TOTAL_SHARDS=${parts};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()
