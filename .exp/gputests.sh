set -u
t0=$SECONDS
cmake -S . -B /tmp/b -G Ninja -DCMAKE_BUILD_TYPE=Release -DCOALPROF_TESTS=ON > $OUT/cmake.log 2>&1 || { tail -20 $OUT/cmake.log; exit 1; }
ninja -C /tmp/b > $OUT/build.log 2>&1 || { tail -30 $OUT/build.log; exit 1; }
echo built $((SECONDS-t0)); nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
ctest --test-dir /tmp/b -R 'gpu/(MemoryOnGpu|NearOnGpu|ProfilingCost)' --timeout 200 > $OUT/near.log 2>&1; tail -12 $OUT/near.log; echo near $((SECONDS-t0))
timeout 420 ctest --test-dir /tmp/b -R 'gpu/' -E 'MemoryOnGpu|NearOnGpu|ProfilingCost|Divergent' --timeout 200 > $OUT/rest.log 2>&1; tail -12 $OUT/rest.log; echo rest $((SECONDS-t0))
left=$((570-(SECONDS-t0))); [ $left -gt 100 ] && timeout $left ctest --test-dir /tmp/b -R 'gpu/Divergent' --timeout $left > $OUT/div.log 2>&1; tail -6 $OUT/div.log 2>/dev/null; echo all $((SECONDS-t0))
