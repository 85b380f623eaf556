/* cuRAND's generators for the host. The numbers to compare with are those of NVIDIA's library.
   library: curand */
#include <curand_kernel.h>
#include <math.h>
#include <string.h>

#include "filled.cuh"

enum {
    CASES = 6,
    DOUBLES = 5000, /* that leave threads of a generator at several places */
    AFTER = 270000, /* words after them: more than a turn of all threads */
    XORWOW = 4096,  /* subsequences of a generator */
    PHILOX = 65536, /* the same */
    LANES = 64      /* of which a kernel draws the same */
};

typedef struct Case {
    curandRngType_t type;
    unsigned long long seed, offset;
    unsigned words[6];
    float uniform[2];
    double uniform_double[4];
    float normal[4];
    double normal_double[4];
    float log_normal[2]; /* of mean 0.5 and deviation 2 */
    unsigned after[3];   /* words 0, all - 2000 and all + 3 of those that come after DOUBLES */
} Case;

/* The second of each generator begins just before all threads have had their turn. */
static const Case cases[CASES] = {
    {CURAND_RNG_PSEUDO_XORWOW,
     0u,
     0u,
     {0xbd7f03b6u, 0xebc63fb7u, 0x09fd3f29u, 0xf80df3fdu, 0xecd6032eu, 0x7244003bu},
     {0x1.7afe08p-1f, 0x1.d78c8p-1f},
     {0x1.c0f9421be076dp-2, 0x1.d769d830c7f6fp-2, 0x1.003848cfa7e53p-2, 0x1.fa9e1c39be7fbp-2},
     {0x1.2b8ebap-2f, -0x1.6fccc2p-1f, 0x1.999662p-4f, -0x1.92a274p-2f},
     {0x1.122e78d14180cp+0, 0x1.6abc68024cf7dp-1, 0x1.c9eb62bb1695dp-1, -0x1.bbde41ecbfb94p-1},
     {0x1.7ad606p+1f, 0x1.91515ep-2f},
     {0xc3304aabu, 0xe53aacd8u, 0x53afa14du}},
    {CURAND_RNG_PSEUDO_XORWOW,
     1234u,
     4094u,
     {0x9d0aac2au, 0xe5dcbadau, 0x6f558604u, 0xed29ae49u, 0xcfd51210u, 0x4efd7f5au},
     {0x1.3a1558p-1f, 0x1.cbb976p-1f},
     {0x1.d6a8081155855p-2, 0x1.f9f6378fcbadap-1, 0x1.bdcdb31158604p-1, 0x1.060613609ae4ap-1},
     {0x1.fc1f5p-3f, -0x1.e9f6ep-1f, -0x1.19770ap-5f, 0x1.d9f0d4p-2f},
     {0x1.3f125cd62688ap+0, 0x1.205d42fe036d4p-5, 0x1.b3b6f26bcd6ebp-4, 0x1.c85122b7dd5afp-4},
     {0x1.5aap+1f, 0x1.f20c32p-3f},
     {0xfffc07d5u, 0x886d4376u, 0x967569c9u}},
    {CURAND_RNG_PSEUDO_XORWOW,
     81985529216486895u,
     1000000007u,
     {0xa600a96au, 0xa8866d7fu, 0x8ca2cf72u, 0x629bc397u, 0xfc549a9cu, 0xc65aef74u},
     {0x1.4c0152p-1f, 0x1.510cdap-1f},
     {0x1.aeee9ba82a5aap-3, 0x1.1e9f34199b5fep-3, 0x1.a92e9be0b3dcap-3, 0x1.156bb5cef0e5ep-3},
     {0x1.cde518p-1f, 0x1.d53b26p-3f, 0x1.68a7dep-1f, 0x1.2a8b3cp-1f},
     {-0x1.c2fde0ac4f15fp+0, -0x1.e123dad123ea3p-4, 0x1.13c8497c5964ep-1, -0x1.e89a747bf989ap+0},
     {0x1.408ab6p+3f, 0x1.4db506p+1f},
     {0x0e8561d1u, 0x1f682826u, 0x1152db28u}},
    {CURAND_RNG_PSEUDO_PHILOX4_32_10,
     0u,
     0u,
     {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u, 0x844515e1u, 0xf08d6eaau},
     {0x1.989fa4p-2f, 0x1.c2d38cp-1f},
     {0x1.c2d38d787e8d6p-1, 0x1.3601bc757ac4cp-1, 0x1.72c81c7099949p-2, 0x1.2fdf5d4574eb8p-5},
     {-0x1.d96d5ap-1f, 0x1.fb7668p-1f, -0x1.eda36ep-2f, -0x1.3c373ap-1f},
     {-0x1.3dd8613bc2037p-2, -0x1.97360dc4ab0f7p-2, 0x1.511c9c2dc0cf4p-2, 0x1.63083a0442085p+0},
     {0x1.09a42ep-2f, 0x1.7efdbp+3f},
     {0x804f7307u, 0x4640c2b3u, 0xb3072aa0u}},
    {CURAND_RNG_PSEUDO_PHILOX4_32_10,
     1234u,
     262142u,
     {0x35542ec6u, 0x8e29d01au, 0x9eeede35u, 0x1cbe137cu, 0xfa277093u, 0x147edd50u},
     {0x1.aaa176p-3f, 0x1.1c53ap-1f},
     {0x1.f503a7b5cd3eap-3, 0x1.e294416a44749p-2, 0x1.cbe178b76f1acp-4, 0x1.47eda813b849cp-4},
     {-0x1.34f162p-1f, -0x1.aa52acp+0f, 0x1.44237p-1f, 0x1.7c9a9cp-1f},
     {0x1.3485f6973cd39p-2, -0x1.a69bd7d1b1ba3p+0, 0x1.02192defaa9cp+0, 0x1.d50e49657caf7p+0},
     {0x1.f90d98p-2f, 0x1.e31ec2p-5f},
     {0x013f0f27u, 0x2a9f1d57u, 0xb4ff667bu}},
    {CURAND_RNG_PSEUDO_PHILOX4_32_10,
     81985529216486895u,
     1000000007u,
     {0xba1dcab5u, 0xeb347d82u, 0x17ec5e46u, 0x464cf0c5u, 0xd228b82bu, 0xd2543690u},
     {0x1.743b96p-1f, 0x1.d668fcp-1f},
     {0x1.a837be2254c6ap-3, 0x1.7ec591fa3ec14p-4, 0x1.a4517432cf0c6p-1, 0x1.2b60bfafbdbd2p-1},
     {-0x1.e886dap-4f, 0x1.d3093ep-3f, 0x1.5ee996p-2f, -0x1.735f7ep+0f},
     {0x1.d02793221835ep-3, -0x1.f6f0ae2a67c9ap+0, 0x1.e08fa263238dp-1, -0x1.794d94a0a6d1ap-1},
     {0x1.4c7feep+0f, 0x1.4cfe1ap+1f},
     {0x9b65af89u, 0xc6309306u, 0x7dadb6cfu}},
};

/* ---- NVIDIA's numbers ------------------------------------------------------------------------ */

static bool close_to(double x, double y, double tolerance) {
    return fabs(x - y) <= tolerance * fmax(1, fabs(y));
}

static void words_of_case(curandGenerator_t g, const Case *c, Filled to) {
    unsigned words[6];
    float uniform[2];
    DRAWN(curandSetGeneratorOffset(g, c->offset));
    DRAWN(curandGenerate(g, (unsigned *)to.memory, 6));
    read_back(to, words, sizeof words);
    MUST(memcmp(words, c->words, sizeof words) == 0);
    DRAWN(curandSetGeneratorOffset(g, c->offset));
    DRAWN(curandGenerateUniform(g, (float *)to.memory, 2));
    read_back(to, uniform, sizeof uniform);
    MUST(memcmp(uniform, c->uniform, sizeof uniform) == 0);
}

static void normals_of_case(curandGenerator_t g, const Case *c, Filled to) {
    float normal[4], log_normal[2];
    DRAWN(curandSetGeneratorOffset(g, c->offset));
    DRAWN(curandGenerateNormal(g, (float *)to.memory, 4, 0, 1));
    read_back(to, normal, sizeof normal);
    DRAWN(curandSetGeneratorOffset(g, c->offset));
    DRAWN(curandGenerateLogNormal(g, (float *)to.memory, 2, 0.5f, 2));
    read_back(to, log_normal, sizeof log_normal);
    for (int i = 0; i < 4; i++) {
        MUST(close_to(normal[i], c->normal[i], 1e-5));
    }
    for (int i = 0; i < 2; i++) {
        MUST(close_to(log_normal[i], c->log_normal[i], 1e-5));
    }
}

static void doubles_of_case(curandGenerator_t g, const Case *c, Filled to) {
    double uniform[4], normal[4], log_normal[4];
    DRAWN(curandSetGeneratorOffset(g, c->offset));
    DRAWN(curandGenerateUniformDouble(g, (double *)to.memory, 4));
    read_back(to, uniform, sizeof uniform);
    MUST(memcmp(uniform, c->uniform_double, sizeof uniform) == 0);
    DRAWN(curandSetGeneratorOffset(g, c->offset));
    DRAWN(curandGenerateNormalDouble(g, (double *)to.memory, 4, 0, 1));
    read_back(to, normal, sizeof normal);
    DRAWN(curandSetGeneratorOffset(g, c->offset));
    DRAWN(curandGenerateLogNormalDouble(g, (double *)to.memory, 4, 0.5, 2));
    read_back(to, log_normal, sizeof log_normal);
    for (int i = 0; i < 4; i++) {
        MUST(close_to(normal[i], c->normal_double[i], 1e-13));
        MUST(close_to(log_normal[i], exp(0.5 + 2 * c->normal_double[i]), 1e-12));
    }
}

/* A turn takes two words for a double, so words that come after go on at other places. */
static void words_after_doubles(curandGenerator_t g, const Case *c, Filled to) {
    unsigned *words = (unsigned *)malloc(AFTER * sizeof *words);
    int all = c->type == CURAND_RNG_PSEUDO_XORWOW ? XORWOW : 4 * PHILOX;
    DRAWN(curandSetGeneratorOffset(g, c->offset));
    DRAWN(curandGenerateUniformDouble(g, (double *)to.memory, DOUBLES));
    DRAWN(curandGenerate(g, (unsigned *)to.memory, AFTER));
    read_back(to, words, AFTER * sizeof *words);
    MUST(words[0] == c->after[0]);
    MUST(words[all - 2000] == c->after[1]);
    MUST(words[all + 3] == c->after[2]);
    free(words);
}

static void numbers_are_nvidias(bool on_host) {
    Filled to = take(on_host, AFTER * sizeof(double));
    for (const Case *c = cases; c < cases + CASES; c++) {
        curandGenerator_t g = make(c->type, on_host, c->seed);
        words_of_case(g, c, to);
        normals_of_case(g, c, to);
        doubles_of_case(g, c, to);
        words_after_doubles(g, c, to);
        DRAWN(curandDestroyGenerator(g));
    }
    give_back(to);
}

/* ---- sequences ------------------------------------------------------------------------------- */

enum { FIRST = 1001, SECOND = 9000, ALL = FIRST + SECOND };

static void draw(curandGenerator_t g, Filled to, float *x, int count) {
    DRAWN(curandGenerateUniform(g, (float *)to.memory, count));
    read_back(to, x, count * sizeof *x);
}

static void sequences(curandRngType_t type, bool on_host) {
    static float once[ALL], again[ALL];
    Filled to = take(on_host, sizeof once);
    curandGenerator_t g = make(type, on_host, 7), same = make(type, on_host, 7);
    draw(g, to, once, ALL);
    draw(same, to, again, FIRST); /* in two parts */
    draw(same, to, again + FIRST, SECOND);
    MUST(memcmp(once, again, sizeof once) == 0);
    DRAWN(curandSetGeneratorOffset(g, FIRST)); /* from the midst */
    draw(g, to, again, SECOND);
    MUST(memcmp(once + FIRST, again, SECOND * sizeof *again) == 0);
    DRAWN(curandGenerateUniform(g, NULL, 0)); /* nothing */
    DRAWN(curandSetPseudoRandomGeneratorSeed(g, 8));
    DRAWN(curandSetGeneratorOffset(g, 0));
    draw(g, to, again, ALL);
    int equal = 0;
    for (int i = 0; i < ALL; i++) {
        equal += once[i] == again[i];
    }
    MUST(equal < 3);
    DRAWN(curandDestroyGenerator(same));
    DRAWN(curandDestroyGenerator(g));
    give_back(to);
}

/* ---- kernels -------------------------------------------------------------------------------- */

/* Each thread has a subsequence: of XORWOW one word is its turn, of Philox four are. */
__global__ void draw_alike(unsigned *xorwow, unsigned *philox, unsigned long long seed) {
    curandStateXORWOW_t x;
    curandStatePhilox4_32_10_t p;
    curand_init(seed, threadIdx.x, 0, &x);
    curand_init(seed, threadIdx.x, 0, &p);
    xorwow[threadIdx.x] = curand(&x);
    for (int i = 0; i < 4; i++) {
        philox[4 * threadIdx.x + i] = curand(&p);
    }
}

static void kernels_draw_the_same(void) {
    unsigned *drawn, *filled, by_kernel[5 * LANES], by_library[5 * LANES];
    OK(cudaMalloc(&drawn, sizeof by_kernel));
    OK(cudaMalloc(&filled, sizeof by_library));
    curandGenerator_t xorwow = make(CURAND_RNG_PSEUDO_DEFAULT, false, 99);
    curandGenerator_t philox = make(CURAND_RNG_PSEUDO_PHILOX4_32_10, false, 99);
    DRAWN(curandGenerate(xorwow, filled, LANES));
    DRAWN(curandGenerate(philox, filled + LANES, 4 * LANES));
    draw_alike<<<1, LANES>>>(drawn, drawn + LANES, 99);
    OK(cudaGetLastError());
    OK(cudaMemcpy(by_kernel, drawn, sizeof by_kernel, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(by_library, filled, sizeof by_library, cudaMemcpyDeviceToHost));
    MUST(memcmp(by_kernel, by_library, sizeof by_kernel) == 0);
    DRAWN(curandDestroyGenerator(xorwow));
    DRAWN(curandDestroyGenerator(philox));
    OK(cudaFree(drawn));
    OK(cudaFree(filled));
}

int main(void) {
    int version, major;
    DRAWN(curandGetVersion(&version));
    DRAWN(curandGetProperty(MAJOR_VERSION, &major));
    MUST(version >= 10000 && major == 10);
    for (int on_host = 0; on_host < 2; on_host++) {
        numbers_are_nvidias(on_host);
        sequences(CURAND_RNG_PSEUDO_XORWOW, on_host);
        sequences(CURAND_RNG_PSEUDO_PHILOX4_32_10, on_host);
    }
    kernels_draw_the_same();
    return 0;
}
