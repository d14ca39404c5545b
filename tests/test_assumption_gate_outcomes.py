"""The checks that you can see, one group for each block. They read your files; do not edit them.

The grader runs its own copy of this file. Your own tests belong into ``test_assumption_gate.py``.
"""

import re
from typing import Any

from lab.outcomes import Fixtures, lab_module, stop

FIXTURES = Fixtures("assumption_gate")
SCHEMA = "lab/ledger.schema.json"


def transcript(name: str) -> Any:
    found = FIXTURES.read(name)
    problem = lab_module("ledger_transcript").transcript_problem(found)
    if problem:
        stop(f"{name}: {problem}. {FIXTURES.get_back(name)}")
    return found


# Ledgers of these checks: nothing in them is in your fixtures.


def ledger(*claims: dict[str, Any], tool: str = "ticket.update", **args: Any) -> dict[str, Any]:
    """Make a ledger; without arguments, the call uses every claim."""
    used = args or {claim["name"]: claim["value"] for claim in claims if "name" in claim}
    pending = {"name": tool, "args": used}
    return {"run_id": "check", "claims": list(claims), "pending_tool": pending}


def claim(name: str = "ticket_id", **changes: Any) -> dict[str, Any]:
    """Make a claim in which nothing is wrong, then change it."""
    sourced = {"tag": "retrieved", "source_pointer": "tools.ticket.get:result.field"}
    return {"name": name, "value": f"some {name}", **sourced, "required_for": [], **changes}


def assumed(name: str, **changes: Any) -> dict[str, Any]:
    return claim(name, tag="assumed", source_pointer=None, **changes)


def refusal(document: Any, name: str) -> str:
    """Give the text of the gate's refusal, or stop with what happened in its place."""
    gate = lab_module("assumption_gate")
    try:
        gate.assert_tool_args_sourced(document)
    except gate.AssumptionGateError as error:
        return str(error)
    except Exception as error:
        raised = f"{type(error).__name__}: {error}"
        stop(f"Your gate raises {raised} for {name}, not AssumptionGateError.")
    stop(f"Your gate lets {name} through.")


def accepted(document: Any, name: str) -> None:
    gate = lab_module("assumption_gate")
    try:
        value = gate.assert_tool_args_sourced(document)
    except gate.AssumptionGateError as error:
        stop(f"Your gate refuses {name}: {error}")
    except Exception as error:
        stop(f"Your gate crashes on {name} with {type(error).__name__}: {error}")
    if value is not None:
        stop(f"Your gate returns {value!r} for {name}; it returns nothing when the call may go.")


def expect_said(document: Any, name: str, text: str) -> None:
    said = refusal(document, name)
    if text not in said:
        stop(f"The refusal of {name} does not say “{text}”: {said}")


# Block 1: frame the bug


def answers() -> dict[str, str]:
    rows = FIXTURES.read("invented_value.json")
    rows = rows if isinstance(rows, dict) else {}
    found = {
        name: row.get("answer") if isinstance(row, dict) else None for name, row in rows.items()
    }
    names = ("value", "first_call", "write", "source")
    open_rows = [name for name in names if not isinstance(found.get(name), str) or not found[name]]
    if open_rows:
        shown = f"{open_rows[0]} says {found.get(open_rows[0])!r}"
        stop(f'Open rows: {", ".join(open_rows)}. {shown}; write a text, in quotes: "2".')
    return found


def calls() -> list[dict[str, Any]]:
    return lab_module("ledger_agent").run(transcript("missing_id_transcript.json"))


def test_every_question_about_the_run_is_answered() -> None:
    """Each row of invented_value.json has an answer, and the source is one of the four."""
    places = ("user_message", "ticket.search", "ticket.get", "the agent")
    if answers()["source"] not in places:
        stop(f"source says {answers()['source']!r}; expected one of: {', '.join(places)}.")


def test_the_value_that_is_named_stands_in_no_source() -> None:
    """The value is an argument of the run, and neither the user nor a tool supplied it."""
    value = answers()["value"]
    if not any(value in call["args"].values() for call in calls()):
        stop(f"No call of the run has the argument value {value!r}.")
    help_ = lab_module("ledger_transcript")
    said = transcript("missing_id_transcript.json")
    sources = [f"user_message:{n}" for n in range(len(help_.user_messages(said)))]
    sources += [pointer for pointer, _ in help_.result_values(said)]
    found = next((pointer for pointer in sources if help_.grounds(said, pointer, value)), None)
    if found:
        stop(f"{value!r} is not invented: it stands in {found}.")


def test_the_call_and_the_write_that_are_named_use_the_value() -> None:
    """first_call is the first call with the value, write is a write tool that was given it."""
    said = answers()
    using = [
        (str(n), c["tool"]) for n, c in enumerate(calls(), 1) if said["value"] in c["args"].values()
    ]
    if said["first_call"] not in [number for number, _ in using[:1]]:
        stop(f"Call {said['first_call']} is not the first call with {said['value']!r}.")
    writes = lab_module("assumption_gate").WRITE_TOOLS
    if said["write"] not in [tool for _, tool in using if tool in writes]:
        stop(f"{said['write']} is no write tool, or was not given {said['value']!r}.")


# Block 2: ledger schema


def expect_schema_refusal(document: Any, what: str) -> None:
    errors = FIXTURES.schema_errors(SCHEMA, ledger(claim()))
    if errors:
        stop(f"Your schema refuses a good ledger: {errors[0]}.")
    if not FIXTURES.schema_errors(SCHEMA, document):
        stop(f"Your schema accepts a ledger {what}.")


def test_the_schema_accepts_the_ledgers_that_you_were_given() -> None:
    """The schema has nothing to say about the two ledgers that nobody edits."""
    for name in ("ticket_update_assumed_assignee.json", "ticket_update_two_sourced.json"):
        errors = FIXTURES.schema_errors(SCHEMA, FIXTURES.read(name))
        if errors:
            stop(f"Your schema refuses {name}, at {errors[0]}.")


def test_the_schema_knows_the_five_tags_and_no_other() -> None:
    """tag is one of observed, retrieved, user, derived, assumed."""
    for tag in ("observed", "retrieved", "user", "derived", "assumed"):
        errors = FIXTURES.schema_errors(SCHEMA, ledger(claim(tag=tag)))
        if errors:
            stop(f"Your schema refuses the tag {tag}: {errors[0]}.")
    for tag in ("guess", "Assumed", "", None):
        expect_schema_refusal(ledger(claim(tag=tag)), f"with the tag {tag!r}")


def test_the_schema_requires_every_field_of_the_table() -> None:
    """A claim has all five fields, the pending tool both of its own."""
    for field in claim():
        document = ledger(claim())
        del document["claims"][0][field]
        expect_schema_refusal(document, f"with a claim that has no {field}")
    for field in ("name", "args"):
        document = ledger(claim())
        del document["pending_tool"][field]
        expect_schema_refusal(document, f"with a pending tool that has no {field}")


def test_the_schema_types_every_field_of_the_table() -> None:
    """A number is refused for each field but value, and a text where a list or object belongs."""
    for field in ("name", "tag", "source_pointer", "required_for"):
        expect_schema_refusal(ledger(claim(**{field: 5})), f"with 5 as a claim's {field}")
    for field, wrong in (("name", 5), ("args", "ticket_id=TCK-1")):
        document = ledger(claim())
        document["pending_tool"][field] = wrong
        expect_schema_refusal(document, f"with {wrong!r} as the pending tool's {field}")
    for tools in ("ticket.update", [5]):
        expect_schema_refusal(ledger(claim(required_for=tools)), f"with required_for {tools!r}")


def test_the_schema_refuses_a_key_that_nobody_named() -> None:
    """Ledger, claim and pending tool have additionalProperties false."""
    for place in ("ledger", "claim", "pending tool"):
        document = ledger(claim())
        parts = {"claim": document["claims"][0], "pending tool": document["pending_tool"]}
        parts.get(place, document)["confidence"] = 0.9
        expect_schema_refusal(document, f"with an extra key in the {place}")


LABELLED = [
    ("team", "billing"),
    ("ticket_id", "TCK-20771"),
    ("last_status", "waiting_on_customer"),
    ("customer_region", "EU"),
]


def claims_of(document: Any) -> list[dict[str, Any]]:
    claims = document.get("claims") if isinstance(document, dict) else None
    rows = claims if isinstance(claims, list) else []
    return [row for row in rows if isinstance(row, dict)]


def test_each_label_leads_to_its_value() -> None:
    """In labelled_ledger.json a pointer leads to its value, and an assumption has no pointer."""
    name = "labelled_ledger.json"
    said, document = transcript("support_transcript.json"), FIXTURES.read(name)
    if [(row.get("name"), row.get("value")) for row in claims_of(document)] != LABELLED:
        stop(f"{name} does not have its four claims with their values. {FIXTURES.get_back(name)}")
    for row in claims_of(document):
        expect_right_label(row, said)


def expect_right_label(row: dict[str, Any], said: Any) -> None:
    help_ = lab_module("ledger_transcript")
    name, value, tag = (row.get(key) for key in ("name", "value", "tag"))
    pointer = row.get("source_pointer")
    begins = {"user": "user_message:", "retrieved": "tools."}
    if tag == "assumed":
        sources = [f"user_message:{n}" for n in range(len(help_.user_messages(said)))]
        sources += [place for place, _ in help_.result_values(said)]
        if pointer is not None:
            stop(f"{name} is tagged assumed and has the pointer {pointer!r}; expected null.")
        if any(help_.grounds(said, place, value) for place in sources):
            stop(f"{name} is tagged assumed, and the user or a tool did supply {value!r}.")
    elif tag not in begins:
        stop(f"{name} is tagged {tag!r}. In this transcript: user, retrieved or assumed.")
    elif not isinstance(pointer, str) or not pointer.startswith(begins[tag]):
        stop(f"{name} is tagged {tag}, so its pointer begins with {begins[tag]}")
    elif not help_.grounds(said, pointer, value):
        stop(f"{name}: {pointer} does not lead to {value!r} in support_transcript.json.")


# Block 3: gate and tests


def test_the_gate_refuses_the_assumed_assignee_and_names_it() -> None:
    """ticket_update_assumed_assignee.json is refused, and the text names assignee_email."""
    name = "ticket_update_assumed_assignee.json"
    document = FIXTURES.read(name)
    tags = [row.get("tag") for row in claims_of(document) if row.get("name") == "assignee_email"]
    if tags != ["assumed"]:
        stop(
            f"{name} is not the refused ledger any more; repair its copy. {FIXTURES.get_back(name)}"
        )
    expect_said(document, name, "refusing ticket.update: assignee_email is tagged 'assumed'")


def test_the_gate_lets_a_sourced_call_go() -> None:
    """Where every argument has a source, the gate returns nothing."""
    accepted(FIXTURES.read("ticket_update_two_sourced.json"), "ticket_update_two_sourced.json")


REFUSALS: dict[str, dict[str, Any]] = {
    "claim missing name": ledger(claim(name=None), ticket_id="x"),
    "duplicate claim name: ticket_id": ledger(claim(), claim()),
    "pending_tool.name is required": {**ledger(claim()), "pending_tool": None},
    "ticket_id has unknown tag 'hunch'": ledger(claim(tag="hunch")),
    "ticket_id tag 'observed' requires source_pointer": ledger(
        claim(tag="observed", source_pointer=None)
    ),
    "ticket.update arg 'status' has no claim in the ledger": ledger(claim(), status="open"),
    "ticket_id value does not match ledger claim": ledger(claim(), ticket_id="TCK-1"),
    "refusing ticket.update: status is tagged 'assumed'": ledger(claim(), assumed("status")),
    "status is not listed for ticket.update": ledger(
        claim(), claim("status", required_for=["ticket.close"])
    ),
    "ticket.update needs status": ledger(
        claim(), claim("status", required_for=["ticket.update"]), ticket_id="some ticket_id"
    ),
}


def test_each_refusal_has_its_message() -> None:
    """Each row of the table of refusals is said word for word."""
    for message, document in REFUSALS.items():
        expect_said(document, f"a ledger that has the problem “{message}”", message)


def test_the_gate_refuses_what_has_the_wrong_shape() -> None:
    """A ledger of the wrong shape ends in AssumptionGateError, never in a crash."""
    shapes = {
        "a claim that is null": {**ledger(claim()), "claims": [None]},
        "args that are a text": {
            **ledger(), "pending_tool": {"name": "ticket.update", "args": "ticket_id=TCK-1"}
        },
        "two pending tools in a list": {**ledger(claim()), "pending_tool": [{}, {}]},
        "a tag that is a list": ledger(claim(tag=["assumed"])),
        "a key that nobody named": {**ledger(claim()), "pending_tools": []},
    }  # fmt: skip
    for name, document in shapes.items():
        refusal(document, f"a ledger with {name}")


def test_what_a_ledger_may_leave_out_is_no_crash() -> None:
    """A claim without name, pointer or required_for, and no pending tool, are decided."""
    for field in ("source_pointer", "required_for"):
        document = ledger(assumed("region"), claim(), ticket_id="some ticket_id")
        del document["claims"][0][field]
        accepted(document, f"a ledger whose open question has no {field}")
    nameless = ledger(claim(), ticket_id="some ticket_id")
    del nameless["claims"][0]["name"]
    expect_said(nameless, "a ledger with a claim that has no name", "claim missing name")
    idle = ledger(claim())
    del idle["pending_tool"]
    expect_said(idle, "a ledger without pending_tool", "pending_tool.name is required")


def test_an_assumption_may_stay_where_no_write_uses_it() -> None:
    """An assumed claim passes outside of the arguments, and in the arguments of a read."""
    unused = ledger(claim(), assumed("region"), ticket_id="some ticket_id")
    accepted(unused, "a write that leaves an assumed claim out")
    accepted(ledger(assumed("path"), tool="fs.read"), "a read with an assumed argument")


def test_a_read_is_not_held_to_required_for() -> None:
    """ticket.get may use a claim that lists only ticket.update."""
    document = ledger(claim(required_for=["ticket.update"]), tool="ticket.get")
    accepted(document, "a read whose claim lists only ticket.update")


def test_a_tool_that_nobody_listed_counts_as_a_write() -> None:
    """ticket.delete is in neither set, so it may not use an assumed argument."""
    document = ledger(assumed("ticket_id"), tool="ticket.delete")
    expect_said(document, "ticket.delete with an assumed argument", "refusing ticket.delete")


def test_the_repaired_ledger_goes_through() -> None:
    """ticket_update_sourced_assignee.json goes through; red until you have repaired it."""
    name = "ticket_update_sourced_assignee.json"
    document = FIXTURES.read(name)
    if isinstance(document, dict) and document == FIXTURES.read(
        "ticket_update_assumed_assignee.json"
    ):
        stop(f"{name} is still a copy of the refused ledger. Repair it; leave the gate as it is.")
    accepted(document, name)


# Block 4: exercises A and B


def pending(name: str, tool: str) -> dict[str, Any]:
    """Give the arguments of a fixture's pending tool, or stop where it is another tool."""
    document = FIXTURES.read(name)
    call = document.get("pending_tool") if isinstance(document, dict) else None
    args = call.get("args") if isinstance(call, dict) else None
    if not isinstance(args, dict) or call.get("name") != tool:
        stop(f"The pending tool of {name} is not {tool} with an object of args.")
    return args


def test_the_missing_pointer_is_refused_by_your_gate() -> None:
    """Exercise A: missing_pointer_last_status.json is refused with the message for a pointer."""
    name = "missing_pointer_last_status.json"
    expect_said(FIXTURES.read(name), name, "last_status tag 'retrieved' requires source_pointer")


def test_the_read_goes_through_your_gate() -> None:
    """Exercise B: ticket_get_reads.json reads one ticket, and an assumption stays open in it."""
    name = "ticket_get_reads.json"
    pending(name, "ticket.get")
    accepted(FIXTURES.read(name), name)


def test_the_derived_bucket_goes_through_your_gate() -> None:
    """Exercise B: sla_bucket_derived.json writes a bucket whose pointer names its inputs."""
    name = "sla_bucket_derived.json"
    if "sla_bucket" not in pending(name, "ticket.update"):
        stop(f"{name} does not pass sla_bucket any more. {FIXTURES.get_back(name)}")
    rows = [row for row in claims_of(FIXTURES.read(name)) if row.get("name") == "sla_bucket"]
    pointer = str(rows[0].get("source_pointer")) if rows else ""
    if not re.fullmatch(r"derive\.\w+\(last_status, ?opened_at\)", pointer):
        stop(
            f"The pointer of sla_bucket is {pointer!r}; it has the form derive.NAME(input, input)."
        )
    accepted(FIXTURES.read(name), name)


def test_the_file_is_written_through_your_gate() -> None:
    """Exercise B: fs_write_reply.json writes a file, each argument with a claim of its own."""
    name = "fs_write_reply.json"
    if "path" not in pending(name, "fs.write"):
        stop(f"{name} does not pass a path any more. {FIXTURES.get_back(name)}")
    tags = {row.get("name"): row.get("tag") for row in claims_of(FIXTURES.read(name))}
    for field, tag in (("path", "user"), ("body", "observed")):
        if tags.get(field) != tag:
            stop(f"In {name} the tag of {field} is {tags.get(field)!r}; who supplied it?")
    accepted(FIXTURES.read(name), name)


def test_your_gate_agrees_with_your_policy_table() -> None:
    """Each row of policy_table.json says allow or reject, and your gate says the same."""
    rows = FIXTURES.read("policy_table.json")
    if not isinstance(rows, dict) or len(rows) != 5:
        stop(f"It does not have its five rows any more. {FIXTURES.get_back('policy_table.json')}")
    for name, row in rows.items():
        word = row.get("result") if isinstance(row, dict) else None
        if word not in ("allow", "reject"):
            stop(f"The row {name} says {word!r}; write allow or reject.")
        document = replayed(name, row)
        if word == "allow":
            accepted(document, f"the row {name}, which your table allows")
        else:
            refusal(document, f"the row {name} (your table: reject)")


def replayed(name: str, row: dict[str, Any]) -> dict[str, Any]:
    """Make the ledger that a row describes: a ticket update that uses its field, or does not."""
    told = claim(name, tag=row.get("tag"), source_pointer=row.get("source_pointer"))
    other = claim("comment")
    if row.get("in_write_args"):
        return ledger(other, told)
    return ledger(other, told, comment=other["value"])


# Block 5: debrief


def board() -> dict[str, dict[str, Any]]:
    rows = FIXTURES.read("board.json")
    good = isinstance(rows, dict) and all(isinstance(row, dict) for row in rows.values())
    if not good or len(rows) != 7:
        stop(f"It does not have its seven rows any more. {FIXTURES.get_back('board.json')}")
    return rows


def test_every_row_of_the_board_is_decided() -> None:
    """Each row of board.json says yes or no in both of its open columns."""
    for name, row in board().items():
        for column in ("allowed_for_writes", "may_stay_assumed"):
            if row.get(column) not in ("yes", "no"):
                stop(f"The row {name} says {row.get(column)!r} under {column}; write yes or no.")


def test_two_fields_that_never_may_are_named() -> None:
    """never_assumed of debrief.json names two fields of the board that may not stay assumed."""
    document = FIXTURES.read("debrief.json")
    names = document.get("never_assumed") if isinstance(document, dict) else None
    rows = board()
    if not isinstance(names, list) or len({str(name) for name in names}) < 2:
        stop("never_assumed does not name two fields of the board.")
    for name in names:
        if not isinstance(name, str) or name not in rows:
            stop(f"never_assumed names {name!r}, which is no field of the board.")
        if rows[name].get("may_stay_assumed") != "no":
            stop(f"never_assumed names {name}, and your board lets it stay assumed.")


def test_one_refused_call_is_explained_in_one_sentence() -> None:
    """rejected_call of debrief.json names the tool and the argument of a ledger you saw refused."""
    document = FIXTURES.read("debrief.json")
    sentence = document.get("rejected_call") if isinstance(document, dict) else None
    if not isinstance(sentence, str) or len(sentence.split()) < 6:
        stop("rejected_call of debrief.json is no sentence yet.")
    refused = {
        "ticket_update_assumed_assignee.json": "assignee_email",
        "missing_pointer_last_status.json": "last_status",
        "labelled_ledger.json": "customer_region",
    }
    named = [file for file, field in refused.items() if field in sentence]
    if not named or "ticket.update" not in sentence:
        stop(
            "rejected_call does not name the tool ticket.update and the argument that was at fault."
        )
    refusal(FIXTURES.read(named[0]), named[0])


# Station: extraction


def test_every_extracted_claim_leads_to_its_value() -> None:
    """extract_claims finds what was said and what was returned, and each pointer leads there."""
    tags = {row["name"]: row["tag"] for row in extracted()}
    wanted = {"ticket_id": "user", "team": "user", "last_status": "retrieved"}
    wrong = next((name for name, tag in wanted.items() if tags.get(name) != tag), None)
    if wrong:
        stop(f"{wrong} is tagged {tags.get(wrong)!r}; it stands in the transcript.")


def test_what_stands_nowhere_stays_assumed() -> None:
    """A value that neither the user nor a tool supplied is assumed, whatever a model says of it."""
    for row in extracted():
        if row["name"] in ("customer_region", "assignee_email") and row["tag"] != "assumed":
            stop(f"{row['name']} is tagged {row['tag']!r}, and nobody supplied it.")


def test_the_committed_claims_lead_to_their_values() -> None:
    """The claims in extracted_ledger.json meet the same test, whoever made them."""
    document = FIXTURES.read("extracted_ledger.json")
    if not claims_of(document):
        stop("extracted_ledger.json has no claims yet.")
    expect_grounded(document["claims"])


def extracted() -> list[dict[str, Any]]:
    extraction = lab_module("extract_claims")
    try:
        claims = extraction.extract_request(FIXTURES.read("extraction_request.json"))
    except Exception as error:
        stop(f"extract_request raises {type(error).__name__}: {error}")
    expect_grounded(claims)
    return claims


def expect_grounded(claims: Any) -> None:
    said = transcript("support_transcript.json")
    for row in claims if isinstance(claims, list) else []:
        if not isinstance(row, dict) or not {"name", "value", "tag"} <= row.keys():
            stop(f"This is no claim with name, value and tag: {row!r}.")
        if row.keys() - {"name", "value", "tag", "source_pointer", "required_for"}:
            stop(f"The claim {row['name']} has keys that no claim has.")
        expect_right_label(row, said)


def test_the_checks_see_the_transcript_that_the_request_holds() -> None:
    """extraction_request.json holds the transcript of support_transcript.json."""
    request = FIXTURES.read("extraction_request.json")
    inside = request.get("transcript") if isinstance(request, dict) else None
    if inside != FIXTURES.read("support_transcript.json"):
        stop(f"It holds another transcript. {FIXTURES.get_back('extraction_request.json')}")
