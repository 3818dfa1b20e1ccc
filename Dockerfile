# fringe on Debian 12. Builds the Debian package in one image and installs it in a second one, which
# holds what the program needs to run and nothing else.
#   docker build -t fringe .
#   docker run --rm --shm-size=1g -v "$PWD:/work" fringe train villages --ranks 2
# bench/run.sh dockerfile runs these commands where there is no Docker.
FROM debian:12 AS build
COPY . /source
WORKDIR /source
RUN ./setup.sh
RUN apt-get install -y -q --no-install-recommends dpkg-dev file
RUN cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF
RUN cmake --build build
RUN cd build && cpack -G DEB

FROM debian:12
COPY --from=build /source/build/fringe_*.deb /packages/
RUN apt-get update -q && apt-get install -y -q --no-install-recommends /packages/fringe_*.deb
# mpirun refuses to start ranks as root unless told that this is meant.
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
WORKDIR /work
ENTRYPOINT ["fringe"]
