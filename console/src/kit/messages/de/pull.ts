import type { pullEn } from '../en/pull';

/** Texts about the positions of pull consumers, in German. */
export const pullDe: Readonly<Record<keyof typeof pullEn, string>> = {
  'nav.pull': 'Abholstände',
  'shortcut.pull': 'Abholstände',
  'pull.text':
    'Wie weit die Abholer von Pull-Zielen sind. Bestätigt wird Abgeholtes durch das nächste Abholen mit seinem Cursor oder durch ein Ack.',
  'pull.none': 'Noch keine Pull-Ziele. Legen Sie ein Ziel vom Typ pull für Abholer an, die selbst kommen.',
  'pull.destination': 'Ziel',
  'pull.consumer': 'Holt ab',
  'pull.everything': 'alles',
  'pull.backlog': 'Ausstehend',
  'pull.oldest': 'Ältestes Unbestätigtes',
  'pull.position': 'Bestätigt bis',
  'pull.moved': 'Zuletzt bestätigt',
  'pull.copy': 'Pfad kopieren',
  'pull.copy-of': 'Pfad von {id} kopieren',
  'pull.at-least': '{count}+',
  'pull.count': '{count}',
  'pull.nothing-yet': 'noch nichts',
};
