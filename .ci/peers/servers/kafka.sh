# One Kafka broker: plain, with TLS, and with SASL (PLAIN, SCRAM-SHA-256, SCRAM-SHA-512: user `temblor`,
# password `secret`; OAUTHBEARER with unsigned tokens). TEMBLOR_PEER_KAFKA_TOOLS starts a tool by its class:
# "$TEMBLOR_PEER_KAFKA_TOOLS" org.apache.kafka.tools.TopicCommand --bootstrap-server …
packages=(openjdk-17-jdk-headless maven openssl)

install() {
  maven_jars kafka
  cat >"$programs/bin/kafka-tool" <<END
#!/bin/sh
exec java -Xmx256m -XX:TieredStopAtLevel=1 -cp '$programs/kafka/lib/*' "\$@"
END
  chmod +x "$programs/bin/kafka-tool"
}

start() {
  local plain tls sasl controller
  plain=$(port plain)
  tls=$(port tls)
  sasl=$(port sasl)
  controller=$(port controller)
  settings >"$data/server.properties"
  if [ ! -e "$data/records/meta.properties" ]; then
    kafka-tool kafka.tools.StorageTool format -t AAAAAAAAQAGAAAAAAAAAAQ -c "$data/server.properties" \
      --add-scram 'SCRAM-SHA-256=[name=temblor,password=secret]' \
      --add-scram 'SCRAM-SHA-512=[name=temblor,password=secret]' >"$data/format.log" 2>&1 ||
      fail "$(tail -n 20 "$data/format.log")"
  fi
  run java -Xms256m -Xmx512m -XX:+UseSerialGC "-Dlog4j.configuration=file:$here/maven/kafka/log4j.properties" \
    -cp "$programs/kafka/lib/*" kafka.Kafka "$data/server.properties"
  await grep -q 'Kafka Server started' "$data/log"
  tell KAFKA "127.0.0.1:$plain"
  tell KAFKA_TLS "127.0.0.1:$tls"
  tell KAFKA_SASL "127.0.0.1:$sasl"
  tell KAFKA_TOOLS "$programs/bin/kafka-tool"
}

settings() {
  local certificates="$all/certificates/files" security=org.apache.kafka.common.security
  cat <<END
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$controller
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:$plain,SSL://127.0.0.1:$tls,SASL_PLAINTEXT://127.0.0.1:$sasl,CONTROLLER://127.0.0.1:$controller
advertised.listeners=PLAINTEXT://127.0.0.1:$plain,SSL://127.0.0.1:$tls,SASL_PLAINTEXT://127.0.0.1:$sasl
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=PLAINTEXT
log.dirs=$data/records
num.partitions=4
offsets.topic.num.partitions=4
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
ssl.keystore.type=PEM
ssl.keystore.location=$certificates/server-chain.pem
ssl.truststore.type=PEM
ssl.truststore.location=$certificates/ca.pem
ssl.client.auth=requested
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER
listener.name.sasl_plaintext.plain.sasl.jaas.config=$security.plain.PlainLoginModule required user_temblor="secret";
listener.name.sasl_plaintext.scram-sha-256.sasl.jaas.config=$security.scram.ScramLoginModule required;
listener.name.sasl_plaintext.scram-sha-512.sasl.jaas.config=$security.scram.ScramLoginModule required;
listener.name.sasl_plaintext.oauthbearer.sasl.jaas.config=$security.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="temblor";
END
}
