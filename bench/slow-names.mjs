/**
 * Measures deliveries to a destination with a host name, while Posthorn also sends to host names whose DNS servers never
 * answer.
 */
import dgram from 'node:dgram';
import { once } from 'node:events';
import { alternateBeside } from './neighbours.mjs';
import { startPosthorn } from './posthorn.mjs';
import { withSubject } from './subjects.mjs';

const NAME = 'receiver.bench.example';
/**
 * Number of DNS lookups in flight, without those of retries. Each lookup is for a different domain and times out after
 * five seconds.
 */
const SLOW_AT_ONCE = 60;
const SEND_EVERY_MS = 5_000 / SLOW_AT_ONCE;
const HEADER_BYTES = 12;

/**
 * Starts a DNS server that resolves one name to 127.0.0.1 with a TTL of one second. Queries for other names get no
 * answer.
 */
async function startNameServer() {
  const socket = dgram.createSocket('udp4');
  const wanted = Buffer.concat(
    NAME.split('.').map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`)),
  );
  socket.on('message', (query, peer) => {
    const end = HEADER_BYTES + wanted.length + 5;
    if (
      query.toString('latin1', HEADER_BYTES, HEADER_BYTES + wanted.length).toLowerCase() !== wanted.toString('latin1')
    )
      return;
    const isA = query.readUInt16BE(end - 4) === 1;
    const head = Buffer.from(query.subarray(0, end));
    head.writeUInt16BE(0x8580, 2);
    head.writeUInt16BE(isA ? 1 : 0, 6);
    head.writeUInt32BE(0, 8);
    // The DNS record: a pointer to the queried name, type A, class IN, a TTL of one second, and four address bytes.
    const record = Buffer.from([0xc0, HEADER_BYTES, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, 127, 0, 0, 1]);
    socket.send(isA ? Buffer.concat([head, record]) : head, peer.port, peer.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { address: `127.0.0.1:${socket.address().port}`, close: () => void socket.close() };
}

/** Sends messages until it is stopped, each to a new host name. @param {import('./rows.mjs').Service} subject */
function sendToSlowNames(subject) {
  let made = 0;
  let sent = Promise.resolve();
  const timer = setInterval(() => {
    const destination = `http://hooks.slow-${++made}.example:8080/`;
    const call = subject.call('POST', '/v1/send', { destination, event_type: 'order.paid', payload: {} });
    sent = Promise.all([sent, call]).then(() => undefined);
  }, SEND_EVERY_MS);
  return async () => {
    clearInterval(timer);
    await sent;
  };
}

/** @type {import('./rows.mjs').Block} */
export const slowNames = {
  rows: ['beside-slow-names'],
  run: async (bench, _wanted, report) => {
    const names = await startNameServer();
    await withSubject(
      bench,
      (options) => startPosthorn({ ...options, roles: ['all', 'all'], more: { DNS_SERVERS: names.address } }),
      async (subject) => {
        const destination = await subject.createDestination({ url: `http://${NAME}:${bench.receiverPort}/ok` });
        const begin = async () => sendToSlowNames(subject);
        await alternateBeside(
          bench,
          subject,
          'beside-slow-names',
          { begin, quietAfterMs: 0, to: { destination } },
          report,
        );
      },
    );
    names.close();
  },
};
