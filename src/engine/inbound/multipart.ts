import { Buffer } from 'node:buffer';

const BOUNDARY = /;\s*boundary=(?:"([^"\r\n]{1,70})"|([^\s";,]{1,70}))/i;
/** Maximum number of parts. Forms of providers have about twenty fields, and possibly attachments. */
const PARTS_MAX = 200;
const HEAD_BYTES_MAX = 4_096;
const FIELD_BYTES_MAX = 64 * 1024;
const HEAD_END = Buffer.from('\r\n\r\n');
const DISPOSITION = /^content-disposition:[ \t]*form-data[ \t]*;(.*)$/im;
const NAME = /(?:^|;)[ \t]*name="([^"\r\n]{0,256})"/i;

/** Returns the fields of a form (RFC 7578) without files: at most 200 parts, values of 64 KB. Null for other types. */
export function multipartFields(contentType: string | undefined, body: Buffer): [name: string, value: string][] | null {
  if (contentType === undefined || !/^multipart\/form-data\s*;/i.test(contentType)) return null;
  const [, quoted, plain] = BOUNDARY.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  return boundary === undefined ? null : partsOf(body, boundary).flatMap((part) => fieldOf(part) ?? []);
}

function partsOf(body: Buffer, boundary: string): Buffer[] {
  const parts: Buffer[] = [];
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
  let from = body.indexOf(delimiter.subarray(2));
  // The first delimiter is at the start, or after a preamble that ends with a line break.
  if (from !== 0) from = body.indexOf(delimiter);
  if (from < 0) return [];
  from += from === 0 ? delimiter.length - 2 : delimiter.length;
  while (parts.length < PARTS_MAX) {
    const to = body.indexOf(delimiter, from);
    if (to === -1) break;
    parts.push(body.subarray(from, to));
    from = to + delimiter.length;
  }
  return parts;
}

/** Returns the field in a part. Null for a file or a malformed part. */
function fieldOf(part: Buffer): [[name: string, value: string]] | null {
  const end = part.indexOf(HEAD_END);
  if (end === -1 || end > HEAD_BYTES_MAX) return null;
  const value = part.subarray(end + HEAD_END.length);
  const parameters = DISPOSITION.exec(part.subarray(0, end).toString('utf8'))?.[1] ?? '';
  const name = NAME.exec(parameters)?.[1];
  if (name === undefined || /;[ \t]*filename\*?=/i.test(parameters) || value.length > FIELD_BYTES_MAX) return null;
  return [[name, value.toString('utf8')]];
}
