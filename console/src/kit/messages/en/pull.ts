/** Texts of the positions of pull consumers. */
export const pullEn = {
  'nav.pull': 'Pull positions',
  'shortcut.pull': 'Pull positions',
  'pull.text':
    'How far the consumers of pull destinations have come. What is pulled is acknowledged by the next pull with its cursor, or by an ack.',
  'pull.none': 'No pull destinations yet. Make a destination of type pull for consumers that come and fetch.',
  'pull.destination': 'Destination',
  'pull.consumer': 'Pulls',
  'pull.everything': 'everything',
  'pull.backlog': 'Waiting',
  'pull.oldest': 'Oldest unacknowledged',
  'pull.position': 'Acknowledged through',
  'pull.moved': 'Last acknowledged',
  'pull.copy': 'Copy path',
  'pull.copy-of': 'Copy path of {id}',
  'pull.at-least': '{count}+',
  'pull.count': '{count}',
  'pull.nothing-yet': 'nothing yet',
} as const;
