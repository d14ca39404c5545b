"""JUnit XML: a test suite for each workshop of a submission, a test case for each graded check.

``fail`` is a failure, ``error`` an error, ``blocked`` is skipped. JUnit knows no points, so they
are properties of the suite: ``points`` and ``max_points``, and ``points.<block>`` for each block;
what we could not judge says ``not judged``. Evidence that is not graded is left out: it turns
nothing red.
"""

import re
from pathlib import Path
from xml.etree import ElementTree as Xml

from instructor.report.exports.gradebook import Gradebook, Scored, evidence_text
from instructor.report.model import BlockReport, EvidenceReport, WorkshopReport, write_text
from instructor.report.points import NOT_JUDGED, WorkshopPoints, number_text

ELEMENTS = {"fail": "failure", "error": "error", "blocked": "skipped"}
COUNTS = {"fail": "failures", "error": "errors", "blocked": "skipped"}
# What XML 1.0 has no way to write, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write(book: Gradebook, out: Path) -> list[Path]:
    """Write ``junit.xml`` for the whole class."""
    root = Xml.Element("testsuites")
    for scored in book.submissions:
        for report, points in scored.by_workshop:
            root.append(_suite(scored, report, points))
    _count(
        root, [item for s in book.submissions for w in s.report.workshops for item in _graded(w)]
    )
    Xml.indent(root)
    text = Xml.tostring(root, encoding="unicode")
    write_text(out / "junit.xml", f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n')
    return [out / "junit.xml"]


def clean(text: str) -> str:
    """Take out the characters that XML forbids."""
    return _FORBIDDEN.sub("", text)


def _suite(scored: Scored, report: WorkshopReport, points: WorkshopPoints) -> Xml.Element:
    suite = Xml.Element("testsuite", name=clean(f"{scored.name}/{report.id}"))
    _count(suite, _graded(report))
    suite.append(_properties(points))
    for block in report.blocks:
        for item in block.evidence:
            if item.graded:
                suite.append(_case(report, block, item))
    return suite


def _properties(points: WorkshopPoints) -> Xml.Element:
    values = {"points": points.earned, "max_points": points.possible}
    values |= {f"points.{block.id}": block.earned for block in points.blocks}
    properties = Xml.Element("properties")
    for name, value in values.items():
        text = NOT_JUDGED if value is None else number_text(value)
        Xml.SubElement(properties, "property", name=clean(name), value=text)
    return properties


def _case(report: WorkshopReport, block: BlockReport, item: EvidenceReport) -> Xml.Element:
    case = Xml.Element("testcase", name=clean(item.title), classname=f"{report.id}.{block.id}")
    case.set("time", "0")
    if item.outcome in ELEMENTS:
        problem = Xml.SubElement(case, ELEMENTS[item.outcome], message=clean(item.found))
        problem.text = clean(evidence_text(item))
    return case


def _graded(report: WorkshopReport) -> list[EvidenceReport]:
    return [item for block in report.blocks for item in block.evidence if item.graded]


def _count(element: Xml.Element, items: list[EvidenceReport]) -> None:
    element.set("tests", str(len(items)))
    for outcome, name in COUNTS.items():
        element.set(name, str(sum(item.outcome == outcome for item in items)))
    element.set("time", "0")
