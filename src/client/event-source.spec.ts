import { createParser } from 'eventsource-parser';
import fc from 'fast-check';
import { EventSourceParser, type ServerSentEvent } from './event-source.js';

function reference(text: string): { event: string; data: string }[] {
  const messages: { event: string; data: string }[] = [];
  const parser = createParser({ onEvent: ({ event = 'message', data }) => void messages.push({ event, data }) });
  parser.feed(text);
  return messages;
}

const LINE = fc.oneof(
  fc.constantFrom(
    '',
    ': heartbeat',
    'event: gap',
    'data',
    'data:',
    'data: {"a":1}',
    'data:  two',
    'id: 7',
    'retry: 100',
    'unknown: x',
  ),
  fc.string({ maxLength: 8 }).map((text) => `data: ${text.replace(/[\r\n\0]/g, '')}`),
);

describe('EventSourceParser', () => {
  it('returns the same events as the reference parser, however the text is split', () => {
    fc.assert(
      fc.property(
        fc.array(LINE, { maxLength: 30 }),
        fc.constantFrom('\n', '\r\n'),
        fc.array(fc.nat(40), { maxLength: 20 }),
        (lines, end, cuts) => {
          const text = `${lines.join(end)}${end}${end}`;
          const parser = new EventSourceParser();
          const messages: ServerSentEvent[] = [];
          let rest = text;
          for (const cut of cuts) {
            messages.push(...parser.take(rest.slice(0, cut)));
            rest = rest.slice(cut);
          }
          messages.push(...parser.take(rest));

          expect(messages.map(({ event, data }) => ({ event, data }))).toEqual(reference(text));
        },
      ),
    );
  });

  it('keeps the last id, and the reconnection delay of the service', () => {
    const parser = new EventSourceParser();

    expect(parser.take('id: 1\ndata: a\n\ndata: b\n\nretry: 1000\nid: 2\n\ndata: c\n\n').map(({ id }) => id)).toEqual([
      '1',
      '1',
      '2',
    ]);
    expect(parser.retryMs).toBe(1000);
  });
});
