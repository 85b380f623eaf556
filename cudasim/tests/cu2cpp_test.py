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


def launches(text):
    """In what is expected, a launch is written as in a graded file: with the kernel's name in the place of two lambdas."""
    def lambdas(match):
        name = match[1]
        return (f'cudasim_launch_named(HERE, "{name}", [&](auto cudasim_get) -> decltype(cudasim_get({name})) '
                f"{{ return cudasim_get({name}); }}, [&](auto... cudasim_a) -> decltype({name}(cudasim_a...)) "
                f"{{ return {name}(cudasim_a...); }}")
    return re.sub(r'cudasim_launch\(HERE, "([^"]*)", \1 ?', lambdas, text)


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
    ("k << <1, 2 >> >(a);", 'cudasim_launch(HERE, "k", k , 1, 2)(a);'),
    ("k<<<1, v<w<3> > >>>(a);", 'cudasim_launch(HERE, "k", k, 1, v<w<3> >)(a);'),
    ("operator<< <int>(a);", "operator<< <int>(a);"),
    ("cudasim_launch_kernel(F, L, true, \"k\", (void *)k, 1, 2);", 'cudasim_launch_kernel(F, L, true, "k", k, 1, 2);'),
    ("cudasim_launch_kernel(F, L, f(1, 2), \"k\", (const void*)k<3>, 1);", 'cudasim_launch_kernel(F, L, f(1, 2), "k", k<3>, 1);'),
    ("cudasim_launch_kernel(F, L, true, \"k\", k, 1, 2);", 'cudasim_launch_kernel(F, L, true, "k", k, 1, 2);'),
    ("} __managed__ int x; {", "} int x; {"),
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
    ('asm volatile("mov.u32 %0, %laneid;" : "=r"(x));', "unsupported: inline PTX"),
    ('do asm("nop"); while (0);', "unsupported: inline PTX"),
    ('if (x) {} else asm("nop");', "unsupported: inline PTX"),
    ('here: __asm__("nop");', "unsupported: inline PTX"),
    ('} int y asm("x"); {', "unsupported: inline PTX"),
    ('} cudasim_sealed_from_here;\n# 8 "a.h" 1 3\nvoid g() { asm("nop"); }\n# 8 "a.cu"\n{', "unsupported: inline PTX"),
    ("} cudasim_sealed_from_here; int g() { return __builtin_ia32_pause(), 1; } {", "a builtin of the CPU"),
    ("} cudasim_sealed_from_here; __attribute__((always_inline)) int g(); {", "unsupported: this attribute"),
    ("} cudasim_sealed_from_here; __attribute__((__no_sanitize__(1))) int g(); {", "unsupported: this attribute"),
    ("} cudasim_sealed_from_here; __managed__ int x; {", "unsupported: managed memory"),
    ("} __shared__ int x; {", "a __shared__ variable outside of a function"),
    ("} namespace n { __shared__ int x; ", "a __shared__ variable outside of a function"),
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


for text in SAME:
    check(text + "\n", text + "\n")
for text, wanted in CHANGED:
    for form in text, spread(text):
        check(f'# 7 "a.cu"\nvoid f()\n{{ {form} }}\n', f'# 7 "a.cu"\nvoid f() {{ {launches(wanted)} }}\n')
    if "managed" not in text and "# 8" not in text:
        check(f'cudasim_sealed_from_here;\nvoid f()\n{{ {text} }}\n', f'cudasim_sealed_from_here;\nvoid f() {{ {wanted} }}\n')
for text, wanted in WRONG:
    status, out, err = run(f'# 7 "a.cu"\nvoid f()\n{{ {text} }}\n')
    if status != 1 or out != "" or f"{'a.h' if 'a.h' in text else 'a.cu'}:8: error: cu2cpp: " not in err or wanted not in err:
        fail(text, f"status {status}: {err.strip()}\n    wanted {wanted}")

count = len(SAME) + 3 * len(CHANGED) + len(WRONG)
print(f"cu2cpp: {count} cases, {failures} failed")
sys.exit(failures > 0)
