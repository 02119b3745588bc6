/** Texts about the positions of pull consumers, in English. */
export const pullEn = {
  'nav.pull': 'Pull positions',
  'shortcut.pull': 'Pull positions',
  'pull.text':
    'Positions of the consumers of pull destinations. Pulled events are acknowledged by the next pull with its cursor, or by an ack.',
  'pull.none': 'No pull destinations yet. Create a destination of type pull for consumers that fetch events.',
  'pull.destination': 'Destination',
  'pull.consumer': 'Pulls',
  'pull.everything': 'everything',
  'pull.backlog': 'Pending',
  'pull.oldest': 'Oldest unacknowledged',
  'pull.position': 'Acknowledged through',
  'pull.moved': 'Last acknowledged',
  'pull.copy': 'Copy path',
  'pull.copy-of': 'Copy path of {id}',
  'pull.at-least': '{count}+',
  'pull.count': '{count}',
  'pull.nothing-yet': 'nothing yet',
} as const;
