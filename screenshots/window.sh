#!/bin/bash
# window.sh BUILD [NAME…]: pictures of the window, made by the program itself on a display of its own (Xvfb, xdotool, ImageMagick).
set -eu
build=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")"
only=" $* "
data=$(cd ../data && pwd)
demo=$data/demo
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GDK_BACKEND=x11 GSK_RENDERER=cairo GSETTINGS_BACKEND=memory MHAR_DATA_DIR=$data OMP_WAIT_POLICY=passive LC_ALL=C.UTF-8
export XDG_DATA_HOME=$work/data XDG_CACHE_HOME=$work/cache HOME=$work

# Whether a picture is to be made.
wanted() {
  case "$only" in "  " | *" $1 "*) ;; *) return 1 ;; esac
}

# shot NAME SIZE SCALE SETTINGS CHECKPOINT KEYS…: "-" runs nothing, a number is seconds to wait, anything else a key or, with
# spaces in it, words for xdotool.
shot() {
  name=$1 size=$2 scale=$3 settings=$4 open=$5
  shift 5
  wanted "$name" || return 0
  width=${size%x*} height=${size#*x}
  export XDG_CONFIG_HOME=$work/config-$name GDK_SCALE=$scale
  mkdir -p "$XDG_CONFIG_HOME/mhar-probe"
  printf '[viewer]\nwidth=%s\nheight=%s\n%b\n' "$width" "$height" "$settings" >"$XDG_CONFIG_HOME/mhar-probe/settings.ini"
  mkfifo "$work/display-$name"
  Xvfb -displayfd 3 -screen 0 "$((width * scale))x$((height * scale))x24" -nolisten tcp 3>"$work/display-$name" >/dev/null 2>&1 &
  server=$!
  read -r number <"$work/display-$name"
  export DISPLAY=:$number
  if [ -n "$open" ]; then set -- "$open" "$@"; fi
  dbus-run-session -- "$build/app/gui/mhar-viewer" ${open:+"$1"} >/dev/null 2>"$work/stderr-$name" &
  program=$!
  if [ -n "$open" ]; then shift; fi
  sleep 3
  xdotool mousemove 2 2
  for key in "$@"; do
    case $key in
    [0-9]s | [0-9][0-9]s) sleep "${key%s}" ;;
    *" "*) eval "xdotool $key"; sleep 0.4 ;;
    *) xdotool key "$key"; sleep 0.4 ;;
    esac
  done
  sleep 0.6
  import -window root png:- | convert - +dither -colors 255 -define png:compression-level=9 "PNG8:$name.png"
  xdotool key ctrl+q
  wait "$program" || true
  kill "$server"
  grep -E "CRITICAL|WARNING" "$work/stderr-$name" >&2 || true
  echo "$name.png"
}

run="ctrl+Return 7s"
light="appearance=light"
dark="appearance=dark"
shot window-start 1280x800 1 "$light" ""
shot window-maps 1280x800 1 "$light" "$demo/mhar" $run
shot window-maps-dark 1280x800 1 "$dark" "$demo/mhar" $run
shot window-weights 1280x800 1 "$light" "$demo/mhar" $run ctrl+d
shot window-disagreement 1280x800 1 "$light" "$demo/single" $run alt+2 Next Next
shot window-collinearity 1280x800 1 "$light" "$demo/mhar" $run alt+3
shot window-tokens 1280x800 1 "$light" "$demo/mhar" $run Next Next Next Next Next alt+4 bracketright bracketright bracketright bracketright bracketright bracketright bracketright
shot window-tokens-dark 1280x800 1 "$dark" "$demo/mhar" $run Next Next Next Next Next alt+4 bracketright bracketright bracketright bracketright bracketright bracketright bracketright
shot window-sources 1280x800 1 "$light" "$demo/mhar" $run alt+5 Next Next Next Next Next Next
shot window-ablation 1280x800 1 "$light" "$demo/mhar" $run alt+8 ctrl+shift+Return 30s F6 Down Down Down
shot window-reads 1280x800 1 "$light" "$demo/mhar" $run Next Next Next Next Next Next Next Next Next Next alt+7 1 F6 Right
shot window-table 1280x800 1 "$light" "$demo/mhar" $run ctrl+t
shot window-running 1280x800 1 "$light\ntokens=0" "$demo/mhar" ctrl+Return 5s
# Both checkpoints of a saved run, compared.
wanted window-compare \
  && "$build/app/cli/mhar-probe" --quiet --device cpu --max-tokens 4096 --context 256 -o "$work/demo.h5" "$demo/mhar" "$demo/single" >/dev/null
shot window-compare 1280x800 1 "$light" "$work/demo.h5" alt+6 0
# A training run: the demo with its routing queries at a tenth of their length, at two tenths, …
wanted window-series && /usr/bin/python3 - "$demo/mhar" "$work/run" <<'END'
import shutil, sys
from pathlib import Path
import numpy as np
sys.path.insert(0, "../tests/cli")
from harness import read_tensors, write_tensors

def scaled(data, share):
    words = (np.frombuffer(data, "<u2").astype("<u4") << 16).view("<f4") * share
    return (words.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes()

tensors = read_tensors(Path(sys.argv[1], "model.safetensors"))
for step in range(1, 11):
    folder = Path(sys.argv[2], f"step-{1000 * step}")
    folder.mkdir(parents=True)
    for name in ("config.json", "tokenizer.json"):
        shutil.copy(Path(sys.argv[1], name), folder)
    write_tensors(folder / "model.safetensors", {name: (dtype, shape, scaled(data, step / 10) if "res_proj" in name else data)
                                                 for name, (dtype, shape, data) in tensors.items()})
END
wanted window-series \
  && "$build/app/cli/mhar-probe" --quiet --device cpu --max-tokens 4096 --context 256 --kl --depth-maps --series "$work/run" -o "$work/run.h5" >/dev/null
shot window-series 1280x800 1 "$light" "$work/run.h5"
# 193 sites: a model of 96 layers, random but for its shape.
if wanted window-deep; then
  /usr/bin/python3 ../tests/oracle/make_checkpoint.py "$work/deep" --mode full_mh --heads-routing 4 --width 64 --layers 96 --vocab 4096 --ffn 64 >/dev/null
  cp "$demo/mhar/tokenizer.json" "$work/deep"
fi
deep="$light\ntokens=512\ndraws=4"
shot window-deep 1280x800 1 "$deep" "$work/deep" ctrl+Return 20s
shot window-small 900x600 1 "$light" "$demo/mhar" $run
shot window-maps@2x 1280x800 2 "$light" "$demo/mhar" $run
shot window-tokens@2x 1280x800 2 "$dark" "$demo/mhar" $run Next Next Next Next Next alt+4 bracketright bracketright bracketright bracketright bracketright bracketright bracketright
