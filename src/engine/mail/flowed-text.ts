const QUOTE = /^>+/;
const SIGNATURE_SEPARATOR = '-- ';

/**
 * Joins the lines of a format=flowed text (RFC 3676) into paragraphs and removes the space-stuffing. Joins lines only
 * within the same quote depth. `deletesSpace` (DelSp=yes): the space at the end of a line is part of the line break.
 */
export function joinFlowedLines(text: string, deletesSpace: boolean): string {
  const lines: string[] = [];
  let pieces: string[] = [];
  let openDepth = -1;
  const close = (): void => {
    if (pieces.length > 0) lines.push(pieces.join(''));
    pieces = [];
    openDepth = -1;
  };
  for (const line of text.split('\n')) {
    const depth = QUOTE.exec(line)?.[0].length ?? 0;
    const content = line.slice(line[depth] === ' ' ? depth + 1 : depth);
    if (depth !== openDepth || content === SIGNATURE_SEPARATOR) close();
    const isSoft = content.endsWith(' ') && content !== SIGNATURE_SEPARATOR;
    if (pieces.length === 0 && depth > 0) pieces.push(content === '' ? '>'.repeat(depth) : `${'>'.repeat(depth)} `);
    pieces.push(isSoft && deletesSpace ? content.slice(0, -1) : content);
    openDepth = depth;
    if (!isSoft) close();
  }
  close();
  return lines.join('\n');
}
