const NAME_LENGTH_MAX = 128;
const URL_LENGTH_MAX = 2_048;

/** Returns names and URLs that the objects of an organization get. */
export interface Texts {
  /** Returns a name for the `index`th object of a kind. `usual` is its ordinary name. */
  name(usual: string, index?: number, lengthMax?: number): string;
  url(usual: string): string;
  /** Returns an identifier, such as an event type, in which only some characters are allowed. */
  identifier(usual: string): string;
}

export const USUAL_TEXTS: Texts = {
  name: (usual) => usual,
  url: (usual) => usual,
  identifier: (usual) => usual,
};

/** Endings of long names: words, one word without a break, right-to-left text, and emoji. */
const ENDINGS: readonly string[] = [' with a very long name that never ends', 'x', ' مرحبا بالعالم', ' 👩‍👩‍👧‍👦🇩🇪🎉'];

/** Names of 128 characters and URLs of 2,048 characters. */
export const LONG_TEXTS: Texts = {
  name: (usual, index = 0, lengthMax = NAME_LENGTH_MAX) => {
    const ending = ENDINGS[index % ENDINGS.length] ?? '';
    return cut(usual + ending.repeat(Math.ceil(lengthMax / ending.length)), lengthMax);
  },
  url: (usual) => `${usual}/${'path/'.repeat(20)}`.padEnd(URL_LENGTH_MAX, 'x'),
  identifier: (usual) => usual.padEnd(NAME_LENGTH_MAX - 1, 'x'),
};

/** Returns at most `length` UTF-16 code units, without half of a character at the end. */
const cut = (text: string, length: number): string => text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '');
