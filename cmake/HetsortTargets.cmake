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

# hetsort_test(NAME SOURCES... LIBRARIES ... [PARTS N] [WAITS] [BLACK_BOX]): a GoogleTest program. CTest runs its cases in N parts of
# one process each (8), because the start of a process takes longer than most cases do. BLACK_BOX: the cases start other
# programs and mostly wait for them. CTest then runs each case alone, except where programs start slowly, under a sanitizer
# or an emulator, and twice as many side by side. WAITS: the cases mostly wait, so twice as many parts run side by side.
function(hetsort_test name)
  cmake_parse_arguments(arg "BLACK_BOX;WAITS" "PARTS" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE hetsort_flags ${arg_LIBRARIES} GTest::gtest GTest::gtest_main rapidcheck rapidcheck_gtest)
  if(NOT arg_PARTS)
    set(arg_PARTS 8)
  endif()
  # Every run has the same random cases; `./dev soak` draws others. Slow builds get fewer, and two hours for a program.
  set(rapidcheck "RC_PARAMS=seed=20250117")
  set(timeout 300)
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME folder)
  if(HETSORT_SANITIZE OR CMAKE_CROSSCOMPILING)
    string(APPEND rapidcheck " max_success=15")
    math(EXPR timeout "7200 / ${arg_PARTS}")
  else()
    set_property(GLOBAL APPEND PROPERTY HETSORT_TEST_PROGRAMS $<TARGET_FILE:${name}>)
    if(arg_BLACK_BOX)
      gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60
        PROPERTIES LABELS ${folder} TIMEOUT ${timeout} PROCESSORS 1 ENVIRONMENT ${rapidcheck})
      return()
    endif()
  endif()
  set(processors 2)
  if(arg_WAITS)
    set(processors 1)
  endif()
  # The process keeps freed memory, because new pages are expensive in virtual machines.
  set(memory MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=1000000000 MALLOC_TRIM_THRESHOLD_=1000000000)
  foreach(part RANGE 1 ${arg_PARTS})
    math(EXPR index "${part} - 1")
    set(test ${name}.part_${part}_of_${arg_PARTS})
    add_test(NAME ${test} COMMAND ${name} --gtest_brief=1 --gtest_output=xml:${PROJECT_BINARY_DIR}/cases/${test}.xml)
    set_tests_properties(${test} PROPERTIES TIMEOUT ${timeout} PROCESSORS ${processors}
      ENVIRONMENT "${rapidcheck};${memory};GTEST_TOTAL_SHARDS=${arg_PARTS};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()
