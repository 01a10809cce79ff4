# docker build -t coalprof . && docker run --rm coalprof offset
# To measure, with the NVIDIA container toolkit: docker run --rm --gpus all coalprof offset
FROM debian:12 AS build
RUN apt-get update && apt-get install -y --no-install-recommends \
    g++ cmake ninja-build libfmt-dev nlohmann-json3-dev libcli11-dev && rm -rf /var/lib/apt/lists/*
COPY . /src
RUN cmake -S /src -B /build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCOALPROF_TESTS=OFF && \
    cmake --build /build && cmake --install /build --prefix /out --strip

FROM debian:12-slim
COPY --from=build /out /usr/local
ENTRYPOINT ["coalprof"]
