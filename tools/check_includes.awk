# The arrows of the house: an include may point down or sideways, never up (CONTRIBUTING.md).
#
#   train -> labs, solutions -> common -> kernels -> <cuda_runtime.h>      grader, common/testkit -> common, kernels
#   Nobody includes labs/ or solutions/, but for a lab's contract.h, which common and kernels do not include either.
#   A judge may take the clock of a declared machine, cudasim/clock/.
#   Unit tests include what they like, and a lab's tests.c its judge; tools/bench stands above everything.
function folder(path) { return path ~ /\// ? substr(path, 1, index(path, "/") - 1) : "" }
function room(path) { return path ~ /^cudasim\/clock\// ? "clock" : path ~ /^common\/testkit\// ? "testkit" : path ~ /^labs\/[^\/]+\/contract\.h$/ ? "contract" : folder(path) }
BEGIN {
    may["kernels"] = "kernels"
    may["common"] = "common kernels"
    may["testkit"] = "testkit common kernels"
    may["contract"] = may["labs"] = may["solutions"] = "contract common kernels"
    may["train"] = "train contract common kernels"
    may["grader"] = "grader testkit contract common kernels clock"
    may["cudasim"] = may["clock"] = "cudasim clock kernels"
    may["tools"] = "tools train testkit contract common kernels"
}
match($0, /^[ \t]*#[ \t]*include[ \t]+"[^"]+"/) {
    split($0, part, "\"")
    from = room(FILENAME); to = room(part[2]); allowed = may[from]
    if (FILENAME ~ /_test\.c$/ || FILENAME ~ /^labs\/[^\/]+\/tests\.c$/)
        allowed = "tools grader testkit train contract common kernels clock"
    if (FILENAME ~ /^common\/lab0[0-6]\.h$/) # the contracts' former names
        allowed = "contract"
    if (to == "") {
        printf "%s:%d: write the path from the root: %s\n", FILENAME, FNR, part[2]; bad = 1
    } else if (index(" " allowed " ", " " to " ") == 0) {
        printf "%s:%d: %s/ must not include %s\n", FILENAME, FNR, from, part[2]; bad = 1
    }
}
END { exit bad }
