/* All that may stand before <<<: calls, casts, members, lambdas that return a kernel. */
#include <cuda_runtime.h>
#include <tuple>

#include "check.cuh"

typedef void (*Kernel)(int *, int);

static __global__ void add(int *x, int value) {
    *x += value;
}

static __global__ void multiply(int *x, int value) {
    *x *= value;
}

template <int Which> static Kernel chosen() {
    return Which == 0 ? add : multiply;
}

static Kernel (*chooser())() {
    return chosen<1>;
}

struct Choice {
    Kernel kernel[2];
    Kernel get() const {
        return kernel[0];
    }
    Kernel operator()(int which) const {
        return kernel[which];
    }
};

static int calls;

static Kernel counted() {
    calls++;
    return add;
}

int main() {
    int *x, host;
    OK(cudaMalloc(&x, sizeof *x));
    OK(cudaMemset(x, 0, sizeof *x));
    std::tuple<int, Kernel> pair(0, multiply);
    Choice choice{{add, multiply}}, *other = &choice, table[1][2] = {{choice, choice}};

    add<<<1, 1>>>(x, 1);
    chosen<0>()<<<1, 1>>>(x, 1);
    std::get<1>(pair)<<<1, 1>>>(x, 5); /* 10 */
    chooser()()<<<1, 1>>>(x, 2);
    static_cast<Kernel>(add)<<<1, 1>>>(x, 1);
    ((Kernel)multiply)<<<1, 1>>>(x, 2); /* 42 */
    if (host = 0, x != NULL)
        (&add)<<<1, 1>>>(x, 1);
    if (x != NULL)
        ::add<<<1, 1>>>(x, 1);
    for (int i = 0; i < 2; i++)
        (*multiply)<<<1, 1>>>(x, 2); /* 176 */
    { host = 1; }
    (add)<<<1, 1>>>(x, 4);
    [] { return &multiply; }()<<<1, 1>>>(x, 2); /* 360 */
    [&](int which) -> Kernel { return choice(which); }(0)<<<1, 1>>>(x, 3);
    [host]() mutable { return host++ == 1 ? &add : &multiply; }()<<<1, 1>>>(x, 7); /* 370 */
    Choice{{multiply, add}}(1)<<<1, 1>>>(x, 10);
    choice.get()<<<1, 1>>>(x, 1);
    other->get()<<<1, 1>>>(x, 1);
    choice(1)<<<1, 1>>>(x, 2); /* 764 */
    table[0][1].kernel[0]<<<1, 1>>>(x, 1);
    (*other).kernel[1]<<<1, 1>>>(x, 2);
    counted()<<<1, 1>>>(x, 5); /* 1535 */
    MUST(calls == 1);
    OK(cudaMemcpy(&host, x, sizeof host, cudaMemcpyDeviceToHost));
    MUST(host == 1535);
    OK(cudaFree(x));
    return 0;
}
