#!/bin/sh
# A launch with an argument of a wrong type stops the compiler in the line of the launch, and it says which argument it is. So do
# a wrong <<<...>>>, a kernel that returns something, and a store to threadIdx:
# cudasim/tests/argument_test.sh [CU2CPP]
cd "$(dirname "$0")/../.." || exit
cu2cpp=${1:-build/cu2cpp}
dir=$(mktemp -d) || exit
trap 'rm -rf "$dir"' EXIT
failed=0 count=0

compile() { # compiler
    $1 -E -x c++ -std=c++17 -D__CUDACC__ -Icudasim/include -I. -include cuda_runtime.h "$dir/x.cu" -o "$dir/x.i" &&
        $cu2cpp "$dir/x.i" "$dir/x.ii" &&
        $1 -x c++-cpp-output -std=c++17 -c "$dir/x.ii" -o "$dir/x.o"
}

# The kernel stands in line 1, the launch in line 2. gcc and clang say the one text or the other.
says() { # text, other text, program
    printf '%s\n' "$3" >"$dir/x.cu"
    for cxx in g++ clang++; do
        command -v $cxx >/dev/null || continue
        count=$((count + 1))
        said=$(compile $cxx 2>&1)
        errors=$(echo "$said" | grep 'error: ')
        if ! echo "$said" | grep -qE "$1|$2" || ! echo "$errors" | grep -q "x.cu:2:" ||
            echo "$errors" | grep -qE 'cudasim_launch.h|cudasim_named_call'; then
            echo "argument: FAILED with $cxx: $3"
            echo "  wanted: $1 or $2"
            echo "  said:   $errors"
            failed=1
        fi
    done
}

# Here the compiler's error is the simulator's own sentence, or names a line that the text has.
refused() { # text, program
    printf '%s\n' "$2" >"$dir/x.cu"
    for cxx in g++ clang++; do
        command -v $cxx >/dev/null || continue
        count=$((count + 1))
        said=$(compile $cxx 2>&1)
        if ! echo "$said" | grep 'error: ' | grep -qE "$1" || ! echo "$said" | grep -q "x.cu:2:"; then
            echo "argument: FAILED with $cxx: $2"
            echo "  wanted: $1"
            echo "  said:   $(echo "$said" | grep 'error: ')"
            failed=1
        fi
    done
}

good() { # program
    printf '%s\n' "$1" >"$dir/x.cu"
    for cxx in g++ clang++; do
        command -v $cxx >/dev/null || continue
        count=$((count + 1))
        if ! said=$(compile $cxx 2>&1); then
            echo "argument: FAILED with $cxx: $1"
            echo "$said" | grep 'error: '
            failed=1
        fi
    done
}

says "argument 1 of .void k\(float\*, int\)" "from 'double \*' to 'float \*' for 1st argument" '__global__ void k(float *x, int n) { x[0] = n; }
void f(double *x, int n) { k<<<1, 1>>>(x, n); }'
says "argument 2 of .void k\(float\*, int\)" "from 'float \*' to 'int' for 2nd argument" '__global__ void k(float *x, int n) { x[0] = n; }
void f(float *x) { k<<<1, 1>>>(0, x); }'
says "argument 1 of .void k\(float\*\)" "from 'int' to 'float \*' for 1st argument" '__global__ void k(float *x) { x[0] = 1; }
void f(int n) { k<<<1, 1>>>(n); }'
says "argument 1 of .void k\(T\*, T\)" "1st argument \('const float \*'\) would lose const" 'template <class T> __global__ void k(T *x, T a) { x[0] = a; }
void f(const float *x) { k<float><<<1, 1>>>(x, 2); }'

refused "a launch is <<<grid, block>>>" '__global__ void k(float *x) { x[0] = 1; }
void f(float *x, cudaStream_t s) { k<<<1, 1, s>>>(x); }'
refused "a launch is <<<grid, block>>>" '__global__ void k(float *x) { x[0] = 1; }
void f(float *x) { k<<<1, 1, 0, 0, 0>>>(x); }'
refused "a kernel returns void" '__global__ int k(float *x) { return x[0] = 1; }
void f(float *x) { k<<<1, 1>>>(x); }'
refused "read-only object|const-qualified type" '__global__ void k(float *x) {
    threadIdx.x += 1; x[threadIdx.x] = 1; }'

# What the compiler converts stays right.
good '__global__ void k(float *x) { x[0] = 1; } struct Shape { static const int block = 64; int grid : 8; };
void f(float *x, Shape s, cudaStream_t t, unsigned long n) { k<<<s.grid, Shape::block>>>(x); k<<<{2, 2}, {8, 8}, 0, 0>>>(x); k<<<n, n, n, t>>>(x);
    k<<<dim3(1), 1u, 4 * sizeof(float), NULL>>>(x); k<<<1, 1, 0, nullptr>>>(x); k<<<1, 1, (short)1, cudaStreamPerThread>>>(x); }'
good 'struct Pair { int a, b; }; struct Number { Number(double) {} int bits : 3; static const int one = 1; };
__global__ void k(const float *x, Pair p, Number y, int n, void *z) {}
void f(float *x, Number &y) { k<<<1, 1>>>(x, {1, 2}, 3, y.bits, NULL); k<<<1, 1>>>(0, Pair{1, 2}, 3.0f, Number::one, x);
    float array[2]; short s = 1; k<<<1, 1>>>(array, {}, s, s, nullptr); k<<<1, 1>>>(0L, {}, Number(1), true, 1 - 1 ? x : 0); }'

echo "argument: $count cases$([ $failed = 0 ] && echo ", all good")"
exit $failed
