# Lines that are too wide, and comments that were broken to be narrower: a lone ` */` below text.
#
#   awk -f tools/comments.awk FILE...
function bad(what) { print FILENAME ":" FNR ": " what; failed = 1 }
length > 100 { bad("a line ends at column 100") }
/^ *\*\/$/ && FNR > 1 && above !~ /^ *(\*|\/\*\*?$|$)|^       / { bad("the end of the comment is alone on its line") }
{ above = $0 }
END { exit failed }
