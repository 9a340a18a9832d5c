# NATS with JetStream, TLS, and user `temblor` with password `secret`: all three hold for a whole server.
packages=(nats-server)

start() {
  local tls certificates="$all/certificates/files"
  tls=$(port tls)
  run nats-server --addr 127.0.0.1 --port "$tls" --jetstream --store_dir "$data/streams" \
    --user temblor --pass secret \
    --tls --tlscert "$certificates/server.pem" --tlskey "$certificates/server.key"
  await listening "$tls"
  tell NATS_TLS "127.0.0.1:$tls"
}
