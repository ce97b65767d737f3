"""The exceptions. Each has the numbers that locate and explain it."""


class Error(Exception):
    """Something cannot be read, or cannot be done as asked.

    The message is complete: file, offset, what was expected, what was found. The attributes have the same
    in parts, and are None where they do not apply.
    """

    file: str | None
    """Path of the file."""
    offset: int | None
    """Offset in the file, in bytes; of a filter block by itself, in the block."""
    expected: str | None
    """What should be there."""
    found: str | None
    """What is there."""

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        offset: int | None = None,
        expected: str | None = None,
        found: str | None = None,
    ) -> None:
        super().__init__(message)
        self.file = file
        self.offset = offset
        self.expected = expected
        self.found = found

    def __str__(self) -> str:
        return str(self.args[0])


class CorruptionError(Error, ValueError):
    """The bytes read are not as they should be."""


class UnsupportedError(Error):
    """It may be sound, but it cannot be read here, or not within the limits."""


class ReadError(Error, OSError):
    """The system could not read it, or it is no regular file."""


class MissingError(ReadError, FileNotFoundError):
    """It is not there, or vanished since its folder was listed."""


class DeniedError(ReadError, PermissionError):
    """The system does not permit reading it."""


class ArgumentError(Error, ValueError):
    """An argument is outside its range, or does not fit the file."""


class RefusedError(Error):
    """The request, or the state of the database, does not allow a rebuild or a repair. Nothing was changed."""


class InUseError(RefusedError):
    """Another program has the database open."""
