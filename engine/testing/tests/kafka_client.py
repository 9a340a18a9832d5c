"""Writes a message to Kafka and reads it again, by each of the listeners; prints what came."""

import sys
import uuid

from confluent_kafka import Consumer, Producer

plain, tls, sasl, certificates = sys.argv[1:]
user = {"security.protocol": "SASL_PLAINTEXT", "sasl.username": "temblor", "sasl.password": "secret"}
listeners = [
    ("plain", "one", {"bootstrap.servers": plain}),
    ("tls", "two", {"bootstrap.servers": tls, "security.protocol": "SSL", "ssl.ca.location": f"{certificates}/ca.pem"}),
    ("PLAIN", "three", {"bootstrap.servers": sasl, "sasl.mechanism": "PLAIN", **user}),
    ("SCRAM-SHA-256", "four", {"bootstrap.servers": sasl, "sasl.mechanism": "SCRAM-SHA-256", **user}),
]
for name, text, settings in listeners:
    topic = f"harness-{uuid.uuid4()}"
    producer = Producer(settings)
    producer.produce(topic, text)
    assert producer.flush(60) == 0, name
    consumer = Consumer({**settings, "group.id": topic, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    message = consumer.poll(60)
    print(name, message.value().decode() if message and not message.error() else message)
    consumer.close()
