# The arrows of the house: an include may point down or sideways, never up (CONTRIBUTING.md).
#
#   labs, solutions -> common -> kernels       grader -> common, kernels
#   Nobody includes labs/ or solutions/; only labs/NN/tests.c and unit tests include grader/.
function folder(path) { return path ~ /\// ? substr(path, 1, index(path, "/") - 1) : "" }
BEGIN {
    may["kernels"] = "kernels"
    may["common"] = "common kernels"
    may["grader"] = "grader common kernels"
    may["labs"] = may["solutions"] = "common kernels"
}
match($0, /^[ \t]*#[ \t]*include[ \t]+"[^"]+"/) {
    split($0, part, "\"")
    from = folder(FILENAME); to = folder(part[2]); allowed = may[from]
    if (FILENAME ~ /_test\.c$/ || FILENAME ~ /^labs\/[^\/]+\/tests\.c$/)
        allowed = "grader common kernels"
    if (to == "") {
        printf "%s:%d: write the path from the root: %s\n", FILENAME, FNR, part[2]; bad = 1
    } else if (index(" " allowed " ", " " to " ") == 0) {
        printf "%s:%d: %s/ must not include %s\n", FILENAME, FNR, from, part[2]; bad = 1
    }
}
END { exit bad }
