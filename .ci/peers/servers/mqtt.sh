# Mosquitto: a listener for all, one with TLS, and one that asks for user `temblor`, password `secret`.
packages=(mosquitto)

start() {
  local plain tls users certificates="$all/certificates/files"
  plain=$(port plain)
  tls=$(port tls)
  users=$(port users)
  touch "$data/passwords"
  chmod 600 "$data/passwords"
  mosquitto_passwd -b "$data/passwords" temblor secret
  cat >"$data/mosquitto.conf" <<END
user $(id -un)
per_listener_settings true
max_queued_messages 100000
listener $plain 127.0.0.1
allow_anonymous true
listener $tls 127.0.0.1
allow_anonymous true
cafile $certificates/ca.pem
certfile $certificates/server.pem
keyfile $certificates/server.key
listener $users 127.0.0.1
allow_anonymous false
password_file $data/passwords
END
  run mosquitto -c "$data/mosquitto.conf"
  await listening "$users"
  tell MQTT "127.0.0.1:$plain"
  tell MQTT_TLS "127.0.0.1:$tls"
  tell MQTT_USERS "127.0.0.1:$users"
}
