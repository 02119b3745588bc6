/** Simulated SMTP relay in a separate process. Accepts every message and counts messages by their number. */
import { answerQuestions } from './protocol.mjs';
import { count, listen, reportCounts, tally } from './tally.mjs';

const END = '\r\n.\r\n';

/** @param {import('node:net').Socket} socket */
function converse(socket) {
  let pending = Buffer.alloc(0);
  let isMessage = false;
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  socket.write('220 sink.example ESMTP\r\n');
  socket.on('data', (/** @type {Buffer} */ received) => {
    let chunk = pending.length === 0 ? received : Buffer.concat([pending, received]);
    for (;;) {
      const end = chunk.indexOf(isMessage ? END : '\r\n');
      if (end < 0) break;
      if (isMessage) {
        socket.write('250 2.0.0 Taken\r\n');
        count(chunk, 0, end);
        isMessage = false;
        chunk = chunk.subarray(end + END.length);
      } else {
        isMessage = answer(socket, chunk.toString('latin1', 0, 4).toUpperCase());
        chunk = chunk.subarray(end + 2);
      }
    }
    pending = Buffer.from(chunk);
  });
}

/** Replies to an SMTP command. Returns true for DATA. @param {import('node:net').Socket} socket @param {string} verb */
function answer(socket, verb) {
  if (verb === 'QUIT') socket.end('221 2.0.0 Bye\r\n');
  else if (verb === 'EHLO') socket.write('250-sink.example\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 SMTPUTF8\r\n');
  else socket.write(verb === 'DATA' ? '354 Go on\r\n' : '250 2.0.0 OK\r\n');
  return verb === 'DATA';
}

const main = await listen(converse);
const counts = await listen(reportCounts);

answerQuestions({ ports: () => ({ port: main.port, countsPort: counts.port }), ...tally });
