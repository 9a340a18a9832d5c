"""Publishes a message to a durable queue of RabbitMQ with confirms, or gets it. Arguments: port, publish or get."""

import sys
import time

import pika

# A broker that has been killed reads its messages again while it answers already.
PATIENCE_S = 60

port, what = sys.argv[1:]
connection = pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", int(port)))
channel = connection.channel()
channel.queue_declare("harness", durable=True)
if what == "publish":
    channel.confirm_delivery()
    channel.basic_publish("", "harness", b"kept", pika.BasicProperties(delivery_mode=2), mandatory=True)
    print("confirmed")
else:
    deadline = time.monotonic() + PATIENCE_S
    _, _, body = channel.basic_get("harness", auto_ack=True)
    while body is None and time.monotonic() < deadline:
        time.sleep(0.1)
        _, _, body = channel.basic_get("harness", auto_ack=True)
    print(body.decode() if body else body)
connection.close()
