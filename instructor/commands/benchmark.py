"""``instructor benchmark``: how fast grading is, against plain tools in the same run."""

from typing import Annotated

import typer
from rich.console import Console

WORKSHOP_HELP = "The workshop to grade; the first one without this."
GROWTH_HELP = "Also grade classes of these sizes, and watch time and memory; 0 for none."
RIVALS_HELP = "The Python that has nbgrader or otter-grader, if it is not ours."


def benchmark(
    workshop: Annotated[str, typer.Option(help=WORKSHOP_HELP)] = "",
    submissions: Annotated[int, typer.Option(min=1, help="How many submissions.")] = 4,
    rounds: Annotated[int, typer.Option(min=1, help="How often, in turns.")] = 1,
    workers: Annotated[str, typer.Option(help="How many at once.")] = "1,2",
    growth: Annotated[str, typer.Option(help=GROWTH_HELP)] = "10,50",
    rivals: Annotated[str, typer.Option(help=RIVALS_HELP)] = "",
) -> None:
    """Measure grading against plain tools that do the same work; takes some minutes."""
    from instructor.benchmark import Plan, measure
    from instructor.benchmark.tables import print_results

    console = Console()
    plan = Plan(workshop, submissions, rounds, numbers(workers), numbers(growth), rivals)
    results = measure(plan, lambda text: console.print(f"… {text}", highlight=False))
    print_results(results, console)


def numbers(text: str) -> tuple[int, ...]:
    """Read a list of numbers as an option has it; nought is none."""
    try:
        numbers = tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is no list of numbers such as 10,100") from error
    if any(number < 0 for number in numbers):
        raise typer.BadParameter(f"{text!r} has a number below nought")
    return tuple(number for number in numbers if number)
