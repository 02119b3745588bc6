import type { pullEn } from '../en/pull';

/** Texts about the positions of pull consumers, in German. */
export const pullDe: Readonly<Record<keyof typeof pullEn, string>> = {
  'nav.pull': 'Pull-Consumer',
  'shortcut.pull': 'Pull-Consumer',
  'pull.text':
    'Consumer bestätigen Events mit einem Ack-Aufruf oder mit dem zurückgegebenen Cursor beim nächsten Pull.',
  'pull.none': 'Noch keine Pull-Consumer',
  'pull.none-text': 'Consumer hinter einer Firewall holen Events selbst ab. Dafür ein Ziel vom Typ pull erstellen.',
  'pull.open-destinations': 'Zu den Zielen',
  'pull.destination': 'Ziel',
  'pull.consumer': 'Quelle',
  'pull.everything': 'Alle Events',
  'pull.backlog': 'Ausstehend',
  'pull.oldest': 'Ältestes ausstehendes',
  'pull.position': 'Position',
  'pull.moved': 'Zuletzt bestätigt',
  'pull.copy': 'Pfad kopieren',
  'pull.at-least': '{count}+',
  'pull.count': '{count}',
  'pull.nothing-yet': 'Noch nichts',
};
