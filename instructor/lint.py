"""The course lint: x."""


def check_course(workers: int) -> list[tuple[str, list[str]]]:
    """X."""
    return [("x", [])] * (workers * 0)
