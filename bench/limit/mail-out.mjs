/** Upper limit for sending mail: a nodemailer pool that signs (DKIM) and relays each message without storing it. */
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { createTransport } from 'nodemailer';

const { RELAY_PORT = '', PORT = '' } = process.env;
/** Number of connections to the relay. Each process of the service has as many. */
const CONNECTIONS = 10;
const KEY_BITS = 2048;

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: KEY_BITS,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});
const pool = createTransport({
  pool: true,
  host: '127.0.0.1',
  port: Number(RELAY_PORT),
  secure: false,
  ignoreTLS: true,
  maxConnections: CONNECTIONS,
  maxMessages: Infinity,
  dkim: { domainName: 'mail.example.com', keySelector: 'bench', privateKey },
});

/** @param {import('node:http').ServerResponse} response @param {number} status */
function answer(response, status) {
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': 2 });
  response.end('{}');
}

const server = createServer((request, response) => {
  /** @type {Buffer[]} */
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const { from, to, subject, text } = JSON.parse(Buffer.concat(chunks).toString());
    answer(response, 202);
    // Ignores errors. The sink counts arrivals, so a message that was not sent is missing from its count.
    pool.sendMail({ from, to, subject, text }).catch(() => undefined);
  });
});
server.listen(Number(PORT), '127.0.0.1', () => process.send?.('ready'));
process.on('disconnect', () => process.exit(0));
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => process.exit(0));
