# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
# Installs the library into a fresh prefix and uses it from outside: by find_package, by pkg-config, and from Python.
# Arguments: BUILD_DIR (of hetsort), EXAMPLES and TESTS (folders), WORK_DIR, GENERATOR, COMPILER, PYTHON_FOLDER.
include(${CMAKE_CURRENT_LIST_DIR}/../run_step.cmake)

file(REMOVE_RECURSE ${WORK_DIR})
set(prefix ${WORK_DIR}/prefix)
run_step(${CMAKE_COMMAND} --install ${BUILD_DIR} --component library --prefix ${prefix})
file(GLOB_RECURSE library ${prefix}/libhetsort.so.0)
file(GLOB_RECURSE package_file ${prefix}/hetsort.pc)
cmake_path(GET library PARENT_PATH library_folder)
cmake_path(GET package_file PARENT_PATH package_folder)

# Each header compiles on its own; hetsort.h also as C.
file(WRITE ${WORK_DIR}/c_header.c "#include <hetsort.h>\nint main(void) { return hetsort_version() == HETSORT_VERSION ? 0 : 1; }\n")
file(GLOB_RECURSE headers RELATIVE ${prefix}/include ${prefix}/include/*.h)
list(FILTER headers EXCLUDE REGEX "hetsort/mpi.h")
list(LENGTH headers count)
if(count LESS 5)
  message(FATAL_ERROR "installed headers: ${headers}")
endif()
foreach(header ${headers})
  file(WRITE ${WORK_DIR}/header.cc "#include <${header}>\n")
  run_step(${COMPILER} -std=c++20 -Wall -Wextra -Werror -pedantic -fsyntax-only -I${prefix}/include ${WORK_DIR}/header.cc)
endforeach()

# pkg-config, whose file finds the prefix from where it lies.
set(ENV{PKG_CONFIG_PATH} ${package_folder})
run_step(pkg-config --cflags --libs hetsort)
string(STRIP "${step_output}" flags)
separate_arguments(flags)
set(strict -std=c99 -Wall -Wextra -Werror -pedantic)
foreach(program ${WORK_DIR}/c_header.c ${TESTS}/c_test.c)
  cmake_path(GET program STEM name)
  run_step(cc ${strict} ${program} -o ${WORK_DIR}/${name} ${flags} -Wl,-rpath,${library_folder})
endforeach()
run_step(${WORK_DIR}/c_header)
file(MAKE_DIRECTORY ${WORK_DIR}/files)
run_step(${WORK_DIR}/c_test ${WORK_DIR}/files)

# find_package, with the examples.
run_step(${CMAKE_COMMAND} -G "${GENERATOR}" -S ${EXAMPLES} -B ${WORK_DIR}/build -DCMAKE_PREFIX_PATH=${prefix}
  -DCMAKE_CXX_COMPILER=${COMPILER})
run_step(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
string(REPEAT "222222221111111100000000" 10 records)
file(WRITE ${WORK_DIR}/in "${records}")
run_step(${WORK_DIR}/build/sort_file ${WORK_DIR}/in ${WORK_DIR}/out)
file(SIZE ${WORK_DIR}/out size)
if(NOT size EQUAL 240)
  message(FATAL_ERROR "sort_file wrote ${size} bytes")
endif()
find_program(MPIRUN mpirun)
if(MPIRUN AND EXISTS ${WORK_DIR}/build/particles)
  set(ENV{OMPI_ALLOW_RUN_AS_ROOT} 1)
  set(ENV{OMPI_ALLOW_RUN_AS_ROOT_CONFIRM} 1)
  set(ENV{OMPI_MCA_btl_vader_single_copy_mechanism} none)
  run_step(${MPIRUN} --oversubscribe --bind-to none -n 4 ${WORK_DIR}/build/particles 100000)
  foreach(line "rank 0: 10000 particles, cells 0 to " "rank 1: 20000 " "rank 2: 30000 " "rank 3: 40000 " " to 999\n")
    if(NOT step_output MATCHES "${line}")
      message(FATAL_ERROR "particles printed\n${step_output}")
    endif()
  endforeach()
endif()

# Python, where Debian's interpreter and NumPy are installed: the package finds the library by itself.
if(EXISTS /usr/bin/python3 AND EXISTS /usr/lib/python3/dist-packages/numpy)
  set(ENV{PYTHONPATH} ${prefix}/${PYTHON_FOLDER})
  unset(ENV{HETSORT_LIBRARY})
  run_step(/usr/bin/python3 -B ${EXAMPLES}/memmap.py ${WORK_DIR} 96)
  if(NOT step_output MATCHES "192 MiB, are in order; the limit is 96 MiB")
    message(FATAL_ERROR "memmap.py printed\n${step_output}")
  endif()
endif()
