// mqtt.js with a Map of everything it receives; prints the same account as the other subscribers.
const mqtt = require('mqtt');
const [, , addr, want] = process.argv;
const start = process.hrtime.bigint();
const held = new Map();
const client = mqtt.connect('mqtt://' + addr, { protocolVersion: 5, clean: true, reconnectPeriod: 0, keepalive: 300 });
client.on('connect', () => client.subscribe('#', { qos: 0 }));
client.on('message', (topic, payload, packet) => {
  held.set(topic, { payload, properties: packet.properties, at: Date.now() });
  if (held.size === Number(want)) {
    const us = (process.hrtime.bigint() - start) / 1000n;
    process.stderr.write(`wall_us=${us} got=${held.size}\n`);
    client.end(true, () => process.exit(0));
  }
});
