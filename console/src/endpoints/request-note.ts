import { t } from '../kit/messages/t';

/** Returns the text for the note of a request. The API's notes are sentences, except for one word. */
export function describeNote(note: string | null): string | null {
  return note === 'transformed' ? t('request.transformed') : note;
}
