"""The page that reads and repairs databases in the browser. `python -m filterblock.page` opens it."""

import pathlib
import sys
import webbrowser

#: The page, one file that needs no network. Packages that were not made by `.ci/release` lack it.
PATH = pathlib.Path(__file__).with_name("page.html")


def main() -> None:
    """Opens the page, and prints where it is."""
    if not PATH.exists():
        sys.exit("filterblock: this package was built without the page")
    print(PATH)
    webbrowser.open(PATH.as_uri())


if __name__ == "__main__":
    main()
