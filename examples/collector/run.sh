#!/bin/bash
# Starts a collector (syslog and HTTP in, OpenSearch and a file out), sends it events, and shows where they went.
# Run it from the root of the repository. TEMBLOR names the program, OPENSEARCH a real OpenSearch (HOST:PORT); without
# one a program of Temblor stands in for it. SYSLOG_PORT, HTTP_PORT, FOLDER and INDEX say where to listen and to write.
set -euo pipefail
temblor=${TEMBLOR:-target/debug/temblor}
syslog=${SYSLOG_PORT:-5514}
http=${HTTP_PORT:-8080}
folder=${FOLDER:-target/collector}
search=${OPENSEARCH:-127.0.0.1:9200}
here=$(dirname "$0")
mkdir -p "$folder"
rm -f "$folder"/*.ndjson

started=()
stop() { for pid in $(printf "%s\n" "${started[@]}" | tac); do kill "$pid" 2> /dev/null && wait "$pid" || true; done; started=(); }
trap stop EXIT
wait_for() {
  for _ in $(seq 1200); do
    (exec 3<> "/dev/tcp/127.0.0.1/$1") 2> /dev/null && return
    sleep 0.05
  done
  echo "nothing listens at 127.0.0.1:$1" >&2
  exit 1
}

if [ -z "${OPENSEARCH:-}" ]; then
  mkdir -p target/collector && rm -f target/collector/documents.ndjson
  "$temblor" run -q "$here/stand_in.tmb" &
  started+=($!)
fi
wait_for "${search##*:}"
"$temblor" run -q "$here/collector.tmb" --set syslog="127.0.0.1:$syslog" --set posts="127.0.0.1:$http" \
  --set search="http://$search" --set folder="$folder" --set index="${INDEX:-logs}" &
started+=($!)
wait_for "$syslog"
wait_for "$http"

# Syslog over TCP, in both of its forms, and over UDP.
exec 3<> "/dev/tcp/127.0.0.1/$syslog"
printf '<165>1 2026-01-01T00:00:00Z web1 nginx 12 ID1 - GET /a 200\n<34>Jan  1 00:00:01 web2 su: denied\n' >&3
exec 3>&-
printf '<15>Jan  1 00:00:02 web3 app: only archived' > "/dev/udp/127.0.0.1/$syslog"

# HTTP: one event, and several in an array. The answer says that they are where they should be.
post() {
  exec 3<> "/dev/tcp/127.0.0.1/$http"
  printf 'POST /events HTTP/1.1\r\nHost: collector\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s' \
    "${#1}" "$1" >&3
  head -n 1 <&3
  exec 3>&-
}
post '{"message": "paid", "severity": "notice", "amount": 7}'
post '[{"message": "one"}, {"message": "two", "severity": "debug"}]'

# SIGTERM: what was taken is delivered before the collector ends.
stop
echo "archived:  $(wc -l < "$folder/archive.ndjson") events"
if [ -z "${OPENSEARCH:-}" ]; then
  echo "indexed:   $(grep -c '^{"index"' target/collector/documents.ndjson) documents"
fi
