# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
# Installs the planner into a fresh prefix, builds the outside project against it and runs what it built.
# Arguments: BUILD_DIR (of hetsort), SOURCE_DIR (of the outside project), WORK_DIR, CLUSTER, GENERATOR, COMPILER.
include(${CMAKE_CURRENT_LIST_DIR}/../run_step.cmake)

file(REMOVE_RECURSE ${WORK_DIR})
run_step(${CMAKE_COMMAND} --install ${BUILD_DIR} --component partition --prefix ${WORK_DIR}/prefix)
run_step(${CMAKE_COMMAND} -G "${GENERATOR}" -S ${SOURCE_DIR} -B ${WORK_DIR}/build -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix
  -DCMAKE_CXX_COMPILER=${COMPILER})
run_step(${CMAKE_COMMAND} --build ${WORK_DIR}/build)

run_step(${WORK_DIR}/build/plan_only)
if(NOT step_output MATCHES "75106 142137 269712 513045 makespan 843197" OR NOT step_output MATCHES "mine.toml:2:1: ")
  message(FATAL_ERROR "plan_only printed\n${step_output}")
endif()

find_program(MPIRUN mpirun)
if(MPIRUN AND EXISTS ${WORK_DIR}/build/seismic_scatterv)
  set(ENV{OMPI_ALLOW_RUN_AS_ROOT} 1)
  set(ENV{OMPI_ALLOW_RUN_AS_ROOT_CONFIRM} 1)
  run_step(${MPIRUN} --oversubscribe -n 4 ${WORK_DIR}/build/seismic_scatterv ${CLUSTER} 100000)
  if(NOT step_output MATCHES "travel time of all rays: 100000")
    message(FATAL_ERROR "seismic_scatterv printed\n${step_output}")
  endif()
  message(STATUS "${step_output}")
endif()
