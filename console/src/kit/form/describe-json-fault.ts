import type { JsonFault } from '../json/read-json';
import { t } from '../messages/t';

/** Describes an error in typed JSON, with its line if known. */
export function describeJsonFault({ message, number, line }: JsonFault): string {
  return (
    (number === undefined ? message : t('code.number', { number })) +
    (line === null ? '' : ` (${t('code.line', { line })})`)
  );
}
