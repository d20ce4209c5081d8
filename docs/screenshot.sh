#!/usr/bin/env bash
# Makes the pictures in this folder: a real mosquitto with the fixture house, the program in tmux, the screen as SVG.
# Needs mosquitto and tmux. Touches only processes it started.
set -euo pipefail
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
port=$(( 20000 + RANDOM % 20000 ))
sock="retainscope-shot-$$"
go build -o "$tmp/retainscope" .
go build -o "$tmp/shot" ./docs/shot
printf 'listener %s 127.0.0.1\nallow_anonymous true\nuser %s\nsys_interval 2\n' "$port" "$(id -un)" > "$tmp/mosquitto.conf"
PATH="$PATH:/usr/sbin" mosquitto -c "$tmp/mosquitto.conf" >"$tmp/broker.log" 2>&1 &
broker=$!
trap 'tmux -L "$sock" kill-server 2>/dev/null || true; kill "$broker" 2>/dev/null || true; rm -rf "$tmp"' EXIT
for _ in $(seq 50); do (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 0.1; done
"$tmp/retainscope" demo --into "mqtt://127.0.0.1:$port"

# shoot NAME COLS ROWS KEYS...: opens the program, types the keys, keeps the screen.
shoot() {
  local name=$1 cols=$2 rows=$3; shift 3
  tmux -L "$sock" -f /dev/null new-session -d -s "$name" -x "$cols" -y "$rows" \
    "env -u NO_COLOR HOME=$tmp TERM=screen-256color LANG=C.UTF-8 $tmp/retainscope --broker mqtt://127.0.0.1:$port"
  tmux -L "$sock" set -g status off
  for _ in $(seq 100); do tmux -L "$sock" capture-pane -t "$name" -p | grep -q 'verified\|no sign of loss' && break; sleep 0.2; done
  for k in "$@"; do tmux -L "$sock" send-keys -t "$name" "$k"; sleep 0.3; done
  sleep 1
  tmux -L "$sock" capture-pane -t "$name" -p -e | "$tmp/shot" -cols "$cols" -rows "$rows" > "docs/$name.svg"
  tmux -L "$sock" capture-pane -t "$name" -p > "$tmp/$name.txt"
  tmux -L "$sock" kill-session -t "$name"
  cat "$tmp/$name.txt"
}

shoot topics 120 34 ${SHOT_KEYS:-Down Down Right Down Right Down}
shoot left 120 34 2
# Approve one topic with a writer that is stopped, then open its clear and type the word; it is not sent.
shoot clear 120 34 / caldates2mqtt/birthday/state Enter t Home \
  a Right Down Down Down Down Enter Right Down Down Down "unit is disabled" Down Down Right Down Down Enter Down Down Enter \
  x Down Down state Home
