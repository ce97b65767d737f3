"""Makes package/filterblock/_reports.py, the types of reports, from the schemas of the program's JSON.

    python make_reports.py [--check]

With --check it only compares.
"""

import json
import keyword
import pathlib
import re
import sys
import textwrap
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
TARGET = HERE / "package/filterblock/_reports.py"
COMMANDS = ["inspect", "verify", "tune", "rebuild", "repair"]
# Names other than command and definition together.
NAMES = {
    ("inspect", "entries"): "EntryCount",
    ("inspect", "distinct_keys"): "DistinctKeys",
    ("verify", "verdict"): "Verdict",
    ("verify", "finding"): "Finding",
    ("tune", "tuning"): "Tuning",
    ("tune", "tuned_level"): "TuneLevel",
}
TAKEN = set(dir(dict))

HEAD = '''"""The types of reports. A name that Python uses itself has an underscore behind it. Made by make_reports.py from the schemas in docs/schema."""

from typing import Any, ClassVar, Literal


class Report(dict[str, Any]):
    """A part of a report: a dictionary whose fields are properties as well."""

    __slots__ = ()
    _parts: ClassVar[dict[str, type["Report"]]] = {}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({super().__repr__()})"
'''


def class_name(command: str, definition: str) -> str:
    """The name of the class of a definition."""
    parts = [command, *definition.split("_")]
    return NAMES.get((command, definition)) or "".join(part.capitalize() for part in parts)


def type_of(schema: dict[str, Any], command: str) -> tuple[str, str | None]:
    """The annotation for a value, and the class of its objects."""
    if "$ref" in schema:
        name = class_name(command, schema["$ref"].rsplit("/", 1)[-1])
        return name, name
    if "anyOf" in schema:
        parts = [type_of(part, command) for part in schema["anyOf"]]
        found = [part for _, part in parts if part]
        assert len(set(found)) <= 1, schema
        return " | ".join(part for part, _ in parts), found[0] if found else None
    if "enum" in schema:
        known = ", ".join(json.dumps(name) for name in schema["enum"] if name is not None)
        return f"Literal[{known}]" + (" | None" if None in schema["enum"] else ""), None
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    names: list[str] = []
    part = None
    for kind in kinds:
        if kind == "array":
            item, part = type_of(schema["items"], command)
            names.append(f"list[{item}]")
        else:
            plain = {"integer": "int", "number": "float", "string": "str", "boolean": "bool", "null": "None"}
            names.append(plain[kind] if kind != "object" else "dict[str, Any]")
    assert names, schema
    return " | ".join(names), part


def doc(text: str, indent: str) -> str:
    """A docstring."""
    text = re.sub(r"`([^`]*)`", r"`\1`", text).replace("Null:", "None:").replace("null", "None").replace("\\", "\\\\")
    lines = textwrap.wrap(text, 110 - len(indent))
    if len(lines) == 1 and len(lines[0]) < 100:
        return f'{indent}"""{lines[0]}"""\n'
    return f'{indent}"""' + f"\n{indent}".join(lines) + f'\n{indent}"""\n'


def class_of(command: str, name: str, schema: dict[str, Any], is_line: bool) -> str:
    """The class of a definition."""
    what = schema.get("description") or f"A {'line' if is_line else 'part'} of what `{command}` finds."
    fields, parts = [], []
    for field, value in schema["properties"].items():
        annotation, part = type_of(value, command)
        if part:
            parts.append(f'"{field}": {part}')
        is_optional = field not in schema.get("required", [])
        if is_optional and "None" not in annotation:
            annotation += " | None"
        # A method of dictionaries, or a word of the language.
        known_as = f"{field}_" if field in TAKEN or keyword.iskeyword(field) else field
        get = f'self.get("{field}")' if is_optional else f'self["{field}"]'
        text = doc(value.get("description", "See the class."), " " * 8)
        fields.append(
            f"    @property\n    def {known_as}(self) -> {annotation}:\n{text}"
            f"        return {get}  # type: ignore[no-any-return]\n"
        )
    known = f"    _parts = {{{', '.join(parts)}}}\n" if parts else ""
    return f"class {name}(Report):\n{doc(what, '    ')}\n    __slots__ = ()\n{known}\n" + "\n".join(fields)


def needs(schema: Any) -> set[str]:
    """The definitions that a schema refers to."""
    if isinstance(schema, dict):
        here = {schema["$ref"].rsplit("/", 1)[-1]} if "$ref" in schema else set()
        return here.union(*map(needs, schema.values()))
    return set().union(*map(needs, schema)) if isinstance(schema, list) else set()


def main() -> None:
    classes, names = [HEAD], ["Report"]
    lines: dict[str, dict[str, str]] = {}
    for command in COMMANDS:
        schema = json.loads((HERE.parent / "docs/schema" / f"{command}.json").read_text(encoding="utf-8"))
        left, done = dict(schema["$defs"]), set[str]()
        whole = {line["$ref"].rsplit("/", 1)[-1] for line in schema["oneOf"]}
        lines[command] = {}
        while left:
            ready = next(name for name, of in left.items() if needs(of) <= done | {name})
            of = left.pop(ready)
            done.add(ready)
            name = class_name(command, ready)
            names.append(name)
            classes.append(class_of(command, name, of, ready in whole))
            if ready in whole:
                objects = of["properties"]["object"]
                for kind in objects["enum"]:
                    lines[command][kind] = name
    table = "".join(
        f'    "{command}": {{{", ".join(f"{json.dumps(kind)}: {name}" for kind, name in of.items())}}},\n'
        for command, of in lines.items()
    )
    classes.append(f"_LINES: dict[str, dict[str, type[Report]]] = {{\n{table}}}\n")
    all_names = "".join(f'    "{name}",\n' for name in sorted(names))
    made = "\n\n".join(classes) + f"\n__all__ = [\n{all_names}]\n"
    if sys.argv[1:] == ["--check"]:
        if TARGET.read_text(encoding="utf-8") != made:
            sys.exit(f"{TARGET} is not as the schemas make it: run python make_reports.py")
    else:
        TARGET.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
