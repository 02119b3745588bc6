import { detectExtension, detectMimeType } from 'nodemailer/lib/mime-funcs/mime-types';

/** Types of attachments. Excludes some types of the library: `multipart/x-gzip`, and one that is misspelt. */
const LEAF_TYPE = /^(?!multipart\/)[a-z0-9-]+\/[a-z0-9.+-]+$/;
const OCTETS = 'application/octet-stream';

/** Returns the media type that the extension of a file name stands for. Null if the extension is unknown. */
export function typeOfFilename(filename: string): string | null {
  const type = detectMimeType(filename);
  // The library gives web archives (.mht) the type of an email.
  if (type.startsWith('message/') && !/\.eml$/i.test(filename)) return null;
  return type !== OCTETS && LEAF_TYPE.test(type) ? type : null;
}

/** Returns the usual extension of file names of a media type. Null if the type is unknown. */
export function extensionOfType(type: string): string | null {
  const name = type.replace(/;.*/s, '').trim().toLowerCase();
  const extension = detectExtension(name);
  // For an unknown type, the library returns an extension of another type.
  return name !== OCTETS && detectMimeType(extension) === name ? extension : null;
}
