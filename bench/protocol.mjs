/** What the load generator, the receiver and the command agree on: the form of a message, and how they talk. */

/** Stands in front of the message number in a payload; occurs nowhere else in a body. */
export const MARK = '#';

/** Stands in a path for the number of one of several addresses. */
export const SPREAD = '%%%%';

/** Digits of a message number. */
export const DIGITS = 10;

/** Messages that one row of the report can number. */
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
 * A payload of exactly `bytes` bytes of JSON, shaped like an event, with a place for the number.
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
 * Answers the questions of the command, each with the number it came with.
 *
 * @param {Record<string, (question: any) => unknown>} answers by the question's `kind`
 */
export function answerQuestions(answers) {
  process.on('message', async (/** @type {any} */ { id, ...question }) => {
    process.send?.({ id, answer: await answers[question.kind]?.(question) });
  });
  // The command is gone without a word: nothing may outlive it.
  process.on('disconnect', () => process.exit(0));
  // Ctrl-C reaches the whole process group; the command decides when this process ends.
  process.on('SIGINT', () => undefined);
}
