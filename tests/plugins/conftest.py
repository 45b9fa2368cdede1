collect_ignore = ["acme"]  # a package of its own, which tests build
