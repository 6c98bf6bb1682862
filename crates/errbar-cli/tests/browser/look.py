"""Pictures of a page as people see it: desktop and phone, light and dark, and on paper.

    python3 look.py report.html FOLDER
"""

import pathlib
import sys

from chromium import Chromium, path


def main():
    page, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    program = path()
    if not program:
        sys.exit("look.py needs Chromium")
    folder.mkdir(parents=True, exist_ok=True)
    with Chromium(program) as browser:
        for name, width, phone in [("desktop", 1200, False), ("phone", 390, True)]:
            for dark in (False, True):
                view = browser.page(width, 900, dark, phone)
                view.open(page.as_uri())
                shade = "dark" if dark else "light"
                view.screenshot(folder / f"{page.stem}-{name}-{shade}.png")
                if name == "desktop" and not dark:
                    view.pdf(folder / f"{page.stem}.pdf")


if __name__ == "__main__":
    main()
