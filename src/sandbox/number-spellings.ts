/**
 * Guest code that returns a replacer for `JSON.stringify`. If JavaScript would write a received number differently
 * (such as a large integer), the replacer returns its original text, as a string that starts with `mark`.
 *
 * Objects of the received body are found by identity, so their numbers keep their text even if the guest filters or
 * sorts a list. A number that the guest copied keeps its text only if all received numbers of that value have the same
 * text.
 *
 * `spellings` contains the texts of the numbers that JavaScript would write differently, in the structure of the body.
 */
export const NUMBERS = `(args, spellings, mark) => {
  'use strict';
  const { body } = args[0];
  const { apply } = Reflect, { hasOwn, is, keys } = Object, NativeNumber = Number, { isSafeInteger } = Number;
  const { get, set } = Map.prototype;
  const spelled = new Map(), values = new Map(), members = new Map();
  const note = (map, key, text) => {
    const known = apply(get, map, [key]);
    apply(set, map, [key, known === undefined || known === text ? text : null]);
  };
  const nameOf = (value) => (is(value, -0) ? '-0' : value);
  const walk = (part, texts) => {
    apply(set, spelled, [part, texts]);
    for (const key of keys(texts)) {
      const text = texts[key];
      if (typeof text === 'string') {
        const value = NativeNumber(text);
        note(values, nameOf(value), text);
        note(members, key + ' ' + nameOf(value), text);
      } else if (text) walk(part[key], text);
    }
  };
  const texts = JSON.parse(spellings);
  if (typeof texts === 'string') note(members, 'body ' + nameOf(NativeNumber(texts)), texts);
  else walk(body, texts);
  return function (key, value) {
    if (typeof value !== 'number') return value;
    const texts = apply(get, spelled, [this]);
    const own = texts !== undefined && hasOwn(texts, key) ? texts[key] : undefined;
    if (typeof own === 'string' && is(NativeNumber(own), value)) return mark + own;
    // Code often computes safe integers and infinity. A computed number must not get the spelling of an unrelated
    // received number.
    const isCommon = isSafeInteger(value) || value - value !== 0;
    const text = apply(get, members, [key + ' ' + nameOf(value)]) ?? (isCommon ? null : apply(get, values, [value]));
    return text ? mark + text : value;
  };
}`;

/** Returns the JSON with the marked strings replaced by the spellings. Each spelling is a JSON number. */
export function withSpellings(json: string, mark: string | undefined): string {
  return mark === undefined ? json : json.replace(new RegExp(`"${mark}([^"]+)"`, 'g'), '$1');
}
