/** Texts about the positions of pull consumers, in English. */
export const pullEn = {
  'nav.pull': 'Pull consumers',
  'shortcut.pull': 'Pull consumers',
  'pull.text': 'Consumers acknowledge events with an ack call, or by passing the returned cursor to the next pull.',
  'pull.none': 'No pull destinations yet. Create a destination of type pull to let consumers fetch events.',
  'pull.destination': 'Destination',
  'pull.consumer': 'Source',
  'pull.everything': 'All events',
  'pull.backlog': 'Pending',
  'pull.oldest': 'Oldest unacknowledged',
  'pull.position': 'Acknowledged up to',
  'pull.moved': 'Last acknowledged',
  'pull.copy': 'Copy path',
  'pull.at-least': '{count}+',
  'pull.count': '{count}',
  'pull.nothing-yet': 'Nothing yet',
} as const;
