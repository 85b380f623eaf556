#!/usr/bin/env python3
"""Tests of build/cu2cpp, the rewriter of cudasim/cu2cpp: cudasim/tests/cu2cpp_test.py [PROGRAM]

Each case is an input and either what it becomes or a part of the error. In what is expected, HERE
stands for the file and line that every call is given, and blanks count as one. Every output must
have as many lines as its input."""
import re
import subprocess
import sys

PROGRAM = sys.argv[1] if len(sys.argv) > 1 else "build/cu2cpp"
HERE = "__builtin_FILE(), __builtin_LINE()"


def shared(name, inside, type_of=None):
    """What `__shared__` inside; becomes."""
    return (f"struct cudasim_{name} {{ {inside}; }}; static cudasim_shared_variable "
            f'cudasim_{name}_record = {{"{name}", HERE, sizeof(cudasim_{name}::{name}), '
            f"alignof(cudasim_{name}), 0}}; auto &{name} = ((cudasim_{name} *)"
            f"cudasim_static_shared(&cudasim_{name}_record))->{name};")


def variable(name):
    """What follows the declaration of a variable of the device."""
    return (f' static cudasim_variable cudasim_{name}_record __attribute__((section("cudasim_variables"), used, '
            f'aligned(8))) = {{(void *)&{name}, sizeof {name}, "{name}"}};')


def of_the_host(*names):
    """What follows the declaration of variables of the host."""
    return "".join(f' static cudasim_host_variable cudasim_{name}_host __attribute__((section("cudasim_host_variables"), used, '
                   f'aligned(8))) = {{(void *)&{name}, sizeof {name}, "{name}"}};' for name in names)


def of_both(text):
    """What follows a file: the names of functions that the host and the device have."""
    names = re.findall(r"cudasim_host cudasim_device \w+ (\w+)\(", text)
    return "".join(f' static const char *const cudasim_of_both_{i} __attribute__((section("cudasim_of_both"), used)) = "{name}";'
                   for i, name in enumerate(names))


def without_records(text):
    """In a graded file there are none: see record_variable()."""
    text = re.sub(r"cudasim_kernel_begins<0>\(\);\{(.*?)\}\}", r"\1}", text)
    return re.sub(r" static cudasim_variable [^;]*;|cudasim_kernel_begins<.*?>\(\); ", "", text)


def launches(text):
    """In what is expected, a launch is written as in a graded file: with the kernel's name in the place of three lambdas. A lambda that is called stays as it is."""
    def lambdas(match):
        name = match[1]
        return (f'cudasim_launch_named(HERE, "{name}", [&](auto cudasim_get) -> decltype(cudasim_get({name})) '
                f"{{ return cudasim_get({name}); }}, [&](auto cudasim_k) -> decltype(static_cast<decltype(cudasim_k)>({name})) "
                f"{{ return static_cast<decltype(cudasim_k)>({name}); }}, [&](auto... cudasim_a) "
                f"{{ {name}(cudasim_a...); }}")
    return re.sub(r'cudasim_launch\(HERE, "([^"{]*)", \1 ?', lambdas, text)


# What stays as it is.
SAME = [
    "int f(int a) { return a << 2 << 1 >> 1; }",
    'const char *s = "k<<<1, 2>>>(x); __shared__ float a[3];";',
    'const char *s = R"x(k<<<1, 2>>>(") __shared__ )y")x";',
    "char c = '\\''; char d = '\"'; int million = 1'000'000; float h = 0x1p-3f;",
    "// k<<<1, 2>>>(x) __shared__ int y;",
    "/* k<<<1, 2>>>(x)\n __shared__ int y; */ int z;",
    "// goes on \\\n k<<<1, 2>>>(x)\nint z;",
    "V<V<V<int>>> v;",
    "#pragma unroll <<< __shared__\nint z;",
    "Op &operator<<<int>(int);",
    "} __attribute__((__noinline__)) int f(int); __attribute__((unused, __noinline__)) int g(int); {",
]

# A statement in a function, and what it becomes.
CHANGED = [
    ("k<<<1, 2>>>(a, b);", 'cudasim_launch(HERE, "k", k, 1, 2)(a, b);'),
    ("k <<< 1, 2 >>> (a);", 'cudasim_launch(HERE, "k", k , 1, 2 ) (a);'),
    ("k<<<g, b, n * sizeof(float), st>>>();",
     'cudasim_launch(HERE, "k", k, g, b, n * sizeof(float), st)();'),
    ("k<float, 32><<<1, 2>>>(a);", 'cudasim_launch(HERE, "k<float, 32>", k<float, 32>, 1, 2)(a);'),
    ("k<(1 > 0 ? 4 : 5)><<<1, 2>>>(a);",
     'cudasim_launch(HERE, "k<(1 > 0 ? 4 : 5)>", k<(1 > 0 ? 4 : 5)>, 1, 2)(a);'),
    ("k<V<int>><<<dim3(1, 2), dim3(n, n)>>>(a);",
     'cudasim_launch(HERE, "k<V<int>>", k<V<int>>, dim3(1, 2), dim3(n, n))(a);'),
    ("k<<<1, V<int>::n>>>(a);", 'cudasim_launch(HERE, "k", k, 1, V<int>::n)(a);'),
    ("k<<<1, v<w<3>>>>>(a);", 'cudasim_launch(HERE, "k", k, 1, v<w<3>>)(a);'),
    ("k<<<1, n > 1 ? 2 : 3>>>(n >> 1);", 'cudasim_launch(HERE, "k", k, 1, n > 1 ? 2 : 3)(n >> 1);'),
    ("ns::k<<<1, 2>>>();", 'cudasim_launch(HERE, "ns::k", ns::k, 1, 2)();'),
    ("else ::ns::k<<<1, 2>>>();", 'else cudasim_launch(HERE, "::ns::k", ::ns::k, 1, 2)();'),
    ("if (n) k<<<1, 2>>>();", 'if (n) cudasim_launch(HERE, "k", k, 1, 2)();'),
    ("s->k<<<1, 2>>>();", 'cudasim_launch(HERE, "s->k", s->k, 1, 2)();'),
    ("table[n & 1]<<<1, 2>>>();", 'cudasim_launch(HERE, "table[n & 1]", table[n & 1], 1, 2)();'),
    ("(*k)<<<1, 2>>>();", 'cudasim_launch(HERE, "(*k)", (*k), 1, 2)();'),
    ('std::get<1>(t)<<<1, 2>>>(a);', 'cudasim_launch(HERE, "std::get<1>(t)", std::get<1>(t), 1, 2)(a);'),
    ('f<3>()<<<1, 2>>>(a);', 'cudasim_launch(HERE, "f<3>()", f<3>(), 1, 2)(a);'),
    ('x = 1; s.f<3>(2)[0]<<<1, 2>>>(a);', 'x = 1; cudasim_launch(HERE, "s.f<3>(2)[0]", s.f<3>(2)[0], 1, 2)(a);'),
    ('static_cast<K>(k)<<<1, 2>>>(a);', 'cudasim_launch(HERE, "static_cast<K>(k)", static_cast<K>(k), 1, 2)(a);'),
    ('f()()<<<1, 2>>>(a);', 'cudasim_launch(HERE, "f()()", f()(), 1, 2)(a);'),
    ('t[1](2)<<<1, 2>>>(a);', 'cudasim_launch(HERE, "t[1](2)", t[1](2), 1, 2)(a);'),
    ('S<2>{}(1)<<<1, 2>>>(a);', 'cudasim_launch(HERE, "S<2>{}(1)", S<2>{}(1), 1, 2)(a);'),
    ('if (a) (k)<<<1, 2>>>(a);', 'if (a) cudasim_launch(HERE, "(k)", (k), 1, 2)(a);'),
    ('if (a) ::k<<<1, 2>>>(a);', 'if (a) cudasim_launch(HERE, "::k", ::k, 1, 2)(a);'),
    ('for (;;) (*k)<<<1, 2>>>(a);', 'for (;;) cudasim_launch(HERE, "(*k)", (*k), 1, 2)(a);'),
    ('while (a) (&k)<<<1, 2>>>(a);', 'while (a) cudasim_launch(HERE, "(&k)", (&k), 1, 2)(a);'),
    ('if constexpr (a) ((K)k)<<<1, 2>>>(a);', 'if constexpr (a) cudasim_launch(HERE, "((K)k)", ((K)k), 1, 2)(a);'),
    ('do {} while (a); ::k<<<1, 2>>>(a);', 'do {} while (a); cudasim_launch(HERE, "::k", ::k, 1, 2)(a);'),
    ('{ f(); } (k)<<<1, 2>>>(a);', '{ f(); } cudasim_launch(HERE, "(k)", (k), 1, 2)(a);'),
    ('{ f(); } ::n::k<<<1, 2>>>(a);', '{ f(); } cudasim_launch(HERE, "::n::k", ::n::k, 1, 2)(a);'),
    ('else { f(); } k<<<1, 2>>>(a);', 'else { f(); } cudasim_launch(HERE, "k", k, 1, 2)(a);'),
    ('if (a) { f(); } (k)<<<1, 2>>>(a);', 'if (a) { f(); } cudasim_launch(HERE, "(k)", (k), 1, 2)(a);'),
    ('else (k)<<<1, 2>>>(a);', 'else cudasim_launch(HERE, "(k)", (k), 1, 2)(a);'),
    ('return (k)<<<1, 2>>>(a);', 'return cudasim_launch(HERE, "(k)", (k), 1, 2)(a);'),
    ('if (a) {} else t[1]<<<1, 2>>>(a);', 'if (a) {} else cudasim_launch(HERE, "t[1]", t[1], 1, 2)(a);'),
    ('[] { return &k; }()<<<1, 2>>>(a);', 'cudasim_launch(HERE, "[] { return &k; }()", [] { return &k; }(), 1, 2)(a);'),
    ('if (a) [&](int x) { return x ? k : l; }(1)<<<1, 2>>>(a);', 'if (a) cudasim_launch(HERE, "[&](int x) { return x ? k : l; }(1)", [&](int x) { return x ? k : l; }(1), 1, 2)(a);'),
    ('{ f(); } [x]() mutable { return k; }()<<<1, 2>>>(a);', '{ f(); } cudasim_launch(HERE, "[x]() mutable { return k; }()", [x]() mutable { return k; }(), 1, 2)(a);'),
    ('return []() -> K { return k; }()<<<1, 2>>>(a);', 'return cudasim_launch(HERE, "[]() -> K { return k; }()", []() -> K { return k; }(), 1, 2)(a);'),
    ('S{1}(2)<<<1, 2>>>(a);', 'cudasim_launch(HERE, "S{1}(2)", S{1}(2), 1, 2)(a);'),
    ("[=] { k<<<1, 2>>>(); }();", '[=] { cudasim_launch(HERE, "k", k, 1, 2)(); }();'),
    ("k<<<1, 2>>>(), l<<<3, 4>>>();",
     'cudasim_launch(HERE, "k", k, 1, 2)(), cudasim_launch(HERE, "l", l, 3, 4)();'),
    ("__shared__ float x;", shared("x", "float x")),
    ("__shared__ float t[32][32 + 1];", shared("t", "float t[32][32 + 1]")),
    ("__shared__ float t[N == 4 ? 1 : 2];", shared("t", "float t[N == 4 ? 1 : 2]")),
    ('__shared__ float t[\n# 8 "a.cu" 3 4\n6\n# 8 "a.cu"\n];',
     shared("t", "float t[6]") + '\n# 8 "a.cu" 3 4\n# 8 "a.cu"\n'),
    ('k<\n# 8 "a.cu" 3 4\n6\n# 8 "a.cu"\n><<<1, 2>>>();',
     'cudasim_launch(HERE, "k< 6 >", k< 6 >\n# 8 "a.cu" 3 4\n\n# 8 "a.cu"\n, 1, 2)();'),
    ("} cudasim_global void a(int x) { f(x); } {",
     "} __attribute__((noinline)) void a(int x) { cudasim_kernel_begins<0>();{ f(x); }} {"),
    ("} cudasim_global void cudasim_launch_bounds(2 * N, 3) a() { f(); } {",
     "} __attribute__((noinline)) void a() { cudasim_kernel_begins<(unsigned)(2 * N)>(); cudasim_bounds((unsigned)(2 * N));{ f(); }} {"),
    ("} cudasim_launch_bounds(N) static cudasim_global void a() { f(); } {",
     "} static __attribute__((noinline)) void a() { cudasim_kernel_begins<(unsigned)(N)>(); cudasim_bounds((unsigned)(N));{ f(); }} {"),
    ("k << <1, 2 >> >(a);", 'cudasim_launch(HERE, "k", k , 1, 2)(a);'),
    ("k<<<1, v<w<3> > >>>(a);", 'cudasim_launch(HERE, "k", k, 1, v<w<3> >)(a);'),
    ("operator<< <int>(a);", "operator<< <int>(a);"),
    ("cudasim_launch_kernel(F, L, true, \"k\", (void *)k, 1, 2);", 'cudasim_launch_kernel(F, L, true, "k", k, 1, 2);'),
    ("cudasim_launch_kernel(F, L, f(1, 2), \"k\", (const void*)k<3>, 1);", 'cudasim_launch_kernel(F, L, f(1, 2), "k", k<3>, 1);'),
    ("} cudasim_global void a(int); void g() { p.func = (void *)a; }", '} __attribute__((noinline)) void a(int); void g() { p.func = cudasim_kernel_address("a", a); }'),
    ("} template <class T> cudasim_global void a(T); void g() { h((const void*)&n::a<int>, (void *)b); }",
     '} template <class T> __attribute__((noinline)) void a(T); void g() { h(cudasim_kernel_address("&n::a<int>", &n::a<int>), (void *)b); }'),
    ("} cudasim_global void a(); void g() { f(reinterpret_cast<void *>(a)); }",
     '} __attribute__((noinline)) void a(); void g() { f(cudasim_kernel_address("a", a)); }'),
    ("} cudasim_device int x; cudasim_host cudasim_device void f() { k<<<1, 2>>>(a); }",
     f'}} int x;{variable("x")} void f() {{ cudasim_launch(HERE, "k", k, 1, 2)(a); }}'),
    ("} cudasim_host cudasim_device int f(int x) { } template <class T> cudasim_host cudasim_device T g(T x) { } {", "} int f(int x) { } template <class T> T g(T x) { } {"),
    ("} static cudasim_device volatile float a, *b = q, c[2][3] = {{1, 2}}; {",
     f'}} static volatile float a, *b = q, c[2][3] = {{{{1, 2}}}};{variable("a")}{variable("b")}{variable("c")} {{'),
    ("} namespace n { __constant__ V<int, 3> v; } {",
     f'}} namespace n {{ __attribute__((section("cudasim_constant"))) V<int, 3> v;{variable("v")} }} {{'),
    ("} extern cudasim_device int x; cudasim_device int S::x = 1; {", "} extern int x; int S::x = 1; {"),
    ("} template <class T> cudasim_device int x = 1; struct S { cudasim_device int y; }; {",
     "} template <class T> int x = 1; struct S { int y; }; {"),
    ("} cudasim_device __managed__ int x; {", "} int x; {"),
    ("cudasim_launch_kernel(F, L, true, \"k\", k, 1, 2);", 'cudasim_launch_kernel(F, L, true, "k", k, 1, 2);'),
    ("} __managed__ int x; {", "} int x; {"),
    ("} __noinline__ int f(int); {", "} __attribute__((noinline)) int f(int); {"),
    ("static __shared__ int x;", shared("x", "int x")),
    ("float __shared__ x[3];", shared("x", "float x[3]")),
    ("volatile __shared__ int x;", shared("x", "volatile int x")),
    ("__shared__ const float *p;", shared("p", "const float *p")),
    ("__shared__ float (*rows)[4];", shared("rows", "float (*rows)[4]")),
    ("__shared__ unsigned long long n;", shared("n", "unsigned long long n")),
    ("__shared__ std::pair<int, float> p[2];", shared("p", "std::pair<int, float> p[2]")),
    ("__shared__ struct P p;", shared("p", "struct P p")),
    ("__shared__ struct { int a, b; } p;", shared("p", "struct { int a, b; } p")),
    ("__shared__ decltype(1.0f * 2) d;", shared("d", "decltype(1.0f * 2) d")),
    ("__shared__ __attribute__((aligned(16))) char c[64];",
     shared("c", "__attribute__((aligned(16))) char c[64]")),
    ("__shared__ alignas(16) float a[4], b;",
     shared("a", "alignas(16) float a[4]") + shared("b", "alignas(16) float b")),
    ("__shared__ float a[2], *p;", shared("a", "float a[2]") + shared("p", "float *p")),
    ("for (;;) { __shared__ int i; }", "for (;;) { " + shared("i", "int i") + " }"),
    ("extern __shared__ float x[];", 'auto x = (float *)cudasim_dynamic_shared("x", HERE);'),
    ("extern __shared__ __attribute__((aligned(16))) char x[];",
     'auto x = (char *)cudasim_dynamic_shared("x", HERE);'),
    ("extern __shared__ float2 x[][4];",
     'auto x = (float2 (*)[4])cudasim_dynamic_shared("x", HERE);'),
]



def in_file(name, inside):
    """What `__shared__` inside; becomes outside of functions, and what a function that uses it begins with."""
    return (f"struct cudasim_{name} {{ {inside}; }}; static cudasim_shared_variable cudasim_{name}_record __attribute__((unused)) = "
            f'{{"{name}", HERE, sizeof(cudasim_{name}::{name}), alignof(cudasim_{name}), 0}};',
            f"__attribute__((unused)) auto &{name} = ((cudasim_{name} *)cudasim_file_shared(&cudasim_{name}_record))->{name};")


RECORD, USE = in_file("t", "float t[4]")
RECORD_S, USE_S = in_file("s", "int s")
ARRAY = 'static const cudasim_shared_array cudasim_d_record __attribute__((unused)) = {"d", HERE};'
USE_ARRAY = "__attribute__((unused)) auto d = (int *)cudasim_file_dynamic(&cudasim_d_record);"

# Shared variables of a file, and what the file becomes.
FILES = [
    ("typedef struct {} cudasim_host_variable; int a; static float *b = q, c[2] = {1, 2}; unsigned d{3}; V<int, 3> e = f(g); namespace n { n::X (*h); namespace { int i; } }",
     f"typedef struct {{}} cudasim_host_variable; int a;{of_the_host('a')} static float *b = q, c[2] = {{1, 2}};{of_the_host('b', 'c')} unsigned d{{3}};{of_the_host('d')} "
     f"V<int, 3> e = f(g);{of_the_host('e')} namespace n {{ n::X (*h); namespace {{ int i;{of_the_host('i')} }} }}"),
    ("typedef struct {} cudasim_host_variable; extern int a; const int b = 1; int c(int); int d(4); int &e = f; template <class T> T g; struct S { int h; } i; using j = int; enum K { L } m; "
     "int p(int q) { int r; return r; } thread_local int s; S::t; static const float *u; int S::v = 1; lone; F x; static F y, z; { int w; }", None),
    ("int x; typedef struct {} cudasim_host_variable;", None),
    ("typedef struct {} cudasim_host_variable; cudasim_device int x; int y;", f"typedef struct {{}} cudasim_host_variable; int x;{variable('x')} int y;{of_the_host('y')}"),
    ('typedef struct {} cudasim_host_variable;\n# 8 "/usr/include/x.h" 3 4\nint x;\n# 8 "a.cu"\nint y;',
     f'typedef struct {{}} cudasim_host_variable;\n# 8 "/usr/include/x.h" 3 4\nint x;\n# 8 "a.cu"\nint y;{of_the_host("y")}'),
    ("void f() { cudasim_event_record(a, 1, e); if (x) cudasim_host_register(a, 1, p, n, 0); else cudasim_event_record(a, 1, e); }",
     "void f() { cudasim_ignored(), cudasim_event_record(a, 1, e); if (x) cudasim_ignored(), cudasim_host_register(a, 1, p, n, 0); "
     "else cudasim_ignored(), cudasim_event_record(a, 1, e); }"),
    ("int f() { (void)cudasim_event_record(a, 1, e); x = ({ cudasim_event_record(a, 1, e); }); return cudasim_event_record(a, 1, e); }",
     "int f() { (void)cudasim_event_record(a, 1, e); x = ({ cudasim_event_record(a, 1, e); }); return cudasim_event_record(a, 1, e); }"),
    ("void f() { g(cudasim_event_record(a, 1, e)); cudasim_event_record(a, 1, e) == 0 ? g() : h(); int x = cudasim_event_record(a, 1, e); }",
     "void f() { g(cudasim_event_record(a, 1, e)); cudasim_event_record(a, 1, e) == 0 ? g() : h(); int x = cudasim_event_record(a, 1, e); }"),
    ("__shared__ float t[4]; void k(float *o) { o[0] = t[1]; } void l() {}",
     f"{RECORD} void k(float *o) {{ {USE} {{ o[0] = t[1]; }}}} void l() {{}}"),
    ("static __shared__ float t[4]; template <class T> __attribute__((noinline)) void k() { t[1] = 0; }",
     f"{RECORD} template <class T> __attribute__((noinline)) void k() {{ {USE} {{ t[1] = 0; }}}}"),
    ("__shared__ float t[4]; int f(int t) { return t; } int g() { return a.t + a->t + n::t; }",
     f"{RECORD} int f(int t) {{ return t; }} int g() {{ return a.t + a->t + n::t; }}"),
    ("__shared__ float t[4]; struct S { int t; int f() const { return t[0]; } }; int x[] = {t};",
     f"{RECORD} struct S {{ int t; int f() const {{ {USE} {{ return t[0]; }}}} }}; int x[] = {{t}};"),
    ('namespace n { __shared__ float t[4]; extern "C" { auto f() -> int { return t[0]; } } } int g() { return t[0]; }',
     f'namespace n {{ {RECORD} extern "C" {{ auto f() -> int {{ {USE} {{ return t[0]; }}}} }} }} int g() {{ return t[0]; }}'),
    ("__shared__ float t[4]; __shared__ int s; void k() { if (s) { t[0] = 1; } }",
     f"{RECORD} {RECORD_S} void k() {{ {USE} {{ {USE_S} {{ if (s) {{ t[0] = 1; }} }}}}}}"),
    ("extern __shared__ int d[]; extern __shared__ int d[]; int k() { return d[0]; }",
     f"{ARRAY} int k() {{ {USE_ARRAY} {{ return d[0]; }}}}"),
]

# A statement of inline PTX, and what it becomes.
PTX = [
    ('asm("mov.u32 %0, %laneid;" : "=r"(x));', "({ { (x) = cudasim_as<__typeof__(x)>(cudasim_lane); } });"),
    ('asm volatile ("{ mov.u32 %1,\\t%%tid.y;\\n}" : "=r"(x), "=r"(y[1]) :: "memory");',
     "({ { (y[1]) = cudasim_as<__typeof__(y[1])>(threadIdx.y); } });"),
    ('if (a) asm("mov.u64 %0, %%clock64;" : "=l"(x) :); else b();',
     "if (a) ({ { (x) = cudasim_as<__typeof__(x)>(cudasim_clock()); } }); else b();"),
    ('asm("ld.global.nc.f32 %0, [%1 + 8];" : "=f"(x) : "l"(p + 1) : "memory");',
     "({ { const float cudasim_v = cudasim_ptx_load<float>(((const char *)(p + 1) + 8), HERE); (x) = cudasim_as<__typeof__(x)>(cudasim_v); } });"),
    ('asm("ld.global.nc.L2::128B." "v2.u32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "l"(p));',
     "({ { const uint2 cudasim_v = cudasim_ptx_load<uint2>(((const char *)(p) + 0), HERE); (x) = cudasim_as<__typeof__(x)>(cudasim_v.x); "
     "(y) = cudasim_as<__typeof__(y)>(cudasim_v.y); } });"),
    ('asm("ld.shared.u32 %0, [%1];" : "=r"(x) : "r"(a));',
     "({ { const unsigned cudasim_v = cudasim_ptx_load<unsigned>((char *)cudasim_shared_pointer(((unsigned long long)(a) + 0), __builtin_FILE(), "
     "__builtin_LINE()), HERE); (x) = cudasim_as<__typeof__(x)>(cudasim_v); } });"),
    ('asm("st.global.cs.f32 [%0+4], %1;" :: "l"(p), "f"(y));',
     "({ { float cudasim_v; cudasim_v = cudasim_as<float>((y)); *(float *)(((char *)(p) + 4)) = cudasim_v; } });"),
    ('asm("st.shared.v2.b32 [%0], {%1, 0};" :: "r"(a), "r"(y));',
     "({ { uint2 cudasim_v; cudasim_v.x = cudasim_as<unsigned>((y)); cudasim_v.y = cudasim_as<unsigned>(0); "
     "*(uint2 *)((char *)cudasim_shared_pointer(((unsigned long long)(a) + 0), __builtin_FILE(), __builtin_LINE())) = cudasim_v; } });"),
    ('asm("cp.async.ca.shared.global [%0], [%1], 8;" :: "r"(a), "l"(p));',
     "({ { cudasim_ptx_copy<4, 8>(((unsigned long long)(a) + 0), ((const char *)(p) + 0), 8, HERE); } });"),
    ('asm("cp.async.cg.shared.global [%0], [%1], %2, %3;" :: "r"(a), "l"(p), "n"(16), "r"(b) : "memory");',
     "({ { cudasim_ptx_copy<16, (16)>(((unsigned long long)(a) + 0), ((const char *)(p) + 0), (b), HERE); } });"),
    ('asm("cp.async.commit_group; cp.async.wait_group 1;");', "({ { cudasim_copy_commit(HERE); } { cudasim_copy_wait(1, HERE); } });"),
    ('asm volatile("" ::: "memory");', "({ });"),
    ('asm("mov.u32%0, %laneid;" : "=r"(x));', "({ { (x) = cudasim_as<__typeof__(x)>(cudasim_lane); } });"),
    ('asm volatile("cvta.to.shared.u64 %0, %1;" : "=l"(x) : "l"(p));',
     "({ { const size_t cudasim_v = cudasim_shared_offset((const void *)(p), HERE); (x) = cudasim_as<__typeof__(x)>(cudasim_v); } });"),
    ('asm("ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 {%0, %1}, [%2+16];" : "=r"(x), "=r"(y) : "r"(a));',
     "({ { unsigned cudasim_d[2]; cudasim_ptx_load_matrices(2, 1, cudasim_d, ((unsigned long long)(a) + 16), HERE); "
     "(x) = cudasim_as<__typeof__(x)>(cudasim_d[0]); (y) = cudasim_as<__typeof__(y)>(cudasim_d[1]); } });"),
    ('asm("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%5, %6};"'
     ' : "=r"(x), "=r"(y) : "r"(a), "r"(b), "r"(c), "r"(d), "r"(e));',
     "({ { const unsigned cudasim_a[] = {cudasim_as<unsigned>((a)), cudasim_as<unsigned>((b))}; const unsigned cudasim_b[] = {cudasim_as<unsigned>((c))}; "
     "const unsigned cudasim_c[] = {cudasim_as<unsigned>((d)), cudasim_as<unsigned>((e))}; unsigned cudasim_d[2]; "
     "const cudasim_ptx_product cudasim_p = {8, CUDASIM_PTX_F16, CUDASIM_PTX_F16, CUDASIM_PTX_F16, 0, cudasim_d, cudasim_a, cudasim_b, cudasim_c}; "
     "cudasim_ptx_multiply(&cudasim_p, HERE); (x) = cudasim_as<__typeof__(x)>(cudasim_d[0]); (y) = cudasim_as<__typeof__(y)>(cudasim_d[1]); } });"),
    ('asm(R"x({ cp.async.commit_group;\n})x");', "({ { cudasim_copy_commit(HERE); } });"),
    ('asm("cp.async.wait_all;" ::: "memory");', "({ { cudasim_copy_commit(HERE); cudasim_copy_wait(0, HERE); } });"),
]

# A statement in a function, and what the error says.
WRONG = [
    ("k<<<1>>>(x);", "a launch needs the grid and the block"),
    ("k<<<>>>(x);", "a launch needs the grid and the block"),
    ("<<<1, 2>>>(x);", "no kernel name before <<<"),
    ("k<<<1, 2>>>;", "the kernel's arguments must follow in parentheses"),
    ("k<<<1, 2(x);", "<<< without >>>"),
    ("__shared__ int x = 3;", "cannot be initialised"),
    ("__shared__ float a[3] = {0};", "cannot be initialised"),
    ("__shared__ float a{1};", "cannot be initialised"),
    ("__shared__ float a(1);", "cannot be initialised"),
    ("__shared__ float;", "cannot read this __shared__ declaration"),
    ("__shared__", "cannot read this __shared__ declaration"),
    ("extern __shared__ float x;", "must be an array: float x[]"),
    ('asm("nop;");', "unsupported: inline PTX"),
    ('asm volatile("mov.u32 %0, %warpsize;" : "=r"(x));', "inline PTX: %warpsize is not simulated"),
    ('asm("mov.u32 %0, %tid.w;" : "=r"(x));', "inline PTX: %tid.w is not simulated"),
    ('asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.f16.f32 {%0, %0, %0, %0}, {%0, %0}, {%0}, {%0, %0, %0, %0};" : "=r"(x));',
     "f32.bf16.f16.f32 is not simulated"),
    ('asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %0}, {%0}, {%0}, {%0, %0};" : "=r"(x));', "f64 is not simulated"),
    ('asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %0, %0, %0}, {%0, %0}, {%0, %0}, {%0, %0, %0, %0};" : "=r"(x));',
     "has other numbers of registers"),
    ('asm("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %0}, [%0];" : "=r"(x));', "is not simulated"),
    ('asm("mov.u32 %0, %1;" : "=r"(x) : "r"(y));', "inline PTX: mov.u32 is not simulated"),
    ('asm("mov.u32 %2, %laneid;" : "=r"(x));', "inline PTX: mov.u32 is not simulated"),
    ('asm("cp.async.commit_group; bar.sync 0;");', "inline PTX: bar.sync is not simulated"),
    ('asm("{.reg .pred p; setp.ne.b32 p, %0, 0;}" :: "r"(x));', "inline PTX: .reg is not simulated"),
    ('asm("ld.global.nc.v4.f64 {%0, %0, %0, %0}, [%0];" : "=d"(x));', "inline PTX: ld.global.nc.v4.f64 is not simulated"),
    ('asm("ld.global.nc.f32 %0, [%1], %1;" : "=f"(x) : "l"(p));', "inline PTX: ld.global.nc.f32 is not simulated"),
    ('asm("ld.volatile.global.f32 %0, [%1];" : "=f"(x) : "l"(p));', "inline PTX: ld.volatile.global.f32 is not simulated"),
    ('asm("ld.global.cv.f32 %0, [%1];" : "=f"(x) : "l"(p));', "inline PTX: ld.global.cv.f32 is not simulated"),
    ('asm("mov.u32 %0, %laneid;" : [x] "=r"(x));', "inline PTX: cannot read this statement"),
    ('asm goto("nop;" : : : : there);', "inline PTX: cannot read this statement"),
    ('} cudasim_sealed_from_here; int g() { asm("mov.u32 %0, %laneid;" : "=r"(x)); } {', "unsupported: inline PTX. The simulator"),
    ('do asm("nop"); while (0);', "unsupported: inline PTX"),
    ('if (x) {} else asm("nop");', "unsupported: inline PTX"),
    ('here: __asm__("nop");', "unsupported: inline PTX"),
    ('} int y asm("x"); {', "unsupported: inline PTX"),
    ('} cudasim_sealed_from_here;\n# 8 "a.h" 1 3\nvoid g() { asm("nop"); }\n# 8 "a.cu"\n{', "unsupported: inline PTX"),
    ("} cudasim_sealed_from_here; int g() { return __builtin_ia32_pause(), 1; } {", "a builtin of the CPU"),
    ("} cudasim_sealed_from_here; __attribute__((always_inline)) int g(); {", "unsupported: this attribute"),
    ("} cudasim_sealed_from_here; __attribute__((__no_sanitize__(1))) int g(); {", "unsupported: this attribute"),
    ("} cudasim_sealed_from_here; __managed__ int x; {", "unsupported: managed memory"),
    ("} cudasim_device void f(int a) { k<<<1, 2>>>(a); ", "unsupported: dynamic parallelism"),
    ("} cudasim_global void f() { if (x) { cudasim_malloc(F, L, &p, 4); } ", "unsupported: dynamic parallelism"),
    ("} static cudasim_device int f() noexcept { cudasim_device_synchronize(F, L); ", "unsupported: dynamic parallelism"),
    ("} cudasim_sealed_from_here; __shared__ int x; {", "a __shared__ variable outside of a function"),
    ("} __shared__ int x = 3; {", "cannot be initialised"),
    ("} extern __shared__ int x; {", "must be an array: float x[]"),
]

# What stands before the statements above: the kernels that they launch, and their function.
BEFORE = '# 6 "a.cu"\nint k, l;\nvoid statements()\n'

# Who calls whom: a file, and what the error says; None if it is none.
CALLS = [
    ("void k(int *x) { } int main() { k<<<1, 2>>>(x); }", "k() is launched, and it is not a kernel"),
    ("template <class T> void k(T *x) { } int main() { k<int><<<1, 2>>>(x); }", "k() is launched, and it is not a kernel"),
    ("void k(int *x); cudasim_global void k(int *x) { } int main() { k<<<1, 2>>>(x); }", None),
    ("void k(float *x) { } cudasim_global void k(int *x) { } int main() { k<<<1, 2>>>(x); }", None),
    ("void k(int *x) { } int main() { auto k = of(3); k<<<1, 2>>>(x); }", None),
    ("void k(int *x) { } int main() { s.k<<<1, 2>>>(x); n::k<<<1, 2>>>(x); }", None),
    ("int main() { k<<<1, 2>>>(x); }", "no kernel k() is declared"),
    ("int main() { k<int, 3><<<1, 2>>>(x); }", "no kernel k() is declared"),
    ("cudasim_global void k() { } cudasim_global void l() { k(); }", "it is a kernel: only the host starts one"),
    ("cudasim_global void k() { } cudasim_device void k(int x) { } cudasim_global void l() { k(3); }", None),
    ("cudasim_global void k() { } int main() { k(); }", None),  # the program's run says so
    ("static float f(float x) { } cudasim_global void k(float *x) { *x = f(1); }", "f(), a function of the host: __device__ is missing"),
    ("template <class T, int N = 3> T f(T x) { } cudasim_device float g() { return f<float>(1); }", "f(), a function of the host"),
    ('namespace n { extern "C" { float f(float x); } } cudasim_device float g() { return f(1); }', "f(), a function of the host"),
    ("cudasim_host float f(float x) { } cudasim_device float g() { return f(1); }", "f(), a function of the host"),
    ("cudasim_host cudasim_device float f(float x) { } cudasim_device float g() { return f(1); } int main() { f(1); }", None),
    ("float f(float x) { } cudasim_device float f(double x) { } cudasim_device float g() { return f(1); }", None),
    ("constexpr float f(float x) { } cudasim_device float g() { return f(1); }", None),
    ("float f(float x) { } cudasim_host cudasim_device float g() { return f(1); }", None),
    ("float f(float x) { } template <class F> cudasim_global void k(F f) { f(1); }", None),
    ("float f(float x) { } cudasim_global void k() { auto f = [](float x) { }; f(1); }", None),
    ("float f(float x) { } cudasim_global void k() { Adder f(2); f(1); s.f(1); p->f(1); n::f(1); }", None),
    ("float f(float x) { } struct S { float f(); cudasim_device float g() { return f(); } };", None),
    ("float f(float x) { } cudasim_device float S::g() { return f(); }", None),
    ('# 3 "math.h" 1 3\nfloat f(double x);\n# 8 "a.cu" 2\nfloat f(float x) { } cudasim_device float g() { return f(1); }', None),
    ('# 3 "math.h" 1 3\nfloat f(double x);\n# 8 "a.cu" 2\ncudasim_device float g() { return f(1); }', None),
    ('# 3 "cudasim/include/mma.h" 1\nfloat f(double x) { }\n# 8 "a.cu" 2\ncudasim_device float g() { return f(1); }', None),
    ("static_assert(1 > 0); cudasim_device void g() { static_assert(2 > 1); }", None),
    ("static void (*p)(int); cudasim_device void g() { void (*q)(int); }", None),
    ("cudasim_device float f(float x) { } int main() { return f(1) + f(2); }", "the host calls f(), a function of the device"),
    ("cudasim_device float f(float x) { } float f(int x) { } int main() { return f(1); }", None),
    ("cudasim_device float f(float x) { } int main() { auto l = [=] cudasim_device(int i) { return f(i); }; }", None),
    ("cudasim_device float f(float x) { } int main() { std::function<float(float)> f(g); return f(1); }", None),
    ("cudasim_device float f(float x) { } int main() { T *f(g); return f(1); }", None),
    ("float f(float x) { } cudasim_device float g(float x) { return x * f(1); }", "f(), a function of the host"),
    ("namespace n { float f(float x) { } } struct f { int a; }; cudasim_device float g() { return f(1)(2); }", None),
    ("float f(float x) { } template <float (*f)(float)> cudasim_global void k() { f(1); }", None),
    ("float f(float x) { } struct S { friend cudasim_device float f(S s) { } }; cudasim_device float g(S s) { return f(s); }", None),
    ("cudasim_device auto h(float *x) -> float * { return x; } void f(int x) { } int main() { f(1); }", None),
    ("cudasim_device auto h(float x) -> P<float> { return x; } void f(int x) { } int main() { f(1); }", None),
    ("float f(float x) { } namespace n { cudasim_device T f = leaky; } cudasim_device float g() { return f(1); }", None),
    ("cudasim_device float f() { } int main() { call([=] cudasim_device { return f(); }); }", None),
    ("cudasim_device float f() { } int main() { struct S { cudasim_host cudasim_device S(int a = 1) : a{a} { } "
     "cudasim_device float operator()(float x = 1) const { return f(); } }; }", None),
    ("cudasim_device float f(float x) { } int main() { decltype(f(1)) x; return sizeof(f(1)); }", None),
    ("B::B(int c) : p{0}, n{c} { } cudasim_device float f(B b) { } float f(int x) { } cudasim_device float g(B b) { return f(b); }", None),
    ("template <class T> T f() { } template <> cudasim_device float f<float>() { } cudasim_device float g() { return f<float>(); }", None),
    ("void f(float x) { } template <bool D> cudasim_device void g() { if constexpr (D) f(1); }", None),
    ('# 3 "math.h" 1 3\nint g(int f(int)) { return f(1); }\n# 8 "a.cu" 2\nfloat f(float x) { } cudasim_device float h() { return f(1); }',
     "f(), a function of the host"),
    ("cudasim_global void k(int *x) { if (x) throw 1; }", "code of the device cannot throw or catch"),
    ("cudasim_device void f() { try { g(); } catch (...) { } }", "code of the device cannot throw or catch"),
    ("cudasim_host cudasim_device void f() { throw 1; } void g() { throw 1; }", None),
    ("cudasim_device float f(float x) { } int main() { struct S { cudasim_device int g() { return f(1); } }; }", None),
]

failures = 0


def run(text):
    result = subprocess.run([PROGRAM, "-"], input=text, capture_output=True, text=True, timeout=10)
    return result.returncode, result.stdout, result.stderr


def blanks(text):
    """Without the blanks that do not matter."""
    text = re.sub(r"\s+", " ", text.replace("HERE", HERE))
    return re.sub(r"(?<=\W) | (?=\W)", "", text).strip()


def fail(text, why):
    global failures
    failures += 1
    print(f"cu2cpp: FAILED: {why}\n    {text.strip()}")


def check(text, wanted):
    status, out, err = run(text)
    if status != 0:
        fail(text, f"status {status}: {err.strip()}")
    elif blanks(out) != blanks(wanted):
        fail(text, f"became {out.strip()}\n    wanted {wanted.strip()}")
    elif out.count("\n") != text.count("\n"):
        fail(text, "lines have moved")


def spread(text):
    """The same with a newline at each blank outside of quotes: lines must not move."""
    return text if any(c in text for c in "\"'") else text.replace(" ", "\n")


# After this word: functions that are for the host alone, where a compiler may be told so.
COLD = "__attribute__((cold)) "
MARKED = [
    ("static int f(int a = 3) { if (a) { return 1; } return 0; }", COLD + "static int f(int a = 3) { if (a) { return 1; } return 0; }"),
    ("namespace n { auto f() -> T { } } T n::C::f() const { }", f"namespace n {{ {COLD}auto f() -> T {{ }} }} {COLD}T n::C::f() const {{ }}"),
    ("class C : B { public: C() : a(1) { } protected: private: ~C() { } struct D { int f() { } }; };",
     f"class C : B {{ public: {COLD}C() : a(1) {{ }} protected: private: {COLD}~C() {{ }} struct D {{ {COLD}int f() {{ }} }}; }};"),
    ("struct S { S(A a = {}, B b = { 1 }) : a(a) { } int f() { } S() : a{1}, b(2) { } };",
     f"struct S {{ {COLD}S(A a = {{}}, B b = {{ 1 }}) : a(a) {{ }} {COLD}int f() {{ }} {COLD}S() : a{{1}}, b(2) {{ }} }};"),
    ("cudasim_host int f() { }", COLD + " int f() { }"),
    ("struct S { cudasim_device int f() { if (a) { } } };", "struct S { int f() { if (a) { } } };"),
    ("template <class T> T f(T x) { if (x) { } for (;;) { } }", None),
    ("inline int f() { } constexpr int g() { } bool operator<(S a, S b) { }", None),
    ("extern \"C\" int f() { } [[nodiscard]] int g() { } auto l = [](int x) { if (x) { } };", None),
    ("int x = 1; enum E { A }; S s = { f(1), { 2 } }; union { int a; } u;", None),
    ("void f() try { } catch (...) { }", None),
]

for text in SAME:
    check(text + "\n", text + "\n")
for text, wanted in CHANGED:
    for form in text, spread(text):
        check(f'{BEFORE}{{ {form} }}\n', f'{BEFORE}{{ {launches(wanted)} }}\n{of_both(text)}')
    if "managed" not in text and "# 8" not in text:
        check(f'cudasim_sealed_from_here;\n{BEFORE}{{ {text} }}\n', f'cudasim_sealed_from_here;\n{BEFORE}{{ {without_records(wanted)} }}\n')
for text, wanted in FILES:
    for form in text, spread(text) if "# 8" not in text else text:
        check(form + "\n", (wanted or text) + "\n")
for text, wanted in MARKED:
    for form in text, spread(text):
        check(f"cudasim_marks_host; {form}\n", f"; {wanted or text}\n")
for text, wanted in PTX:
    check(f'{BEFORE}{{ {text} }}\n', f'{BEFORE}{{ {wanted} }}\n')
for text, wanted in WRONG:
    status, out, err = run(f'{BEFORE}{{ {text} }}\n')
    if status != 1 or out != "" or f"{'a.h' if 'a.h' in text else 'a.cu'}:8: error: cu2cpp: " not in err or wanted not in err:
        fail(text, f"status {status}: {err.strip()}\n    wanted {wanted}")

for text, wanted in CALLS:
    for form in text, spread(text) if "#" not in text else text:
        status, out, err = run(f'# 8 "a.cu"\n{form}\n')
        if (status != 0) != (wanted is not None) or (wanted or "") not in err or err.count("\n") != status:
            fail(form, f"status {status}: {err.strip()}\n    wanted {wanted}")

# A program that is being written: a mark is missing, or all that follows it. The compiler says so, and
# must be given something to say it of.
WRITTEN = """cudasim_global void cudasim_launch_bounds(64, 2) k(int *x, int n) {
    extern cudasim_shared float all[]; __shared__ int a[32], b;
    for (int i = threadIdx.x; i < n; i += blockDim.x) { a[i % 32] = x[i]; asm volatile("mov.u32 %0, %laneid;" : "=r"(b)); }
    __syncthreads();
}
cudasim_device int constant;
template <class T> cudasim_global void l(T *x) { if (x) { *x = T{}; } }
int main() { k<<<dim3(1, 2), 64, 0, 0>>>(f(1, "("), 3); l<int><<<1, 1>>>(x); }
"""
typos = 0
for at in re.finditer(r"[][(){}<>;,\"']", WRITTEN):
    for typo in WRITTEN[:at.start()] + WRITTEN[at.end():], WRITTEN[:at.start()], WRITTEN[:at.end()]:
        typos += 1
        status, out, err = run(f'# 7 "a.cu"\n{typo}\n')
        if (status, bool(out)) not in ((0, True), (1, False)) or (status == 1) != ("a.cu:" in err):
            fail(typo, f"status {status}: {err.strip()}")

count = typos + len(SAME) + 3 * len(CHANGED) + 2 * len(FILES) + 2 * len(MARKED) + len(PTX) + len(WRONG) + 2 * len(CALLS)
print(f"cu2cpp: {count} cases, {failures} failed")
sys.exit(failures > 0)
