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

# shot NAME SIZE SCALE SETTINGS CHECKPOINT KEYS…: "-" runs nothing, a number is seconds to wait, anything else a key or, with
# spaces in it, words for xdotool.
shot() {
  name=$1 size=$2 scale=$3 settings=$4 open=$5
  shift 5
  case "$only" in "  " | *" $name "*) ;; *) return 0 ;; esac
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
shot window-table 1280x800 1 "$light" "$demo/mhar" $run ctrl+t
shot window-running 1280x800 1 "$light\ntokens=0" "$demo/mhar" ctrl+Return 5s
# Both checkpoints of a saved run, compared.
"$build/app/cli/mhar-probe" --quiet --device cpu --max-tokens 4096 --context 256 -o "$work/demo.h5" "$demo/mhar" "$demo/single" >/dev/null
shot window-compare 1280x800 1 "$light" "$work/demo.h5" alt+6 0
# 193 sites: a model of 96 layers, random but for its shape.
if [ ! -e "$work/deep" ]; then
  /usr/bin/python3 ../tests/oracle/make_checkpoint.py "$work/deep" --mode full_mh --heads-routing 4 --width 64 --layers 96 --vocab 4096 --ffn 64 >/dev/null
  cp "$demo/mhar/tokenizer.json" "$work/deep"
fi
deep="$light\ntokens=512\ndraws=4"
shot window-deep 1280x800 1 "$deep" "$work/deep" ctrl+Return 20s
shot window-small 900x600 1 "$light" "$demo/mhar" $run
shot window-maps@2x 1280x800 2 "$light" "$demo/mhar" $run
shot window-tokens@2x 1280x800 2 "$dark" "$demo/mhar" $run Next Next Next Next Next alt+4 bracketright bracketright bracketright bracketright bracketright bracketright bracketright
