/** Bytes of the beginning of a message in which its header section is looked for. */
export const HEAD_BYTES_MAX = 256 * 1024;
const HEAD_END = /\r\n\r\n|\n\n|\r\r/;
const HEAD_ENDS = ['\r\n\r\n', '\n\n', '\r\r'].map((mark) => Buffer.from(mark));
const FOLDED = /(?:\r\n|\n|\r)(?=[ \t])/g;
const LINE_END = /\r\n|\n|\r/;
const FIELD = /^([\x21-\x39\x3b-\x7e]{1,998})[ \t]*:(.*)$/s;
const CONTROL = /[\0-\x1f\x7f]+/g;
const VALUE_MAX = 998;

/** One field of a header section, in its order. */
export interface HeadField {
  /** In lower case. */
  name: string;
  /** Unfolded, without white space around it. */
  value: string;
}

/** Where the header section ends, the empty line included; -1 when it does not end here. */
export function headEndOf(bytes: Buffer): number {
  let end = -1;
  let searched = bytes;
  for (const mark of HEAD_ENDS) {
    const at = searched.indexOf(mark);
    if (at === -1) continue;
    end = at + mark.length;
    // Another one counts only where it ends before, or begins before this one does.
    searched = bytes.subarray(0, at + 1);
  }
  return end;
}

/** The header section of a message, or its first 256 KB. A copy: a slice would keep the whole message in memory. */
export function headOf(bytes: Buffer): Buffer {
  const beginning = bytes.subarray(0, HEAD_BYTES_MAX);
  const end = headEndOf(beginning);
  return Buffer.from(end === -1 ? beginning : beginning.subarray(0, end));
}

/**
 * The fields of a header section (RFC 5322, section 2.2). Wherever a reader could begin a new line one begins here, a bare CR or
 * LF too: what two readers see differently is seen twice rather than not at all. A line that is no field is passed over.
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

/** The values of the fields with this name (in lower case), in their order. */
export function valuesOf(fields: readonly HeadField[], name: string): string[] {
  return fields.filter((field) => field.name === name).map(({ value }) => value);
}

/** The Message-ID without control characters, cut to a line's length; null when there is none, or more than one. */
export function messageIdOf(fields: readonly HeadField[]): string | null {
  const [first, ...more] = valuesOf(fields, 'message-id');
  const cleaned = first?.replace(CONTROL, ' ').trim().slice(0, VALUE_MAX) ?? '';
  return cleaned === '' || more.length > 0 ? null : cleaned;
}
