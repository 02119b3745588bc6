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
});
