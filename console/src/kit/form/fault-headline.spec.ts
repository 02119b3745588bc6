import type { FaultFields } from './fault-headline';

const KEY_TEXT = 'Something went wrong on our side. Send the request again; an Idempotency-Key makes that safe.';
const faultOf = (status: number, type: string, message: string): Error & FaultFields =>
  Object.assign(new Error(message), { status, type, details: {} });

describe('headlineOf', () => {
  let headlineOf: typeof import('./fault-headline').headlineOf;

  beforeAll(async () => {
    // The texts are in the language of the browser, which Node does not have.
    Object.defineProperty(globalThis, 'navigator', { value: { language: 'en' }, configurable: true });
    ({ headlineOf } = await import('./fault-headline'));
  });

  it('500: a sentence for users of the console, without the advice for authors of API clients', () => {
    const { headline, original } = headlineOf(faultOf(500, 'internal', KEY_TEXT), 'en');

    expect(headline).toContain('Before you repeat a change, check whether it was saved.');
    expect(headline).toContain('report the request ID');
    expect(original).toBeNull();
  });

  it('500 of a load: advises to try again, not to check for changes', () => {
    const { headline } = headlineOf(faultOf(500, 'internal', KEY_TEXT), 'en', true);

    expect(headline).toContain('The data could not be loaded because of an internal error. Try again.');
    expect(headline).not.toContain('change');
  });

  it.each([
    [500, 'A detail.', 'internal error'],
    [502, 'HTTP 502', 'temporarily unavailable'],
  ])('%i with the message "%s": repeats the message', (status, message, expected) => {
    const { headline, original } = headlineOf(faultOf(status, 'internal', message), 'en');

    expect(headline).toContain(expected);
    expect(original).toBe(message);
  });

  it.each([
    [404, 'not_found', 'No such destination.'],
    [413, 'internal', 'HTTP 413'],
    [503, 'internal', 'The service cannot reach its database.'],
  ])('%i %s: the message is the headline', (status, type, message) => {
    expect(headlineOf(faultOf(status, type, message), 'en')).toEqual({ headline: message, original: null });
  });
});
