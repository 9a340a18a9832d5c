# RabbitMQ, without and with TLS; user `guest` with password `guest`. `epmd`, by which Erlang's nodes find
# each other, gets a port of its own too, so that several brokers can run beside each other.
packages=(rabbitmq-server)

start() {
  local plain tls certificates="$all/certificates/files"
  plain=$(port plain)
  tls=$(port tls)
  cat >"$data/rabbitmq.conf" <<END
listeners.tcp.1 = 127.0.0.1:$plain
listeners.ssl.1 = 127.0.0.1:$tls
ssl_options.cacertfile = $certificates/ca.pem
ssl_options.certfile = $certificates/server.pem
ssl_options.keyfile = $certificates/server.key
ssl_options.verify = verify_peer
ssl_options.fail_if_no_peer_cert = false
END
  rm -rf "$data/logs" # the line of an earlier start
  run env "HOME=$data" "ERL_EPMD_PORT=$(port epmd)" ERL_EPMD_ADDRESS=127.0.0.1 \
    "RABBITMQ_NODENAME=temblor@localhost" "RABBITMQ_DIST_PORT=$(port distribution)" \
    "RABBITMQ_CONFIG_FILE=$data/rabbitmq.conf" "RABBITMQ_MNESIA_BASE=$data/mnesia" \
    "RABBITMQ_LOG_BASE=$data/logs" "RABBITMQ_PID_FILE=$data/broker.pid" RABBITMQ_CONF_ENV_FILE=/dev/null \
    "RABBITMQ_ENABLED_PLUGINS_FILE=$data/plugins" \
    /usr/lib/rabbitmq/bin/rabbitmq-server
  await grep -rqs 'Server startup complete' "$data/log" "$data/logs"
  tell RABBITMQ "127.0.0.1:$plain"
  tell RABBITMQ_TLS "127.0.0.1:$tls"
}
