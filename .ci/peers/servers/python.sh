# A Python with the clients of other projects: Kafka, RabbitMQ, Redis, OpenTelemetry, Fluent, WebSocket, StatsD,
# Graphite.
packages=(python3-venv)

install() {
  python_venv python confluent-kafka==2.16.1 pika==1.4.4 redis==8.1.0 opentelemetry-sdk==1.45.2 \
    opentelemetry-exporter-otlp==1.45.2 fluent-logger==0.11.1 websockets==17.4 \
    statsd==4.0.1 graphyte==1.7.1
}

start() {
  tell PYTHON "$programs/python/bin/python"
}
