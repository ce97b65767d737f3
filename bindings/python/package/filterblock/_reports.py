"""What inspect(), verify(), tune(), rebuild() and repair() return."""

from typing import Any

__all__ = ["Report"]


class Report(dict[str, Any]):
    """A line of the program's `--json`, or an object in one: a dictionary whose fields are attributes, too.

    The fields are those of the command's JSON schema (docs/schema). With an underscore after it every name is a field's:
    `from_`, and `keys_` where `keys` is the method of a dictionary.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        for field in (name, name.removesuffix("_")):
            if field in self:
                return self[field]
        raise AttributeError(f"a report of {self.get('object', 'a part')!r} has no field {name!r}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({super().__repr__()})"
