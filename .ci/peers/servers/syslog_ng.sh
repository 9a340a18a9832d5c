# syslog-ng with its Kafka destination, and loggen, its generator of load.
packages=(syslog-ng-core syslog-ng-mod-rdkafka)

start() {
  tell SYSLOG_NG "$(command -v syslog-ng)"
  tell LOGGEN "$(command -v loggen)"
}
