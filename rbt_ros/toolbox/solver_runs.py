def names():
    return ()


def run(*a):
    raise NotImplementedError
