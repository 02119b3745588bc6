import { closeToast, onToasts, toast, toasts } from './toasts';

describe('toasts', () => {
  it('keeps the newest three messages in order, and closes one', () => {
    let changes = 0;
    const stop = onToasts(() => (changes += 1));

    for (const text of ['first', 'second', 'third', 'fourth']) toast(text);
    closeToast(toasts()[1]?.id ?? 0);
    stop();
    toast('unheard');

    expect(toasts().map(({ text }) => text)).toEqual(['second', 'fourth', 'unheard']);
    expect(changes).toBe(5);
  });

  it('a newer message about an object replaces the older one', () => {
    toast('Destination disabled', { subject: 'dst_1', action: { label: 'Undo', onSelect: () => undefined } });
    toast('Destination disabled', { subject: 'dst_2' });
    toast('Destination enabled', { subject: 'dst_1' });

    expect(toasts().flatMap(({ subject, text }) => (subject === null ? [] : [[subject, text]]))).toEqual([
      ['dst_2', 'Destination disabled'],
      ['dst_1', 'Destination enabled'],
    ]);
    expect(toasts().at(-1)?.action).toBeNull();
  });
});
