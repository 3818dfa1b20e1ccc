# The fuzzers of the readers: tests/fuzz/fuzz_NAME.c for every NAME of tests/fuzz/readers.txt. In a
# build with FRINGE_FUZZ each is a program of clang's libFuzzer, in one with FRINGE_COVER one that
# reads files and counts the lines it reaches; in every other build tests.cmake makes tests of them.
#
#   CC=clang cmake -S . -B build-fuzz -DFRINGE_FUZZ=ON && cmake --build build-fuzz --target fuzzers
#   tests/fuzz/seeds.py build-fuzz/seeds                               (bench/fuzz.sh runs them all)
#   build-fuzz/fuzz_npy -max_len=4096 FOLDER build-fuzz/seeds/npy
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS tests/fuzz/readers.txt)
file(STRINGS tests/fuzz/readers.txt fuzzer_rows REGEX "^[a-z]")
set(fuzzers)
foreach(row IN LISTS fuzzer_rows)
    string(REGEX MATCH "^([a-z_]+) ([^ ]+)" row ${row})
    list(APPEND fuzzers ${CMAKE_MATCH_1})
    string(REGEX REPLACE "^-$" "" defects "${CMAKE_MATCH_2}")
    string(REPLACE "," ";" defects_of_${CMAKE_MATCH_1} "${defects}")
endforeach()

# The modules that read; those above them need the kernels, which clang does not compile, but for
# what says where rows and bytes lie.
if(FRINGE_FUZZ OR FRINGE_COVER)
    add_library(fuzz_memory STATIC EXCLUDE_FROM_ALL kernels/backend.c kernels/allocator.c)
    module_settings(fuzz_memory)
    set(fuzzed fringe_base,fringe_config,fringe_runfolder,fringe_events,fringe_dataset)
    string(APPEND fuzzed ,fringe_partition,fringe_codec,fringe_checkpoint,fuzz_memory)
    add_custom_target(fuzzers)
    foreach(name IN LISTS fuzzers)
        add_executable(fuzz_${name} EXCLUDE_FROM_ALL tests/fuzz/fuzz_${name}.c)
        module_settings(fuzz_${name})
        target_include_directories(fuzz_${name} PRIVATE src)
        target_link_libraries(fuzz_${name} PRIVATE $<LINK_GROUP:RESCAN,${fuzzed}>)
        if(FRINGE_COVER)
            target_sources(fuzz_${name} PRIVATE tests/fuzz/replay.c)
        else()
            target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
        endif()
        add_dependencies(fuzzers fuzz_${name})
    endforeach()
endif()
