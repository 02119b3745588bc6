import type { JsonFault } from '../json/read-json';
import { t } from '../messages/t';

/** What is wrong with JSON that somebody typed, and in which line where that is known. */
export function tellJsonFault({ message, number, line }: JsonFault): string {
  return (
    (number === undefined ? message : t('code.number', { number })) +
    (line === null ? '' : ` (${t('code.line', { line })})`)
  );
}
