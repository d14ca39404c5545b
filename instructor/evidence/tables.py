"""Evidence ``table``: a file of rows that the pair decides, compared with what is true."""

from instructor.evidence.bench import Bench, Finding, Unusable
from lab.workshop import Evidence


def judge(evidence: Evidence, bench: Bench) -> Finding:
    """Compare the pair's word for each row; name the rows to look at again, not the answer."""
    file, column = evidence.options["file"], evidence.options["column"]
    truth = bench.answers.tables[evidence.options["table"]]
    try:
        rows = bench.load(file)
    except Unusable as error:
        return Finding("fail", str(error), evidence.title)
    if not isinstance(rows, dict):
        return Finding(
            "fail", f"{file} is not an object with a row for each situation.", evidence.title
        )
    said = {name: row.get(column) if isinstance(row, dict) else None for name, row in rows.items()}
    empty = [name for name in truth if said.get(name) is None]
    if empty:
        found = f"{len(empty)} of {len(truth)} rows are not decided yet: {', '.join(empty[:4])}."
        return Finding("fail", found, evidence.title)
    wrong = [name for name in truth if said[name] != truth[name]]
    if wrong:
        found = (
            f"{len(wrong)} of {len(truth)} rows differ from what happens: {', '.join(wrong[:4])}."
        )
        return Finding("fail", found, evidence.title)
    return Finding("pass", f"All {len(truth)} rows agree with what happens.")
