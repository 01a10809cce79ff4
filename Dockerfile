# The package that scripts/package makes, on CUDA's official base with what measuring loads, NVRTC and CUPTI:
#   scripts/package && docker build -t coalprof .
#   docker run --rm --gpus all --cap-add SYS_ADMIN coalprof offset --backend device
# Counters need the capability unless the driver lets everybody read them. CUDA 12.9 serves drivers of 13 too;
# --build-arg CUDA=13.0.1 takes another.
ARG CUDA=12.9.1
FROM nvidia/cuda:${CUDA}-base-ubuntu24.04
ARG TARGETARCH
COPY build/packages/coalprof_*_${TARGETARCH}.deb /tmp/
RUN cuda=$(echo "$CUDA_VERSION" | cut -d . -f 1,2 | tr . -) && apt-get update && \
    apt-get install -y --no-install-recommends /tmp/coalprof_*.deb cuda-nvrtc-$cuda cuda-cupti-$cuda && \
    rm -rf /tmp/coalprof_*.deb /var/lib/apt/lists/*
ENTRYPOINT ["coalprof"]
