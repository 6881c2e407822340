# SPDX-License-Identifier: MIT
"""A desk for the window: a display, a session bus with its accessibility, the program on it, and hands to use it with.

The program is $MHAR_VIEWER (else build/app/gui/mhar-viewer of this tree). Exits 77 where Xvfb, dbus-daemon, xdotool or pyatspi are
missing. Every program gets empty folders for settings and data; what it says on stderr is checked when it ends."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

TESTS = Path(os.environ.get("MHAR_TEST_DATA") or Path(__file__).resolve().parent.parent).resolve()
ROOT = TESTS.parent
BUILD = Path(os.environ.get("MHAR_BUILD") or ROOT / "build")
VIEWER = os.path.abspath(os.environ.get("MHAR_VIEWER") or BUILD / "app/gui/mhar-viewer")
PROBE = os.path.abspath(os.environ.get("MHAR_PROBE") or BUILD / "app/cli/mhar-probe")
DEMO = ROOT / "data" / "demo"
TITLE = re.compile("Depth|mhar|single|mini")
# Not ours to mend: the bus of a container, and themes' own.
HARMLESS = re.compile(r"Failed to set fd limit|dconf|Unable to acquire session bus|^\s*$|at-spi|dbus-daemon|SpiRegistry")

# Threads that spin while they wait take the time of what they wait for, in the window and beside it.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

_cases = []
_children = []


class Missing(Exception):
    """Raised by a case that this machine cannot run; says why."""


def need_tools():
    for tool in ("Xvfb", "dbus-daemon", "xdotool"):
        if shutil.which(tool) is None:
            print(f"1..0 # SKIP {tool} is not installed")
            sys.exit(77)
    try:
        import pyatspi  # noqa: F401
    except ImportError:
        print("1..0 # SKIP pyatspi is not installed")
        sys.exit(77)
    if not os.path.exists(VIEWER):
        print("1..0 # SKIP the viewer was not built")
        sys.exit(77)


def start_display(size="1280x800"):
    """A display of our own, and GTK told to use it, without a GPU and without the desktop's settings."""
    read, write = os.pipe()
    _children.append(subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", f"{size}x24", "-nolisten", "tcp"],
                                      pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    os.close(write)
    with os.fdopen(read) as ready:
        number = ready.readline().strip()  # to the line end: a server that finds the pipe closed ends
    if not number:
        raise SystemExit("Xvfb does not start")
    os.environ["DISPLAY"] = f":{number}"
    # The accessibility bus has its socket in the runtime folder, else in ~/.cache/at-spi, where the next desk takes it away.
    os.environ["XDG_RUNTIME_DIR"] = tempfile.mkdtemp(prefix="desk-")
    os.environ.update(GDK_BACKEND="x11", GSK_RENDERER="cairo", GSETTINGS_BACKEND="memory")


def start_desktop():
    """A display and a session bus of our own, before pyatspi is imported."""
    start_display()
    bus = subprocess.Popen(["dbus-daemon", "--session", "--print-address", "--nofork"], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True)
    _children.append(bus)
    os.environ["DBUS_SESSION_BUS_ADDRESS"] = bus.stdout.readline().strip()
    os.environ["NO_AT_BRIDGE"] = "0"
    import pyatspi  # its registry has to be there before the first program looks for it
    from gi.repository import Atspi
    Atspi.set_timeout(PATIENCE * 1000, PATIENCE * 1000)
    list(pyatspi.Registry.getDesktop(0))


def stop_desktop():
    for child in reversed(_children):
        child.terminate()
        child.wait()
    shutil.rmtree(os.environ["XDG_RUNTIME_DIR"], ignore_errors=True)


# How long anything may take before it counts as never: a machine that does other things too takes ten times as long.
PATIENCE = 60


def wait_for(what, seconds=PATIENCE, every=0.05):
    """The first true value of `what ()`; an error naming it after so many seconds."""
    end = time.monotonic() + seconds
    while True:
        try:
            value = what()
        except Exception:  # the tree changes under our hands
            value = None
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds} s in vain for {getattr(what, '__doc__', None) or what.__name__}")
        time.sleep(every)


# A sanitizer's report when the program has ended; who asked for what was never freed: a function of ours, but for main.
LEAKS = re.compile(r"^=+\n==\d+==ERROR: LeakSanitizer", re.M)
OURS = re.compile(r"^ +#\d+ 0x\w+ in (?!main )\S+ \S*/(?:app|core|kernels|probes)/\S+\.c:\d+", re.M)


def leaked_by_others(said):
    """Whether all that went wrong is that GTK, or a library under it, leaks; none of their functions has a name to suppress."""
    before, *report = LEAKS.split(said)
    return len(report) == 1 and "Sanitizer" not in before and "runtime error" not in before and not OURS.search(report[0])


class Viewer:
    def __init__(self, *args, folder, locale="C.UTF-8", settings="", env=None, tokens=1024):
        import pyatspi
        self.pyatspi = pyatspi
        self.folder = Path(folder)
        config = self.folder / "config" / "mhar-probe"
        config.mkdir(parents=True, exist_ok=True)
        if not (config / "settings.ini").exists():
            (config / "settings.ini").write_text(f"[viewer]\ntokens={tokens}\nwindow=256\ndraws=8\n{settings}", "utf-8")
        environment = dict(os.environ, LC_ALL=locale, LANGUAGE="en", XDG_CONFIG_HOME=str(self.folder / "config"),
                           XDG_DATA_HOME=str(self.folder / "data"), XDG_CACHE_HOME=str(self.folder / "cache"),
                           HOME=str(self.folder), MHAR_DATA_DIR=str(ROOT / "data"), OMP_NUM_THREADS="2",
                           MHAR_BACKEND_DIR=str(self.folder))
        if "MHAR_KEEP_LIBRARIES" in os.environ:
            environment.update(LD_PRELOAD=os.environ["MHAR_KEEP_LIBRARIES"],
                               ASAN_OPTIONS=f"{os.environ.get('ASAN_OPTIONS', '')}:verify_asan_link_order=0:fast_unwind_on_malloc=0:"
                                            "malloc_context_size=20")
        environment.update(env or {})
        self.stderr = open(self.folder / "stderr", "w+", encoding="utf-8", errors="replace")
        self.process = subprocess.Popen([VIEWER, *map(os.fspath, args)], env=environment, stderr=self.stderr,
                                        stdin=subprocess.DEVNULL)
        self.app = wait_for(self._find_app)
        self.find("push button")
        self.focus()

    # ---- looking
    def _find_app(self):
        """the program on the accessibility bus"""
        desktop = self.pyatspi.Registry.getDesktop(0)
        for app in desktop:
            if app is not None and app.get_process_id() == self.process.pid and app.childCount > 0:
                return app
        return None

    def window(self):
        return self.app[0]

    def title(self):
        return self.window().name

    def shows(self, at):
        """GTK 4.8 never says "showing"; what is not on the screen has no size."""
        if not at.getState().contains(self.pyatspi.STATE_VISIBLE):
            return False
        try:
            box = at.queryComponent().getExtents(self.pyatspi.WINDOW_COORDS)
        except NotImplementedError:  # a page of a stack, which is no widget
            return True
        return box.width > 0 and box.height > 0

    def walk(self, role=None, name=None, root=None):
        """Every accessible of that role whose name matches, that is on the screen; in tables only where one is the root. Every
        question is a message to the program and back, so as few as possible are put."""
        def below(at, top):
            try:
                kind, children = at.getRoleName(), at.childCount
                alike = (role is None or kind == role) and (name is None or re.search(name, at.name or ""))
                if not alike and (children == 0 or (kind == "tree table" and not top)):
                    return
                if kind not in ("frame", "dialog", "window") and not self.shows(at):
                    return
                if alike:
                    yield at
                if kind == "tree table" and not top:
                    return
                for i in range(children):
                    yield from below(at[i], False)
            except Exception:  # gone meanwhile
                return

        for top in ([root] if root is not None else list(self.app)):
            yield from below(top, True)

    def all(self, role=None, name=None, root=None):
        return list(self.walk(role, name, root))

    def find(self, role=None, name=None, seconds=PATIENCE, **kw):
        """The first of them, when there is one."""
        def one():
            return next(self.walk(role, name, **kw), None)
        one.__doc__ = f"{role} “{name}”"
        return wait_for(one, seconds)

    def cell(self, table, name):
        """A label in that table."""
        return self.find("label", name, root=self.find("tree table", table))

    def text(self, accessible):
        try:
            text = accessible.queryText()
            return text.getText(0, -1)
        except NotImplementedError:
            return accessible.name

    def sentence(self):
        """The line at the bottom."""
        panel = self.window()[0]
        for child in panel:
            if child.getRoleName() == "label" and self.shows(child):
                return child.name
        return ""

    def says(self, pattern, seconds=PATIENCE):
        """Waits until the sentence matches; returns it."""
        def match():
            return re.search(pattern, self.sentence()) and self.sentence()
        match.__doc__ = f"a sentence like “{pattern}”"
        try:
            return wait_for(match, seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}; it says “{self.sentence()}”") from None

    def notice(self, pattern, seconds=PATIENCE):
        """Waits for a label that matches anywhere in the window."""
        return self.find("label", pattern, seconds).name

    # ---- doing
    def focus(self):
        windows = wait_for(lambda: subprocess.run(["xdotool", "search", "--pid", str(self.process.pid)], capture_output=True,
                                                  text=True).stdout.split())
        self.xid = windows[-1]

    def key(self, *keys):
        """Keys to what has the focus; the X server keeps their order, so nothing has to be waited for in between."""
        for key in keys:
            subprocess.run(["xdotool", "key", "--clearmodifiers", key], check=True)

    def type(self, text):
        """Text; a letter that the keyboard has no key for by its number, as GTK takes it."""
        for part in re.split(r"([^ -~])", text):
            if len(part) == 1 and not " " <= part <= "~":
                self.key("ctrl+shift+u", *f"{ord(part):x}", "Return")
            elif part:
                subprocess.run(["xdotool", "type", "--delay", "12", part], check=True)

    def box(self, accessible):
        """The accessible's place in the window, when it has one."""
        return wait_for(lambda: next((b for b in [accessible.queryComponent().getExtents(self.pyatspi.WINDOW_COORDS)]
                                      if b.width > 0), None))

    def click(self, accessible, dx=0.5, dy=0.5, button=1):
        """The pointer on the accessible (at that share of its size), and a click."""
        box = self.box(accessible)
        x, y = box.x + box.width * dx, box.y + box.height * dy
        subprocess.run(["xdotool", "mousemove", "--sync", str(int(x)), str(int(y)), "click", str(button)], check=True)

    def press(self, role, name, **kw):
        """Activates a button by its accessible action."""
        self.find(role, name, **kw).queryAction().doAction(0)

    def run(self, seconds=2 * PATIENCE):
        """Ctrl+Enter, and waits until it is done."""
        self.key("ctrl+Return")
        self.find("label", r"tokens run", seconds)
        self.find("push button", "^Run$", seconds)

    def focused_window(self):
        return subprocess.run(["xdotool", "getwindowfocus"], capture_output=True, text=True).stdout.strip()

    def dialog(self, keys):
        """The dialog that the keys open, when it is there to be typed into."""
        below = self.focused_window()
        self.key(keys)
        dialog = wait_for(lambda: len(list(self.app)) > 1 and list(self.app)[1])
        wait_for(lambda: self.focused_window() != below)
        return dialog

    def undialog(self):
        """Waits until only the window is left."""
        wait_for(lambda: len(list(self.app)) == 1)

    def choose(self, dialog, path, button):
        """A path into a file dialog, and its button."""
        def entry():
            """a line to type a path into"""
            return [t for t in self.all("text", root=dialog) if t.getState().contains(self.pyatspi.STATE_FOCUSED)]
        if not re.search("Save", button):
            self.key("slash")  # shows a line to type into
        wait_for(entry)
        self.key("ctrl+a")
        self.type(str(path))
        texts = lambda: [t.queryText() for t in self.all("text", root=dialog)]
        wait_for(lambda: any(t.getText(0, t.characterCount).startswith(str(path)) for t in texts()))
        self.leave(dialog, button)

    def leave(self, dialog, button):
        """Presses a button until the dialog goes, or asks: it does nothing before GTK has looked at the folder."""
        def left():
            """a dialog that closes"""
            if len(list(self.app)) == 2:
                for found in self.all("push button", button, root=dialog):
                    found.queryAction().doAction(0)
            return len(list(self.app)) != 2
        wait_for(left, every=1)

    def save_as(self, keys, path):
        """Saves by a dialog, and waits for the file."""
        self.choose(self.dialog(keys), path, "Save$")
        self.undialog()
        wait_for(lambda: Path(path).exists() and Path(path).stat().st_size > 0)

    def open_by_dialog(self, keys, path):
        self.choose(self.dialog(keys), path, "Open$")
        self.undialog()

    def drop(self, at, *uris):
        """Drags these from another program's window and lets them go at that accessible; whether they were taken."""
        source = subprocess.Popen([sys.executable, Path(__file__).with_name("other_program.py"), *map(str, uris)],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=dict(os.environ, GTK_A11Y="none"))
        _children.append(source)
        window = wait_for(lambda: subprocess.run(["xdotool", "search", "--onlyvisible", "--pid", str(source.pid)], capture_output=True,
                                                 text=True).stdout.split())[-1]
        box = self.box(at)
        x, y = box.x + box.width // 2, box.y + box.height // 2
        wait_for(lambda: subprocess.run(["xdotool", "windowmove", "--sync", window, "0", "0", "windowraise", window]).returncode == 0)
        subprocess.run(["xdotool", "mousemove", "--sync", "20", "20", "mousedown", "1"], check=True)
        for step in range(1, 9):  # a drag begins with a few moves
            subprocess.run(["xdotool", "mousemove", "--sync", str(20 + (x - 20) * step // 8), str(20 + (y - 20) * step // 8)], check=True)
        subprocess.run(["xdotool", "mousemove", "--sync", str(x + 1), str(y), "sleep", "0.3", "mouseup", "1"], check=True)
        return source.stdout.readline().strip() == "taken"

    def paste(self, text):
        """The clipboard of another program, by Ctrl+V; that program lives until the desk is put away."""
        owner = subprocess.Popen([sys.executable, Path(__file__).with_name("other_program.py"), "--copied"], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=dict(os.environ, GTK_A11Y="none"))
        _children.append(owner)
        owner.stdin.write(text.encode())
        owner.stdin.close()
        assert owner.stdout.readline().strip() == b"copied"
        subprocess.run(["xdotool", "windowraise", self.xid, "windowfocus", "--sync", self.xid], check=True)
        self.key("ctrl+v")

    # ---- ending
    def close(self, seconds=PATIENCE):
        self.key("ctrl+q")
        return self.end(seconds)

    def end(self, seconds=PATIENCE):
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"did not end in {seconds} s: {self.said()}") from None
        assert code == 0 or leaked_by_others(self.said()), f"ended with {code}: {self.said()}"
        self.check_stderr()
        return code

    def said(self):
        self.stderr.flush()
        return Path(self.stderr.name).read_text("utf-8", "replace")

    def check_stderr(self):
        said = self.said()
        if leaked_by_others(said):
            said = LEAKS.split(said)[0]
        lines = [line for line in said.splitlines() if not HARMLESS.search(line)]
        assert not lines, "stderr: " + "\n".join(lines[:20])

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def case(function):
    _cases.append(function)
    return function


def main():
    need_tools()
    wanted = sys.argv[1:]
    cases = [c for c in _cases if not wanted or any(w in c.__name__ for w in wanted)]
    start_desktop()
    failed = 0
    print(f"1..{len(cases)}", flush=True)
    try:
        for number, function in enumerate(cases, 1):
            folder = tempfile.mkdtemp(prefix="viewer-")
            viewers = []

            def start(*args, **kw):
                kw.setdefault("folder", folder)
                viewers.append(Viewer(*args, **kw))
                return viewers[-1]

            try:
                function(start, Path(folder))
                print(f"ok {number} - {function.__name__}", flush=True)
            except Missing as why:
                print(f"ok {number} - {function.__name__} # SKIP {why}", flush=True)
            except Exception:
                failed += 1
                print(f"not ok {number} - {function.__name__}", flush=True)
                print("".join(f"# {line}\n" for line in traceback.format_exc().splitlines()), end="", flush=True)
                if os.environ.get("MHAR_KEEP"):
                    subprocess.run(["import", "-window", "root", f"/tmp/{function.__name__}.png"], check=False)
            for viewer in viewers:
                viewer.kill()
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        stop_desktop()
    sys.exit(1 if failed else 0)
