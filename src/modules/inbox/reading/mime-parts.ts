import type { Transform } from 'node:stream';
import { type AttachmentStream, MailParser } from 'mailparser';
import { transferEncodingIn } from '#engine/mail/mime-parts.js';
import { isUuencode } from '#engine/mail/uuencode.js';
import { Base64Decoder } from './base64-decoder.js';
import { bodyStartIn } from './body-start.js';
import { UuencodeDecoder } from './uuencode-decoder.js';

/** Maximum number of parts of a message. The parser creates all parts before any of them can be skipped. */
const PARTS_MAX = 10_000;
const LEVELS_MAX = 256;
const HEAD_BYTES_MAX = 2 * 1024 * 1024;
/** Size of the pieces in which the parser receives a message, so that it does not copy the whole message. */
const CHUNK_BYTES = 64 * 1024;

const TYPE = /^\s*([\w!#$%&'*+.^`{|}~-]{1,127})\s*\/\s*([\w!#$%&'*+.^`{|}~-]{1,127})/;
/** Matches the character set in the invalid form of a content type that the parser does not split into parameters. */
const CHARSET_IN_INVALID = /charset\s{0,10}=\s{0,10}"?([\w.:+-]{1,40})/i;

/** A MIME part that contains no further parts. Its content has been decoded from its transfer encoding. */
export interface Leaf {
  kind: 'leaf';
  /** Content type in lower case, without parameters. */
  type: string;
  charset: string | null;
  isFlowed: boolean;
  deletesSpace: boolean;
  /** Content-Disposition in lower case. Null if the part has none. */
  disposition: string | null;
  contentId: string | null;
  /** True if a header parameter gives the part a file name. */
  isNamed: boolean;
  /** Lines of the part's header section. Each character stands for one byte. */
  headerLines: readonly RawHeader[];
  sizeBytes: number;
  /** Content of the part. Null if the caller does not need it (`keeps`). */
  content: Buffer | null;
}

/** A MIME part that contains other parts (`multipart/…`). */
export interface Branch {
  kind: 'branch';
  type: string;
  parts: Part[];
  headerLines: readonly RawHeader[];
}

export type Part = Leaf | Branch;

export interface RawHeader {
  /** Name in lower case. */
  key: string;
  /** Whole header line, with the field's name and with line folds. Each character stands for one byte. */
  line: string;
}

export interface MimeMessage {
  root: Part;
  /**
   * True if a multipart has no boundary, or if its boundary does not occur in the message. The multipart's content then
   * becomes a text/plain part.
   */
  lacksBoundary: boolean;
}

/** Returns how many bytes of a leaf's content to keep. Called once per leaf, in order. */
export type Keeps = (leaf: Leaf, parent: Branch | null) => number;

/** Members of mailparser's `MailParser` that its types do not declare. `library-internals.spec.ts` checks them. */
interface Internals {
  /**
   * Content types of the parts that the parser decodes to text. An empty list makes the parser emit all parts as bytes.
   */
  textTypes: string[];
  /** Decodes the headers of a part. Disabled, because `PartHeaders` decodes them instead. */
  processHeaders(lines: readonly RawHeader[]): Map<string, unknown>;
  processChunk(chunk: SplitChunk, done: (error?: Error) => void): void;
  splitter: Splitter;
}

/** The stream that splits the message into the chunks for `processChunk`. */
interface Splitter {
  /** Part that the current line belongs to. `headers` is false until the end of its header section. */
  node: { headers: unknown; _headerlen: number; parseHeaders(): void };
  /** Returns a number if the line is a delimiter of a multipart. */
  checkBoundary(line: Buffer): number | false;
  push(node: Splitter['node']): void;
}

interface SplitNode {
  type: 'node';
  parentNode: SplitNode | false;
  contentType: string | false;
  charset: string | false;
  flowed: boolean;
  delSp: boolean;
  disposition: string | false;
  filename: string | false;
  _boundary: Buffer | false;
  /** Transfer encoding in lower case. */
  encoding: string | false;
  /** False until the header section has been parsed. */
  headers: { getList(): RawHeader[] };
  /** Returns the bytes of the header section, including the empty line. */
  getHeaders(): Buffer;
  getDecoder(): Transform;
}

type SplitChunk = SplitNode | { type: 'data' | 'body'; node: SplitNode; value: Buffer };

/** Splits a message into its parts and decodes their transfer encodings. Throws the parser's errors. */
export async function readParts(raw: Buffer, keeps: Keeps): Promise<MimeMessage> {
  const tree = new PartTree(keeps);
  const parser = parserFor(tree);
  const done = new Promise<void>((resolve, reject) => {
    parser.once('end', resolve);
    // The parser may emit further errors after the first one. Without a listener, they would end the thread.
    parser.on('error', reject);
  });
  parser.on('data', (found) => {
    if (found.type === 'attachment' && !tree.receive(found))
      parser.destroy(new Error('The parser returned an unknown part.'));
  });
  write(parser, raw);
  await done;
  return tree.finish();
}

function parserFor(tree: PartTree): MailParser {
  const parser = new MailParser({
    checksumAlgo: false,
    skipHtmlToText: true,
    skipTextToHtml: true,
    skipImageLinks: true,
    maxChildNodes: PARTS_MAX,
    maxHeadSize: HEAD_BYTES_MAX,
    // Treats a nested message as an attachment, because its contents are not part of this message.
    ignoreEmbedded: true,
  }) as MailParser & Internals;
  parser.textTypes = [];
  parser.processHeaders = () => new Map();
  keepUnendedHeads(parser.splitter);
  const process = parser.processChunk.bind(parser);
  parser.processChunk = (chunk, done) => {
    try {
      if (chunk.type === 'node') {
        const value = takeBody(chunk);
        const part = tree.add(chunk);
        chunk.encoding = transferEncodingIn(chunk.encoding || '');
        if (chunk.encoding === 'base64') chunk.getDecoder = () => new Base64Decoder();
        // A text that is displayed must not lose the lines outside the encoded lines.
        if (part.kind === 'leaf' && isUuencode(chunk.encoding))
          chunk.getDecoder = () => new UuencodeDecoder(isUnnamedText(part));
        if (value !== null) {
          const body = { type: part.kind === 'leaf' ? 'body' : 'data', node: chunk, value } as const;
          return process(chunk, (error) => (error === undefined ? parser.processChunk(body, done) : done(error)));
        }
      } else tree.keepOutside(chunk.node, chunk.value);
    } catch (error) {
      return done(error as Error);
    }
    process(chunk, done);
  };
  return parser;
}

/**
 * Makes the splitter return a part whose header section ends at the delimiter of the next part. The splitter itself
 * returns such a part only before a closing delimiter.
 */
function keepUnendedHeads(splitter: Splitter): void {
  const check = splitter.checkBoundary.bind(splitter);
  splitter.checkBoundary = (line) => {
    const found = check(line);
    const { node } = splitter;
    if (found !== false && node._headerlen > 0 && node.headers === false) {
      node.parseHeaders();
      splitter.push(node);
    }
    return found;
  };
}

/**
 * Removes the beginning of the body from a header section without an empty line before the body. Returns the removed
 * bytes, or null if there are none.
 */
function takeBody(node: SplitNode): Buffer | null {
  const isMessage = node.parentNode === false;
  const head = node.getHeaders();
  const text = head.toString('latin1');
  const start = bodyStartIn(text, isMessage);
  if (start === null) return null;
  node.headers.getList().splice(start.fields);
  // The line break before a delimiter belongs to the delimiter (RFC 2046, section 5.1.1).
  const isEnded = /\n\r?\n$/.test(text.slice(-3));
  return head.subarray(start.at, isMessage || isEnded ? head.length : text.replace(/\r?\n$/, '').length);
}

/** Returns whether a part is text or HTML without a name, and is not declared as a file. */
export function isUnnamedText({ type, isNamed, disposition }: Leaf): boolean {
  const isText = type === 'text/plain' || type === 'text/html';
  return isText && !isNamed && (disposition === null || disposition === 'inline');
}

/** Writes the message in chunks. Waits whenever the parser's buffer is full. */
function write(parser: MailParser, raw: Buffer): void {
  let at = 0;
  const next = (): void => {
    while (at < raw.length && !parser.destroyed) {
      const piece = raw.subarray(at, at + CHUNK_BYTES);
      at += piece.length;
      if (!parser.write(piece)) return void parser.once('drain', next);
    }
    parser.end();
  };
  next();
}

/** A part with its place in the tree. */
interface Placed {
  part: Part;
  level: number;
  parent: Branch | null;
}

/** Builds the tree of parts while the parser finds them. */
class PartTree {
  private readonly parts = new Map<SplitNode, Placed>();
  private readonly outside = new Map<Branch, { chunks: Buffer[]; boundary: Buffer | false }>();
  /** Leaves whose content has not arrived yet. Contents arrive in the order of the leaves. */
  private readonly waiting: { leaf: Leaf; bytesMax: number }[] = [];
  private root: Part | null = null;

  constructor(private readonly keeps: Keeps) {}

  add(node: SplitNode): Part {
    const above = node.parentNode === false ? undefined : this.parts.get(node.parentNode);
    const parent = above === undefined ? null : this.branchFor(above);
    const level = (above?.level ?? 0) + 1;
    if (level > LEVELS_MAX) throw new Error(`It has more than ${LEVELS_MAX} levels of parts.`);
    const part = partOf(node, parent);
    this.parts.set(node, { part, level, parent });
    this.root ??= part;
    if (parent !== null) {
      parent.parts.push(part);
      this.outside.delete(parent);
    }
    if (part.kind === 'leaf') this.waiting.push({ leaf: part, bytesMax: this.keeps(part, parent) });
    else this.outside.set(part, { chunks: [], boundary: node._boundary });
    return part;
  }

  /**
   * Returns the branch for the parts of a node. A node with an invalid type and a boundary, such as `multipart; boundary=x`,
   * is a leaf with parts. They are then beside the leaf, so that none is lost.
   */
  private branchFor(above: Placed): Branch {
    if (above.part.kind === 'branch') return above.part;
    above.parent ??= {
      kind: 'branch',
      type: 'multipart/mixed',
      parts: [above.part],
      headerLines: above.part.headerLines,
    };
    if (this.root === above.part) this.root = above.parent;
    return above.parent;
  }

  /**
   * Keeps the bytes of a multipart that are outside its parts. If the multipart has no parts, these bytes are its
   * content.
   */
  keepOutside(node: SplitNode, bytes: Buffer): void {
    const part = this.parts.get(node)?.part;
    if (part?.kind === 'branch') this.outside.get(part)?.chunks.push(bytes);
  }

  /** Returns false if no leaf waits for content. */
  receive(attachment: AttachmentStream): boolean {
    const next = this.waiting.shift();
    if (next === undefined) return false;
    const { leaf, bytesMax } = next;
    const kept: Buffer[] = [];
    let left = bytesMax;
    attachment.content.on('data', (chunk: Buffer) => {
      leaf.sizeBytes += chunk.length;
      if (left <= 0) return;
      kept.push(chunk.subarray(0, left));
      left -= chunk.length;
    });
    attachment.content.once('end', () => {
      if (bytesMax > 0) leaf.content = Buffer.concat(kept);
      attachment.release?.();
    });
    return true;
  }

  finish(): MimeMessage {
    let lacksBoundary = false;
    for (const [branch, { chunks, boundary }] of this.outside) {
      const content = withoutDelimiters(Buffer.concat(chunks), boundary);
      if (content.toString('latin1').trim() === '') continue;
      lacksBoundary = true;
      const leaf = { ...textLeaf(branch.headerLines), sizeBytes: content.length };
      // `keeps` treats the first part of a multipart/related as text, so the leaf must be in its branch before `keeps`
      // runs.
      branch.parts.push(leaf);
      leaf.content = content.subarray(0, this.keeps(leaf, branch));
    }
    return { root: this.root ?? textLeaf([]), lacksBoundary };
  }
}

function partOf(node: SplitNode, parent: Branch | null): Part {
  const headerLines = node.headers.getList();
  const declared = node.contentType || 'text/plain';
  // mailparser decides in the same way which parts have content of their own.
  if (declared.startsWith('multipart/')) return { kind: 'branch', type: declared, parts: [], headerLines };
  const header = (name: string): string | null => {
    const line = headerLines.find(({ key }) => key === name)?.line;
    return line === undefined ? null : line.slice(line.indexOf(':') + 1).trim();
  };
  // In a digest, a part without a type is a message (RFC 2046, section 5.1.5).
  const isMessage = parent?.type === 'multipart/digest' && header('content-type') === null;
  const charset = node.charset || CHARSET_IN_INVALID.exec(node.contentType || '')?.[1];
  return {
    ...textLeaf(headerLines),
    type: isMessage ? 'message/rfc822' : leafTypeOf(declared, node.filename !== false),
    charset: charset ?? null,
    isFlowed: node.flowed,
    deletesSpace: node.delSp,
    disposition: node.disposition || null,
    contentId: header('content-id'),
    isNamed: node.filename !== false,
  };
}

/**
 * Returns the type at the start of a content type. Some programs write `text/plain charset=utf-8`, `text/html,
 * charset=utf-8` or `text / plain`. An invalid type is text/plain (RFC 2045, section 5.2), unless the part is a file.
 * `multipart / mixed` counts as invalid, because the parser does not treat it as a multipart.
 */
function leafTypeOf(contentType: string, isNamed: boolean): string {
  const [, type, subtype] = TYPE.exec(contentType) ?? [];
  if (type !== undefined && type !== 'multipart') return `${type}/${subtype}`;
  return isNamed ? 'application/octet-stream' : 'text/plain';
}

function textLeaf(headerLines: readonly RawHeader[]): Leaf {
  return {
    kind: 'leaf',
    type: 'text/plain',
    charset: null,
    isFlowed: false,
    deletesSpace: false,
    disposition: null,
    contentId: null,
    isNamed: false,
    headerLines,
    sizeBytes: 0,
    content: null,
  };
}

/** Returns the content of a multipart that has no parts, without its closing delimiters. */
function withoutDelimiters(content: Buffer, boundary: Buffer | false): Buffer {
  if (boundary === false) return content;
  const closing = `--${boundary.toString('latin1')}--`;
  const lines = content.toString('latin1').split(/(?<=\n)/);
  return Buffer.from(lines.filter((line) => line.trimEnd() !== closing).join(''), 'latin1');
}
