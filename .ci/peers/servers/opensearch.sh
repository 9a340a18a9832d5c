# One OpenSearch node: bulk, search, templates and data streams, over HTTP without a password.
packages=(openjdk-17-jdk-headless maven curl)

install() {
  maven_jars opensearch
  javac -cp "$programs/opensearch/lib/*" -d "$programs/opensearch/classes" "$here/maven/opensearch/Server.java"
}

start() {
  local http
  http=$(port http)
  mkdir -p "$data"/{config,modules,plugins}
  run java -Xms256m -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
    -cp "$programs/opensearch/classes:$programs/opensearch/lib/*" Server "$data" "$http" "$(port transport)"
  await curl --fail --silent "http://127.0.0.1:$http/_cluster/health?wait_for_status=yellow&timeout=1s"
  tell OPENSEARCH "127.0.0.1:$http"
}
