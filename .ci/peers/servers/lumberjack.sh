# The two programs of Elastic's Lumberjack library: tst-lj receives, tst-send sends without end.
packages=(python3-venv)

install() {
  go_install github.com/elastic/go-lumber/cmd/...@v0.1.1
}

start() {
  tell TST_LJ "$programs/bin/tst-lj"
  tell TST_SEND "$programs/bin/tst-send"
}
