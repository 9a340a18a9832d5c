# Redis: without and with TLS; user `temblor` with password `secret` beside the default user without one.
# Redis writes its title over its environment, where `peers` finds its mark: not so here.
packages=(redis-server)

start() {
  local plain tls certificates="$all/certificates/files"
  plain=$(port plain)
  tls=$(port tls)
  run redis-server --bind 127.0.0.1 --port "$plain" --save '' --dir "$data" --set-proc-title no \
    --tls-port "$tls" --tls-cert-file "$certificates/server.pem" --tls-key-file "$certificates/server.key" \
    --tls-ca-cert-file "$certificates/ca.pem" --tls-auth-clients optional \
    --user temblor on '>secret' '~*' '&*' +@all
  await redis-cli -p "$plain" ping
  tell REDIS "127.0.0.1:$plain"
  tell REDIS_TLS "127.0.0.1:$tls"
}
