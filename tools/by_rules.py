"""What tools that know of policy and roster share: the options that name both."""


def add_options(parser):
    parser.add_argument("--policy", help="policy.json")
    parser.add_argument("--roster", help="roster.csv")
    parser.add_argument("--course", help="course.json, which may name both; otherwise that in OUT or above it")
