# rsyslogd with RELP, TLS and Kafka. Debian lets one of rsyslog and syslog-ng be installed, so its packages
# are unpacked beside, and a script of two lines tells it where its modules are.
packages=(libestr0 libfastjson4 liblognorm5 librelp0 librdkafka1 libcurl3-gnutls libgnutls30 libuuid1 zlib1g)

install() {
  local folder="$programs/rsyslog"
  mkdir -p "$folder/packages"
  cd "$folder/packages"
  apt-get download rsyslog rsyslog-relp rsyslog-gnutls rsyslog-openssl rsyslog-kafka
  for package in *.deb; do
    dpkg --extract "$package" "$folder"
  done
  printf '#!/bin/sh\nexec %q -M %q "$@"\n' "$folder/usr/sbin/rsyslogd" \
    "$(echo "$folder"/usr/lib/*/rsyslog)" >"$programs/bin/rsyslogd"
  chmod +x "$programs/bin/rsyslogd"
}

start() {
  tell RSYSLOGD "$programs/bin/rsyslogd"
}
