/** Content types that a browser displays but never executes. Any other content is served as plain bytes. */
const PASSIVE =
  /^(?:image\/(?:png|jpe?g|gif|webp|bmp|tiff|heic|avif)|audio\/[a-z0-9.+-]+|video\/[a-z0-9.+-]+|text\/(?:plain|csv|calendar|markdown)|message\/rfc822|application\/(?:pdf|zip|gzip|json|msword|rtf|vnd\.(?:ms-[a-z0-9.+-]+|openxmlformats-[a-z0-9.+-]+|oasis\.opendocument\.[a-z0-9.+-]+)))$/;

/** Returns the headers to serve an untrusted file as a download, with its name (RFC 6266) and a harmless type. */
export function downloadOf({ filename, content_type: type }: { filename: string; content_type: string }): {
  type: string;
  disposition: string;
} {
  const ascii = filename.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(filename).replace(
    /['()*!]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return {
    type: PASSIVE.test(type) ? type : 'application/octet-stream',
    disposition: `attachment; filename="${ascii}"${ascii === filename ? '' : `; filename*=UTF-8''${encoded}`}`,
  };
}
