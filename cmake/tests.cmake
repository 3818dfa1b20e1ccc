# Every tests/**/test_*.c becomes one program, run once per number of ranks of its first line
# ("// ranks: 1 2 4"); test_*.sh and test_*.py become tests too (exit status 77: skipped).
set(suppressions ${CMAKE_SOURCE_DIR}/tests/leaks.txt)
set(test_environment
    "FRINGE=${CMAKE_BINARY_DIR}/fringe"
    "FRINGE_SOURCE=${CMAKE_SOURCE_DIR}"
    "FRINGE_BUILD=${CMAKE_BINARY_DIR}"
    "OMPI_ALLOW_RUN_AS_ROOT=1"
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"
    "OMPI_MCA_btl=self,vader"
    "OMPI_MCA_btl_vader_single_copy_mechanism=none"
    "OMPI_MCA_rmaps_base_oversubscribe=1"
    "OMPI_MCA_mpi_yield_when_idle=1"
    "OMPI_MCA_hwloc_base_binding_policy=none"
    "ASAN_OPTIONS=fast_unwind_on_malloc=0:detect_stack_use_after_return=0"
    "LSAN_OPTIONS=suppressions=${suppressions}:print_suppressions=0"
    "UBSAN_OPTIONS=print_stacktrace=1")

file(GLOB support_sources CONFIGURE_DEPENDS tests/*.c)
list(FILTER support_sources EXCLUDE REGEX "/test_[^/]*$")
if(support_sources)
    add_library(fringe_support STATIC ${support_sources})
    room_settings(fringe_support)
    target_include_directories(fringe_support PUBLIC tests)
    target_link_libraries(fringe_support PUBLIC PkgConfig::CMOCKA)
endif()

# The room of a test is its folder; tests directly under tests/ are labelled "whole".
function(test_room out source)
    file(RELATIVE_PATH path ${CMAKE_SOURCE_DIR}/tests ${source})
    get_filename_component(folder ${path} DIRECTORY)
    if(folder STREQUAL "")
        set(folder whole)
    endif()
    string(REGEX REPLACE "/.*" "" folder ${folder})
    set(${out} ${folder} PARENT_SCOPE)
endfunction()

function(test_settings name room ranks)
    math(EXPR processors "(${ranks} + 1) / 2") # ranks of one test wait for each other
    set_tests_properties(${name} PROPERTIES LABELS ${room} TIMEOUT 120 PROCESSORS ${processors}
                         SKIP_RETURN_CODE 77)
endfunction()

file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS tests/test_*.c)
foreach(source IN LISTS test_sources)
    get_filename_component(name ${source} NAME_WE)
    test_room(room ${source})
    if(room IN_LIST rooms AND NOT TARGET fringe_${room})
        continue() # the room is not built yet
    endif()
    add_executable(${name} ${source})
    room_settings(${name})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    target_include_directories(${name} PRIVATE kernels kernels/cpu src)
    target_link_libraries(${name} PRIVATE fringe_support ${all_rooms})

    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    file(STRINGS ${source} first LIMIT_COUNT 1)
    string(REGEX MATCHALL "[0-9]+" counts "${first}")
    if(NOT first MATCHES "^// ranks:" OR NOT counts)
        message(FATAL_ERROR "${source}: the first line must read '// ranks: 1 2 4'")
    endif()
    foreach(ranks IN LISTS counts)
        set(test ${name})
        list(LENGTH counts how_many)
        if(how_many GREATER 1 OR ranks GREATER 1)
            set(test ${name}-${ranks})
        endif()
        if(ranks EQUAL 1)
            add_test(NAME ${test} COMMAND ${name})
            set(threads "OMP_NUM_THREADS=2")
        else()
            add_test(NAME ${test} COMMAND ${MPIEXEC_EXECUTABLE} --oversubscribe --bind-to none
                     -n ${ranks} $<TARGET_FILE:${name}>)
            set(threads "OMP_NUM_THREADS=1")
        endif()
        test_settings(${test} ${room} ${ranks})
        set_tests_properties(${test} PROPERTIES
                             ENVIRONMENT "${test_environment};${threads};OMP_WAIT_POLICY=passive")
    endforeach()
endforeach()

# Scripts run in a folder of their own build, with the program's path in FRINGE.
find_program(PYTHON python3)
file(GLOB_RECURSE scripts CONFIGURE_DEPENDS tests/test_*.sh tests/test_*.py)
foreach(source IN LISTS scripts)
    get_filename_component(name ${source} NAME)
    test_room(room ${source})
    if(source MATCHES "\\.py$")
        if(NOT PYTHON)
            continue()
        endif()
        add_test(NAME ${name} COMMAND ${PYTHON} ${source})
    else()
        add_test(NAME ${name} COMMAND bash ${source})
    endif()
    test_settings(${name} ${room} 4)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "${test_environment}")
endforeach()
