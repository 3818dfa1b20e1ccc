# Every tests/**/test_*.c becomes one program, run once per number of ranks of its first line ("//
# ranks: 1 2 4"; one without such a line runs on one), and again on the backend "fenced" (tests/fenced)
# where that line says "also on fenced", and on the emulated device where it says "also on fenced,
# emulated"; test_*.sh and test_*.py become tests too (exit status 77: skipped). "// ranks: 2, long", or
# "# long" in a script, marks what takes minutes; "# alone" a script whose limits are so short that nothing else may run beside it; "#
# timed" one whose limits are of seconds, so that less may run beside it; "# once", or "// ranks: 2,
# once", what mostly waits or compares figures, so that sanitizers would learn nothing from it.
#
# test.sh runs `ctest -j4` on two cores, so PROCESSORS counts half cores. A program of one or two ranks
# takes a core, one of three or four ranks, which wait for each other, three halves, and one of more
# ranks all. A script takes half a core, for it mostly waits: for programs to start, for a limit, for
# a disk; a timed one takes a core.
set(prefix)
if(FRINGE_SANITIZE)
    set(prefix asan.)
endif()
set(job_folders) # those of each mpirun lie in memory, where there is such a folder
if(IS_DIRECTORY /dev/shm)
    set(job_folders "OMPI_MCA_orte_tmpdir_base=/dev/shm")
endif()
set(suppressions ${CMAKE_SOURCE_DIR}/tests/leaks.txt)
set(test_environment
    "FRINGE=${CMAKE_BINARY_DIR}/fringe"
    "FRINGE_SOURCE=${CMAKE_SOURCE_DIR}"
    "FRINGE_BUILD=${CMAKE_BINARY_DIR}"
    "FRINGE_POISON=1" # memory that nobody has written is full of NaNs (fringe/base/memory.h)
    "FRINGE_TEST_CROWDED=1" # ranks that wait leave their core to the tests beside (src/base/comm.c)
    "GOMP_SPINCOUNT=100" # threads that wait leave it, too, but for waits of microseconds (src/cli/spin.c)
    "OMPI_ALLOW_RUN_AS_ROOT=1"
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"
    "OMPI_MCA_pml=ob1" # it would be chosen, after its rivals have looked for their networks
    "OMPI_MCA_btl=self,vader"
    "OMPI_MCA_btl_vader_single_copy_mechanism=none"
    "OMPI_MCA_rmaps_base_oversubscribe=1"
    "OMPI_MCA_mpi_yield_when_idle=1" # ranks that start or end wait in MPI itself, not in comm_wait
    "OMPI_MCA_hwloc_base_binding_policy=none"
    "OMPI_MCA_ess_singleton_isolated=1" # one rank without mpirun starts no daemon
    "HWLOC_COMPONENTS=-pci,-linuxio" # every start of MPI would read the devices of all buses
    "HWLOC_PLUGINS_PATH=${CMAKE_BINARY_DIR}/none" # nor load the libraries of OpenCL, X and XML
    ${job_folders}
    "PYTHONDONTWRITEBYTECODE=1"
    "ASAN_OPTIONS=detect_stack_use_after_return=0"
    "LSAN_OPTIONS=suppressions=${suppressions}:print_suppressions=0"
    "UBSAN_OPTIONS=print_stacktrace=1")

file(GLOB support_sources CONFIGURE_DEPENDS tests/*.c)
list(FILTER support_sources EXCLUDE REGEX "/(test|helper)_[^/]*$")
if(support_sources)
    add_library(fringe_support STATIC ${support_sources})
    module_settings(fringe_support)
    target_include_directories(fringe_support PUBLIC tests src)
    target_link_libraries(fringe_support PUBLIC PkgConfig::CMOCKA)
endif()

# The python3 of all tests: Debian's, if it is there, for scripts start it often and what stands before
# it on a PATH may be a script that takes ten times as long to start.
find_program(TEST_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(TEST_PYTHON python3)
if(TEST_PYTHON)
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/tests/bin)
    file(CREATE_LINK ${TEST_PYTHON} ${CMAKE_BINARY_DIR}/tests/bin/python3 SYMBOLIC)
endif()

# The module of a test is its folder; tests directly under tests/ are labelled "whole".
function(test_module out source)
    file(RELATIVE_PATH path ${CMAKE_SOURCE_DIR}/tests ${source})
    get_filename_component(folder ${path} DIRECTORY)
    if(folder STREQUAL "")
        set(folder whole)
    endif()
    string(REGEX REPLACE "/.*" "" folder ${folder})
    if(folder STREQUAL "kernels")
        set(folder backend)
    endif()
    set(${out} ${folder} PARENT_SCOPE)
endfunction()

# `first` is the line that names the ranks or the script's marks; the word "long" in it gives the test more time, starts it
# first, so that others run beside it, and leaves it out under the sanitizers.
function(test_settings name module processors first)
    set(labels ${module})
    set(cost 0)
    set(timeout 300) # a crowded machine may take ten times as long as a quiet one
    if(first MATCHES "long")
        list(APPEND labels long)
        set(timeout 600)
        set(cost 1000)
    endif()
    if(processors GREATER 2) # first, while there are long scripts for the half core that is left
        set(cost 2000)
    endif()
    if(first MATCHES "alone")
        set_tests_properties(${name} PROPERTIES RUN_SERIAL TRUE)
    endif()
    set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${timeout} COST ${cost}
                         PROCESSORS ${processors} SKIP_RETURN_CODE 77
                         ENVIRONMENT_MODIFICATION "PATH=path_list_prepend:${CMAKE_BINARY_DIR}/tests/bin")
endfunction()

# One program of a test or of a test's helper, in tests/ of the build folder.
function(test_program name source module)
    modules_up_to(linked ${module})
    add_executable(${name} ${source})
    module_settings(${name})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    target_include_directories(${name} PRIVATE kernels kernels/cpu src)
    target_link_libraries(${name} PRIVATE fringe_support ${linked})
    if(linked MATCHES fringe_kernels AND TARGET fringe_fenced)
        target_link_libraries(${name} PRIVATE fringe_fenced)
    endif()
    # Their build is longer than their run, but for those of kernels, exchange and gradsync, which loop over
    # many shapes, and of partition and program, whose second opinions are slow. Under the sanitizers it is the modules' code that is
    # watched, and redzones stand around what a test hands to it.
    if(module MATCHES "^(backend|partition|program|exchange|gradsync)$")
        target_compile_options(${name} PRIVATE -O1 -g1)
    else()
        target_compile_options(${name} PRIVATE -O0 -g1)
    endif()
    if(FRINGE_SANITIZE)
        target_compile_options(${name} PRIVATE -fno-sanitize=undefined)
    endif()
    if(HAVE_GOLD)
        target_link_options(${name} PRIVATE -fuse-ld=gold)
    endif()
endfunction()

# Under the sanitizers and on fenced: the least number of ranks and the first above 2, alone and with more than one
# peer. More ranks take no other ways within one of them. (Under the sanitizers most have the second alone: below.)
function(few_ranks out least)
    set(few ${least})
    foreach(ranks IN LISTS ARGN)
        if(ranks GREATER 2)
            list(APPEND few ${ranks})
            break()
        endif()
    endforeach()
    set(${out} ${few} PARENT_SCOPE)
endfunction()

# The tests NAME-RANKS of one program on one backend.
function(program_tests name program module first backend)
    foreach(ranks IN LISTS ARGN)
        set(test ${name})
        if(ARGC GREATER 6 OR ranks GREATER 1)
            set(test ${name}-${ranks})
        endif()
        if(ranks EQUAL 1)
            add_test(NAME ${test} COMMAND ${program})
            set(threads "OMP_NUM_THREADS=2")
        else()
            add_test(NAME ${test} COMMAND ${MPIEXEC_EXECUTABLE} --oversubscribe --bind-to none
                     -n ${ranks} $<TARGET_FILE:${program}>)
            set(threads "OMP_NUM_THREADS=1")
        endif()
        set(processors 2)
        if(ranks GREATER 4)
            set(processors 4)
        elseif(ranks GREATER 2)
            set(processors 3)
        endif()
        test_settings(${test} ${module} ${processors} "${first}")
        set_tests_properties(${test} PROPERTIES ENVIRONMENT
            "${test_environment};${threads};FRINGE_TEST_BACKEND=${backend}")
    endforeach()
endfunction()

# A module that is not there has no tests yet.
function(module_is_missing out module)
    set(${out} FALSE PARENT_SCOPE)
    if(module STREQUAL backend AND NOT TARGET fringe_kernels)
        set(${out} TRUE PARENT_SCOPE)
    elseif(module IN_LIST modules AND NOT module STREQUAL backend AND NOT TARGET fringe_${module})
        set(${out} TRUE PARENT_SCOPE)
    endif()
endfunction()

# Programs that scripts run: tests/**/helper_*.c.
file(GLOB_RECURSE helper_sources CONFIGURE_DEPENDS tests/helper_*.c)
foreach(source IN LISTS helper_sources)
    get_filename_component(name ${source} NAME_WE)
    test_module(module ${source})
    module_is_missing(missing ${module})
    if(NOT missing)
        test_program(${name} ${source} ${module})
    endif()
endforeach()

# What tests put between a program and its machine (LD_PRELOAD): tests/preload/*.c.
file(GLOB preload_sources CONFIGURE_DEPENDS tests/preload/*.c)
foreach(source IN LISTS preload_sources)
    get_filename_component(name ${source} NAME_WE)
    add_library(${name} MODULE ${source})
    set_target_properties(${name} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY
                          ${CMAKE_BINARY_DIR}/tests)
    target_link_libraries(${name} PRIVATE ${CMAKE_DL_LIBS})
endforeach()

# The CUDA backend on a device that the host emulates (tests/emulated): the same sources, compiled as
# C++ against the headers of that folder. A plug-in that tests load by its path.
option(FRINGE_EMULATED "Build the emulated device of the tests, if there is a C++ compiler" ON)
include(CheckLanguage)
if(FRINGE_EMULATED)
    check_language(CXX)
endif()
if(FRINGE_EMULATED AND CMAKE_CXX_COMPILER)
    enable_language(CXX)
    set(emulated_sources)
    foreach(source IN LISTS cuda_sources)
        get_filename_component(name ${source} NAME_WE)
        set(CUDA_SOURCE ${source})
        configure_file(cmake/emulated.cpp.in ${CMAKE_BINARY_DIR}/emulated/${name}.cpp @ONLY)
        list(APPEND emulated_sources ${CMAKE_BINARY_DIR}/emulated/${name}.cpp)
    endforeach()
    file(GLOB emulator CONFIGURE_DEPENDS tests/emulated/*.cpp)
    configure_file(kernels/cuda/table.c ${CMAKE_BINARY_DIR}/emulated/table.c COPYONLY)
    add_library(fringe-emulated MODULE ${emulated_sources} ${emulator}
                ${CMAKE_BINARY_DIR}/emulated/table.c)
    target_include_directories(fringe-emulated PRIVATE tests/emulated include kernels kernels/cuda)
    target_compile_definitions(fringe-emulated PRIVATE FRINGE_ABI="${cuda_abi}"
                               FRINGE_PLUGIN_NAME="emulated")
    set_target_properties(fringe-emulated PROPERTIES CXX_STANDARD 20
                          LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    target_compile_options(fringe-emulated PRIVATE -O1 -fvisibility=hidden
                           $<$<COMPILE_LANGUAGE:CXX>:-Wno-unknown-pragmas>)
    target_link_options(fringe-emulated PRIVATE
                        $<$<NOT:$<BOOL:${FRINGE_SANITIZE}>>:-Wl,--no-undefined>)
    add_dependencies(fringe_support fringe-emulated) # a test that is built can load it

    # The emulated device itself: does it notice what it is there for?
    test_program(test_emulated tests/kernels/test_emulated.cpp base)
    target_sources(test_emulated PRIVATE ${emulator})
    target_include_directories(test_emulated PRIVATE tests/emulated)
    set_target_properties(test_emulated PROPERTIES CXX_STANDARD 20)
    target_compile_options(test_emulated PRIVATE -O1)
    program_tests(test_emulated test_emulated backend "// ranks: 1" cpu 1)
endif()

file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS tests/test_*.c)
foreach(source IN LISTS test_sources)
    get_filename_component(name ${source} NAME_WE)
    test_module(module ${source})
    module_is_missing(missing ${module})
    if(missing)
        continue()
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    file(STRINGS ${source} first LIMIT_COUNT 1)
    if(NOT first MATCHES "^// rank")
        set(first "// ranks: 1")
    endif()
    string(REGEX MATCHALL "[0-9]+" counts "${first}")
    if(NOT first MATCHES "^// ranks:" OR NOT counts)
        message(FATAL_ERROR "${source}: the first line must read '// ranks: 1 2 4'")
    endif()
    if(FRINGE_SANITIZE AND first MATCHES "long|once")
        continue()
    endif()
    test_program(${name} ${source} ${module})
    set(on_fenced)
    if(first MATCHES "also on fenced")
        few_ranks(on_fenced ${counts}) # the backend is the same on more
    endif()
    if(FRINGE_SANITIZE AND on_fenced) # models on several ranks are watched in other tests
        list(GET counts 0 counts)
        set(on_fenced)
    elseif(FRINGE_SANITIZE)
        few_ranks(counts ${counts})
        list(LENGTH counts different) # one rank has ways of its own where ranks meet; models: on fenced
        if(different GREATER 1 AND NOT module MATCHES "^(base|exchange|gradsync)$")
            list(POP_FRONT counts)
        endif()
    endif()
    program_tests(${prefix}${name} ${name} ${module} "${first}" cpu ${counts})
    if(on_fenced)
        program_tests(${prefix}fenced.${name} ${name} ${module} "${first}" fenced ${on_fenced})
        if(first MATCHES "also on fenced, emulated" AND TARGET fringe-emulated)
            list(GET counts 0 least)
            program_tests(emulated.${name} ${name} ${module} "${first}" emulated ${least})
        endif()
    endif()
endforeach()

# Tests that run once more on a transport that delays and cuts pieces (tests/wire): the same objects,
# linked with it. The programs lie in delayed/tests, so that scripts find them in FRINGE_BUILD/tests.
function(delayed_tests name)
    if(NOT TARGET ${name})
        return()
    endif()
    get_target_property(source ${name} SOURCES)
    test_module(module ${source})
    test_program(delayed.${name} tests/wire/transport_delayed.c ${module})
    target_sources(delayed.${name} PRIVATE $<TARGET_OBJECTS:${name}>)
    set_target_properties(delayed.${name} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY
                          ${CMAKE_BINARY_DIR}/delayed/tests)
    program_tests(delayed.${name} delayed.${name} ${module} "" cpu ${ARGN})
endfunction()

function(delayed_script source)
    get_filename_component(name ${source} NAME)
    test_module(module ${CMAKE_SOURCE_DIR}/${source})
    add_test(NAME delayed.${name} COMMAND ${CMAKE_COMMAND} -E env
             FRINGE_BUILD=${CMAKE_BINARY_DIR}/delayed bash ${CMAKE_SOURCE_DIR}/${source})
    test_settings(delayed.${name} ${module} 1 "")
    set_tests_properties(delayed.${name} PROPERTIES ENVIRONMENT "${test_environment}")
endfunction()

if(NOT FRINGE_SANITIZE)
    delayed_tests(test_ring_transfer 3)
    delayed_tests(test_exchange 3)
    delayed_tests(test_faults 3)
    delayed_tests(test_gradsync 2 3)
    delayed_tests(test_coding 3)
    delayed_script(tests/wire/test_ring_transfer.sh)
    delayed_script(tests/exchange/test_faults.sh)
endif()

# The fuzzers of the readers, each with a main that reads the files of its corpus and, where the
# sanitizers watch, so many changed copies of them (seconds).
set(mutants 0)
if(FRINGE_SANITIZE)
    set(mutants 20000)
endif()
add_library(fuzz_replay OBJECT tests/fuzz/replay.c)
module_settings(fuzz_replay)
target_include_directories(fuzz_replay PRIVATE src)
target_compile_options(fuzz_replay PRIVATE -O0 -g1)
if(NOT TEST_PYTHON)
    message(STATUS "there is no python3 to make the corpora of the fuzzers, so they are no tests")
    set(fuzzers)
endif()
set(corpora ${CMAKE_BINARY_DIR}/tests/corpus)
file(GLOB found CONFIGURE_DEPENDS tests/fuzz/corpus/*/*)
add_custom_command(OUTPUT ${corpora}.made
                   COMMAND ${TEST_PYTHON} ${CMAKE_SOURCE_DIR}/tests/fuzz/seeds.py ${corpora}
                   COMMAND ${CMAKE_COMMAND} -E touch ${corpora}.made
                   DEPENDS tests/fuzz/seeds.py tests/fuzz/fuzz_arrays.c configs/cora-gcn.json
                           configs/adaqp-yelp-sage.json ${found}
                   COMMENT "Making the corpora of the fuzzers")
add_custom_target(fuzz_corpora DEPENDS ${corpora}.made)
foreach(name IN LISTS fuzzers)
    test_program(fuzz_${name} tests/fuzz/fuzz_${name}.c checkpoint)
    target_sources(fuzz_${name} PRIVATE $<TARGET_OBJECTS:fuzz_replay>)
    add_test(NAME ${prefix}fuzz_${name} COMMAND fuzz_${name}
             ${corpora}/${name} ${defects_of_${name}})
    add_dependencies(fuzz_${name} fuzz_corpora)
    test_settings(${prefix}fuzz_${name} fuzz 1 "")
    set_tests_properties(${prefix}fuzz_${name} PROPERTIES
                         ENVIRONMENT "${test_environment};OMP_NUM_THREADS=1;FRINGE_MUTANTS=${mutants}")
endforeach()

# Scripts find the program's path in FRINGE and the programs they help themselves with in
# FRINGE_BUILD/tests; those in Python import what they share from tests/.
file(GLOB_RECURSE scripts CONFIGURE_DEPENDS tests/test_*.sh tests/test_*.py)
foreach(source IN LISTS scripts)
    get_filename_component(name ${source} NAME)
    set(name ${prefix}${name})
    test_module(module ${source})
    module_is_missing(missing ${module})
    file(STRINGS ${source} first LIMIT_COUNT 1 REGEX "^# (long|alone|timed|once)")
    if(missing OR (FRINGE_SANITIZE AND first MATCHES "long|once"))
        continue()
    endif()
    if(source MATCHES "\\.py$")
        if(NOT TEST_PYTHON)
            continue()
        endif()
        add_test(NAME ${name} COMMAND ${TEST_PYTHON} ${source})
    else()
        add_test(NAME ${name} COMMAND bash ${source})
    endif()
    set(processors 1)
    if(first MATCHES "timed")
        set(processors 2)
    endif()
    test_settings(${name} ${module} ${processors} "${first}")
    set_tests_properties(${name} PROPERTIES ENVIRONMENT
                         "${test_environment};PYTHONPATH=${CMAKE_SOURCE_DIR}/tests")
endforeach()

# The tests of the other build, so that one CTest counts them all.
if(FRINGE_ALSO_TEST)
    file(WRITE ${CMAKE_BINARY_DIR}/also_test.cmake "subdirs(\"${FRINGE_ALSO_TEST}\")\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${CMAKE_BINARY_DIR}/also_test.cmake)
endif()
