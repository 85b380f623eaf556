/* Structures by value: into functions and out of them, right from and to memory; and with bytes
   between their members that nothing writes. */
#include <cuComplex.h>
#include <cuda_runtime.h>

#include "check.cuh"

struct Ray {
    float3 from, along;
};

struct Sphere {
    float3 middle;
    float radius;
    int number;
};

struct Hit {
    float distance;
    float3 normal;
    int number;
};

static __host__ __device__ float3 minus(float3 a, float3 b) {
    return make_float3(a.x - b.x, a.y - b.y, a.z - b.z);
}

static __host__ __device__ float dot(float3 a, float3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static __host__ __device__ float3 go(Ray r, float distance) {
    return make_float3(r.from.x + distance * r.along.x, r.from.y + distance * r.along.y,
                       r.from.z + distance * r.along.z);
}

static __host__ __device__ Hit meet(Ray r, Sphere s) {
    float3 away = minus(r.from, s.middle);
    float b = dot(away, r.along), c = dot(away, away) - s.radius * s.radius, q = b * b - c;
    Hit hit = {-1, make_float3(0, 0, 0), -1};
    if (q > 0) {
        float distance = -b - sqrtf(q);
        if (distance > 0) {
            hit.distance = distance;
            hit.normal = minus(go(r, distance), s.middle);
            hit.number = s.number;
        }
    }
    return hit;
}

static __host__ __device__ Hit nearest(Ray r, const Sphere *s, int n) {
    Hit best = {1e30f, make_float3(0, 0, 0), -1};
    for (int i = 0; i < n; i++) {
        Hit hit = meet(r, s[i]);
        if (hit.number >= 0 && hit.distance < best.distance) {
            best = hit;
        }
    }
    return best;
}

enum { RAYS = 64, SPHERES = 4 };

static __global__ void trace(const Ray *rays, const Sphere *s, Hit *hits) {
    __shared__ Sphere near[SPHERES];
    int i = (int)threadIdx.x;
    if (i < SPHERES) {
        near[i] = s[i];
    }
    __syncthreads();
    hits[i] = nearest(rays[i], near, SPHERES);
}

static __global__ void turn(cuFloatComplex *x, float *length) {
    int i = (int)threadIdx.x;
    length[i] = cuCabsf(x[i]);
    x[i] = cuCmulf(x[i], cuConjf(x[i]));
}

struct Best {
    double value;
    int place;
    bool found;
};

struct Mark {
    char letter;
    short number;
    bool set;
};

static __global__ void greatest(Best *out, Mark *marks, const float *x) {
    __shared__ Best best[RAYS];
    unsigned i = threadIdx.x;
    best[i].value = x[i];
    best[i].place = (int)i;
    best[i].found = true;
    for (unsigned half = RAYS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (i < half) {
            Best other = best[i + half];
            if (other.value > best[i].value) {
                best[i] = other;
            }
        }
    }
    out[i].value = x[i];
    out[i].place = best[0].place;
    out[i].found = i > 0;
    marks[i].letter = 'm';
    marks[i].number = (short)i;
    marks[i].set = true;
}

static __global__ void take_over(Best *to, const Best *from, Mark *mark, const Mark *marks) {
    to[threadIdx.x] = from[RAYS - 1 - threadIdx.x];
    mark[threadIdx.x] = marks[RAYS - 1 - threadIdx.x];
}

static void padded(void) {
    float host[RAYS], *x;
    Best bests[RAYS], *best, *other;
    Mark marks[RAYS], *mark, *others;
    for (int i = 0; i < RAYS; i++) {
        host[i] = (float)(i * (RAYS - i));
    }
    OK(cudaMalloc(&x, sizeof host));
    OK(cudaMalloc(&best, sizeof bests));
    OK(cudaMalloc(&other, sizeof bests));
    OK(cudaMalloc(&mark, sizeof marks));
    OK(cudaMalloc(&others, sizeof marks));
    OK(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    greatest<<<1, RAYS>>>(best, mark, x);
    OK(cudaMemcpy(bests, best, sizeof bests, cudaMemcpyDeviceToHost));
    OK(cudaMemcpyAsync(marks, mark, sizeof marks, cudaMemcpyDeviceToHost));
    OK(cudaDeviceSynchronize());
    MUST(bests[1].place == RAYS / 2 && bests[1].found && marks[3].number == 3 && marks[3].set);
    greatest<<<1, RAYS>>>(best, mark, x);
    take_over<<<1, RAYS>>>(other, best, others, mark);
    OK(cudaMemcpy(bests, other, sizeof bests, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(marks, others, sizeof marks, cudaMemcpyDeviceToHost));
    MUST(!bests[RAYS - 1].found && marks[0].number == RAYS - 1);
}

static void traced(void) {
    Ray rays[RAYS], *r;
    Sphere spheres[SPHERES], *s;
    Hit hits[RAYS], *h;
    for (int i = 0; i < RAYS; i++) {
        rays[i] = {make_float3(0, 0, 0), make_float3((float)(i % 8 - 4) * 0.1f, 0, 1)};
    }
    for (int i = 0; i < SPHERES; i++) {
        spheres[i] = {make_float3((float)i - 2, 0, 5 + (float)i), 1, i};
    }
    OK(cudaMalloc(&r, sizeof rays));
    OK(cudaMalloc(&s, sizeof spheres));
    OK(cudaMalloc(&h, sizeof hits));
    OK(cudaMemcpy(r, rays, sizeof rays, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(s, spheres, sizeof spheres, cudaMemcpyHostToDevice));
    trace<<<1, RAYS>>>(r, s, h);
    OK(cudaGetLastError());
    OK(cudaMemcpy(hits, h, sizeof hits, cudaMemcpyDeviceToHost));
    for (int i = 0; i < RAYS; i++) {
        MUST(hits[i].number == nearest(rays[i], spheres, SPHERES).number);
    }
}

static void turned(void) {
    enum { N = 32 };
    cuFloatComplex host[N], *x;
    float lengths[N], *length;
    for (int i = 0; i < N; i++) {
        host[i] = make_cuFloatComplex(3 * (float)i, 4 * (float)i);
    }
    OK(cudaMalloc(&x, sizeof host));
    OK(cudaMalloc(&length, sizeof lengths));
    OK(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    turn<<<1, N>>>(x, length);
    OK(cudaGetLastError());
    OK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(lengths, length, sizeof lengths, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) {
        MUST(lengths[i] == 5 * (float)i && host[i].x == 25 * (float)(i * i) && host[i].y == 0);
    }
}

int main() {
    traced();
    turned();
    padded();
    puts("good");
}
