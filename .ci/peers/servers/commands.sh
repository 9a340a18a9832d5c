# Commands that Debian has: curl, openssl, and logger of util-linux.
packages=(curl openssl bsdutils)

start() {
  tell CURL "$(command -v curl)"
  tell OPENSSL "$(command -v openssl)"
  tell LOGGER "$(command -v logger)"
}
