"""Lets Chromium write the Local Storage in this folder, in three sessions.

    python make.py [path of Chromium]
"""

import functools
import http.server
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

PAGE = """<!doctype html><meta charset="utf-8"><script>
switch (location.search) {
case "?1":
  for (let i = 0; i < 20; i++) localStorage.setItem("item " + i, "first " + i);
  localStorage.setItem("ключ", "значение");
  localStorage.setItem("café", "naïve");
  localStorage.setItem("filler", "x".repeat(600000));
  break;
case "?2":
  for (let i = 0; i < 20; i += 4) localStorage.removeItem("item " + i);
  localStorage.setItem("item 1", "second 1");
  localStorage.removeItem("filler");
  break;
case "?3":
  localStorage.removeItem("ключ");
  localStorage.setItem("last", "3");
}
document.title = localStorage.length;
</script>"""


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def main():
    here = pathlib.Path(__file__).resolve().parent
    chromium = sys.argv[1] if len(sys.argv) > 1 else "chromium"
    with tempfile.TemporaryDirectory() as folder:
        site, profile = pathlib.Path(folder, "site"), pathlib.Path(folder, "profile")
        site.mkdir()
        (site / "index.html").write_text(PAGE, encoding="utf-8")
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 8765), functools.partial(Handler, directory=site))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for session in (1, 2, 3):
            options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}"]
            waits = ["--timeout=6000", "--virtual-time-budget=20000", "--dump-dom"]
            page = f"http://127.0.0.1:8765/?{session}"
            run = subprocess.run([chromium, *options, *waits, page], capture_output=True, text=True, check=True)
            assert f"<title>{[23, 17, 17][session - 1]}</title>" in run.stdout, run.stdout
        for old in [*here.glob("*.ldb"), *here.glob("*.log"), *here.glob("MANIFEST-*"), here / "CURRENT"]:
            old.unlink(missing_ok=True)
        for file in (profile / "Default/Local Storage/leveldb").iterdir():
            if file.suffix in (".ldb", ".log") or file.name.startswith(("MANIFEST-", "CURRENT")):
                shutil.copy(file, here)


if __name__ == "__main__":
    main()
