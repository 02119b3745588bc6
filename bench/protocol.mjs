/**
 * The protocol of the bench: the form of a message's content, and the messages between load generator, receiver and
 * command.
 */

/** Character that precedes the message number in a payload. It occurs nowhere else in the payload. */
export const MARK = '#';

/** Placeholder in a URL path. The load generator replaces it with a number, to spread requests over several URLs. */
export const SPREAD = '%%%%';

export const DIGITS = 10;

/** Maximum number of messages in the measurement of one row. */
export const MESSAGES_MAX = 4_000_000;

/** @param {Buffer} buffer @param {number} offset @param {number} number @param {number} digits */
export function writeNumber(buffer, offset, number, digits) {
  for (let i = offset + digits - 1, rest = number; i >= offset; i--) {
    buffer[i] = 48 + (rest % 10);
    rest = Math.floor(rest / 10);
  }
}

/** @param {Buffer} buffer @param {number} offset @returns {number} */
export function readNumber(buffer, offset) {
  let number = 0;
  for (let i = offset; i < offset + DIGITS; i++) number = number * 10 + /** @type {number} */ (buffer[i]) - 48;
  return number;
}

/**
 * Returns a payload of exactly `bytes` bytes of JSON. It looks like an event and has space for the message number.
 *
 * @param {number} bytes
 */
export function payload(bytes) {
  const description = 'A line of an order, of ordinary length';
  const lines = [1, 2, 3, 4].map((quantity) => ({ sku: `SKU-${quantity}`, quantity, description }));
  const number = MARK + '0'.repeat(DIGITS);
  const order = { number, customer: 'cus_9s6XKzkNRiz8i3', currency: 'eur', amount: 129900, paid: true, lines };
  const filler = bytes - JSON.stringify({ ...order, note: '' }).length;
  return JSON.stringify({ ...order, note: 'x'.repeat(filler) });
}

/**
 * Answers the messages of the parent process. Each answer has the id of its message.
 *
 * @param {Record<string, (question: any) => unknown>} answers by the question's `kind`
 */
export function answerQuestions(answers) {
  process.on('message', async (/** @type {any} */ { id, ...question }) => {
    process.send?.({ id, answer: await answers[question.kind]?.(question) });
  });
  // The parent process has ended, so this helper process must end, too.
  process.on('disconnect', () => process.exit(0));
  // Ignores Ctrl-C, which reaches the whole process group. Only the parent process decides when this process ends.
  process.on('SIGINT', () => undefined);
}
