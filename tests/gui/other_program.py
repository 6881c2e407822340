#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Another program of the desktop, for what passes between two.

other_program.py URI…: a small window to drag these from, as a file manager offers files: as a list and as text. Prints whether
they were taken, and ends. With --copied it puts its standard input into the clipboard, says so, and stays."""
import sys

import gi

gi.require_version("Gtk", "4.0")
from gi.repository import Gdk, Gio, GLib, Gtk  # noqa: E402


def offer(**kinds):
    return Gdk.ContentProvider.new_union([Gdk.ContentProvider.new_for_bytes(kind, GLib.Bytes.new(data)) for kind, data in kinds.items()])


def drag_from(window, uris):
    listed = "".join(f"{uri}\r\n" for uri in uris).encode()
    source = Gtk.DragSource()
    answer = ["taken"]

    def end(*_):
        print(answer[0], flush=True)
        window.close()

    source.connect("prepare", lambda *_: offer(**{"text/uri-list": listed, "text/plain;charset=utf-8": listed}))
    source.connect("drag-cancel", lambda *_: answer.insert(0, "refused"))
    source.connect("drag-end", end)
    label = Gtk.Label(label="drag")
    label.add_controller(source)
    window.set_child(label)


def copy(window, text):
    """False until the window may have the clipboard: it has to have been seen."""
    if not window.get_clipboard().set_content(offer(**{"text/plain;charset=utf-8": text})):
        return True
    print("copied", flush=True)
    return False


def main():
    app = Gtk.Application(flags=Gio.ApplicationFlags.NON_UNIQUE)

    def activate(app):
        window = Gtk.ApplicationWindow(application=app, default_width=80, default_height=60, decorated=False)
        if sys.argv[1] == "--copied":
            GLib.timeout_add(100, copy, window, sys.stdin.buffer.read())
        else:
            drag_from(window, sys.argv[1:])
        window.present()

    app.connect("activate", activate)
    app.run([])


if __name__ == "__main__":
    main()
