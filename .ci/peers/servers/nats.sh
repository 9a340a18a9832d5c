# NATS with JetStream.
packages=(nats-server)

start() {
  local plain
  plain=$(port plain)
  run nats-server --addr 127.0.0.1 --port "$plain" --jetstream --store_dir "$data/streams"
  await listening "$plain"
  tell NATS "127.0.0.1:$plain"
}
