/**
 * The protocol between load generator, receiver and command: the form of a message, and the messages between processes.
 */

/** Precedes the message number in a payload. The character occurs nowhere else in a body. */
export const MARK = '#';

/** Placeholder in a path for the number of one of several addresses. */
export const SPREAD = '%%%%';

/** Number of digits of a message number. */
export const DIGITS = 10;

/** Maximum number of messages in one row of the report. */
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
 * Returns a payload of exactly `bytes` bytes of JSON, shaped like an event, with space for the number.
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
 * Responds to the messages of the parent process (the command). Each response contains the id of its message.
 *
 * @param {Record<string, (question: any) => unknown>} answers by the question's `kind`
 */
export function answerQuestions(answers) {
  process.on('message', async (/** @type {any} */ { id, ...question }) => {
    process.send?.({ id, answer: await answers[question.kind]?.(question) });
  });
  // The parent process has crashed. Helper processes must exit with it.
  process.on('disconnect', () => process.exit(0));
  // Ctrl-C reaches the whole process group, but only the parent process decides when this process ends.
  process.on('SIGINT', () => undefined);
}
