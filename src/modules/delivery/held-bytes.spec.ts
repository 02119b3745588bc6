import fc from 'fast-check';
import { HeldBytes } from './held-bytes.js';

const held = (messageId: string | null, bytes: number): { messageId: string | null; payload: string } => ({
  messageId,
  payload: 'x'.repeat(bytes),
});

describe('HeldBytes', () => {
  it('counts the payload of a message once, until its last delivery is released', () => {
    const bytes = new HeldBytes();

    for (let i = 0; i < 3; i += 1) bytes.hold(held('m', 100));
    bytes.hold(held(null, 7));
    bytes.hold({ payload: null });
    expect(bytes.total).toBe(107);

    bytes.letGo(held('m', 100));
    bytes.letGo(held('m', 100));
    expect(bytes.total).toBe(107);
    bytes.letGo(held('m', 100));
    expect(bytes.total).toBe(7);
  });

  it('is zero after everything was released, in any order', () => {
    const one = fc.record({ messageId: fc.constantFrom(null, 'a', 'b'), bytes: fc.integer({ min: 0, max: 50 }) });
    fc.assert(
      fc.property(fc.array(one), fc.array(fc.nat()), (all, order) => {
        const bytes = new HeldBytes();
        const sizes: Record<string, number> = { a: 10, b: 20 };
        const items = all.map(({ messageId, bytes: size }) =>
          held(messageId, messageId === null ? size : (sizes[messageId] ?? 0)),
        );
        for (const item of items) bytes.hold(item);
        const rest = [...items];
        for (let i = 0; rest.length > 0; i += 1)
          bytes.letGo(rest.splice((order[i] ?? 0) % rest.length, 1)[0] ?? held(null, 0));
        expect(bytes.total).toBe(0);
      }),
    );
  });
});
