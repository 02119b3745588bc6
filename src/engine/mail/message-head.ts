/** Maximum size of a header section. It must end within this number of bytes. */
export const HEAD_BYTES_MAX = 256 * 1024;
const HEAD_END = /\r\n\r\n|\n\n|\r\r/;
const HEAD_ENDS = ['\r\n\r\n', '\n\n', '\r\r'].map((mark) => Buffer.from(mark));
const FOLDED = /(?:\r\n|\n|\r)(?=[ \t])/g;
const LINE_END = /\r\n|\n|\r/;
const FIELD = /^([\x21-\x39\x3b-\x7e]{1,998})[ \t]*:(.*)$/s;
const CONTROL = /[\0-\x1f\x7f]+/g;
const VALUE_MAX = 998;

export interface HeadField {
  /** Field name in lower case. */
  name: string;
  /** Unfolded value, without surrounding white space. */
  value: string;
}

/** Returns the end of the header section, including the empty line, or -1 if it does not end within `bytes`. */
export function headEndOf(bytes: Buffer): number {
  let end = -1;
  let searched = bytes;
  for (const mark of HEAD_ENDS) {
    const at = searched.indexOf(mark);
    if (at === -1) continue;
    end = at + mark.length;
    // An empty line with another kind of line break ends the section if it comes earlier, so the search continues
    // before this one. Both may share one byte.
    searched = bytes.subarray(0, at + 1);
  }
  return end;
}

/** Returns the header section, at most 256 KB, as a copy: a slice would keep the whole message in memory. */
export function headOf(bytes: Buffer): Buffer {
  const beginning = bytes.subarray(0, HEAD_BYTES_MAX);
  const end = headEndOf(beginning);
  return Buffer.from(end === -1 ? beginning : beginning.subarray(0, end));
}

/**
 * Returns the header fields (RFC 5322, section 2.2). A line ends wherever any parser could end it, even at a bare CR or
 * LF. If parsers disagree about a field, returns every reading, so that no reading is missed. Skips lines that are not
 * fields.
 */
export function fieldsOf(head: Buffer): HeadField[] {
  const text = head.toString('utf8').replace(/^(?:\r\n|\n|\r)+/, '');
  const end = HEAD_END.exec(text);
  const fields: HeadField[] = [];
  for (const line of (end === null ? text : text.slice(0, end.index)).replace(FOLDED, '').split(LINE_END)) {
    const [, name, value = ''] = FIELD.exec(line) ?? [];
    if (name !== undefined) fields.push({ name: name.toLowerCase(), value: value.trim() });
  }
  return fields;
}

/** Returns the values of all fields with this lower-case name, in order. */
export function valuesOf(fields: readonly HeadField[], name: string): string[] {
  return fields.filter((field) => field.name === name).map(({ value }) => value);
}

/** Returns the Message-ID without control characters, cut to the length of a line. Null unless there is exactly one. */
export function messageIdOf(fields: readonly HeadField[]): string | null {
  const [first, ...more] = valuesOf(fields, 'message-id');
  const cleaned = first?.replace(CONTROL, ' ').trim().slice(0, VALUE_MAX) ?? '';
  return cleaned === '' || more.length > 0 ? null : cleaned;
}
