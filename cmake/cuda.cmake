# The CUDA backend: a plug-in beside the program, libfringe-cuda.so. It resolves nothing from the
# program (-Wl,--no-undefined), so that a program without it and with it are the same.
#
#   FRINGE_CUDA=AUTO  where a CUDA compiler is found (nvcc on the PATH, or in CUDACXX)
#   FRINGE_CUDA=ON    or the configuration fails
#   FRINGE_CUDA=OFF   not at all
set(FRINGE_CUDA AUTO CACHE STRING "Build the CUDA plug-in: AUTO, ON or OFF")
set_property(CACHE FRINGE_CUDA PROPERTY STRINGS AUTO ON OFF)

# The ABI number: a hash of the list of operations and of every header that the program and a plug-in
# both read, of their common arithmetic, too.
file(GLOB abi_headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} include/fringe/base/*.h kernels/*.h
     kernels/cuda/philox.h kernels/cuda/planes.h)
set(abi_text)
foreach(header include/fringe/backend.h include/fringe/operations.def ${abi_headers})
    file(READ ${CMAKE_SOURCE_DIR}/${header} text)
    string(APPEND abi_text "${text}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
endforeach()
string(SHA256 abi "${abi_text}")
string(SUBSTRING ${abi} 0 16 abi)

file(GLOB cuda_sources CONFIGURE_DEPENDS kernels/cuda/*.cu)
set(cuda_abi ${abi})

set(FRINGE_HAS_CUDA FALSE)
if(NOT FRINGE_CUDA STREQUAL "OFF" AND NOT FRINGE_SANITIZE)
    include(CheckLanguage)
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER AND NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
        # code for A100, A40, L40 and H100, for each newer generation that the compiler knows (code for
        # X.0 runs on X.y), and PTX that the driver compiles for those that it does not know
        execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-code OUTPUT_VARIABLE known)
        string(REGEX MATCHALL "sm_[0-9]+0\n" newer "${known}")
        list(TRANSFORM newer REPLACE "sm_([0-9]+)\n" "\\1")
        list(FILTER newer EXCLUDE REGEX "^(.|..)$") # 90 and older ones
        list(TRANSFORM newer APPEND "-real")
        set(CMAKE_CUDA_ARCHITECTURES 80-real 86-real 89-real 90-real ${newer} 90-virtual)
    endif()
    if(CMAKE_CUDA_COMPILER)
        enable_language(CUDA)
        find_package(CUDAToolkit)
        set(FRINGE_HAS_CUDA ${CUDAToolkit_FOUND})
    endif()
    if(NOT FRINGE_HAS_CUDA AND FRINGE_CUDA STREQUAL "ON")
        message(FATAL_ERROR "FRINGE_CUDA=ON, but there is no CUDA compiler: put nvcc on the PATH or "
                            "name it in CUDACXX")
    endif()
endif()

# What the program says where it finds no plug-in (kernels/plugin.c).
set(cuda_build "")
if(FRINGE_HAS_CUDA)
    set(cuda_build ${CMAKE_BINARY_DIR})
elseif(FRINGE_CUDA STREQUAL "OFF" OR FRINGE_SANITIZE)
    set(cuda_build OFF)
endif()
set_source_files_properties(kernels/cuda/table.c PROPERTIES COMPILE_DEFINITIONS "FRINGE_ABI=\"${abi}\"")
set_source_files_properties(kernels/plugin.c PROPERTIES COMPILE_DEFINITIONS
                            "FRINGE_ABI=\"${abi}\";FRINGE_CUDA_BUILD=\"${cuda_build}\"")

if(FRINGE_HAS_CUDA)
    message(STATUS "CUDA plug-in: nvcc ${CMAKE_CUDA_COMPILER_VERSION} for ${CMAKE_CUDA_ARCHITECTURES}, by target "
                   "programs; -DFRINGE_CUDA=OFF: not at all")
elseif(FRINGE_CUDA STREQUAL "OFF" OR FRINGE_SANITIZE)
    message(STATUS "CUDA plug-in: not built, as FRINGE_CUDA=OFF or FRINGE_SANITIZE=ON says")
    return()
else()
    message(STATUS "CUDA plug-in: not built, for no CUDA compiler was found; nvcc on the PATH or in CUDACXX builds it")
    return()
endif()

# A source of its own takes two seconds to compile before its first line is read: three objects hold them
# all. Those whose sums no fused multiply-add may change stand in `rows` and `columns`, where
# tests/kernels/test_cuda_sources.sh searches for one.
set(cuda_rows checksum message quantize aggregate_rows spmm)
set(cuda_columns pointwise post_backward sums aggregate_long)
set(cuda_others ${cuda_sources})
list(TRANSFORM cuda_others REPLACE "^.*/([a-z0-9_]+)\\.cu$" "\\1")
list(REMOVE_ITEM cuda_others ${cuda_rows} ${cuda_columns})
set(cuda_objects)
foreach(object rows columns others)
    list(TRANSFORM cuda_${object} REPLACE "(.+)" "#include \"kernels/cuda/\\1.cu\"\n" OUTPUT_VARIABLE text)
    string(CONCAT text ${text})
    file(CONFIGURE OUTPUT cuda/${object}.cu CONTENT "${text}" @ONLY)
    list(APPEND cuda_objects ${CMAKE_BINARY_DIR}/cuda/${object}.cu)
endforeach()

set(CMAKE_CUDA_STANDARD 20)
add_library(fringe-cuda MODULE ${cuda_objects} kernels/cuda/table.c)
target_include_directories(fringe-cuda PRIVATE ${CMAKE_SOURCE_DIR} include kernels kernels/cuda)
target_compile_options(fringe-cuda PRIVATE
    $<$<COMPILE_LANGUAGE:CUDA>:--fmad=false -Werror=all-warnings>
    $<$<COMPILE_LANGUAGE:CUDA>:--no-compress> # PTX as text, which test_cuda_sources.sh searches
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-fvisibility=hidden>
    $<$<COMPILE_LANGUAGE:C>:-fvisibility=hidden>)
target_link_libraries(fringe-cuda PRIVATE CUDA::cudart_static CUDA::cublas CUDA::cusparse)
target_link_options(fringe-cuda PRIVATE -Wl,--no-undefined -Wl,--exclude-libs,ALL)
set_target_properties(fringe-cuda PROPERTIES CUDA_RUNTIME_LIBRARY Static
                      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
