[(list) (record) (group) (pattern)] @fold
