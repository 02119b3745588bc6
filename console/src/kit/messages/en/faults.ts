/** Texts for errors of the API, in English. Contains only errors whose own message names a route or says too little. */
export const faultsEn = {
  'fault.reason.domain_paused':
    'This domain is paused, because too many of its emails bounced or were reported as spam. Open the domain to see the rates, and select “Resume”.',
  'fault.reason.domain_not_verified':
    'The sender’s domain is not verified. Add the domain under “Domains” and publish its DNS records.',
  'fault.reason.in_flight': 'The same request is still running. Try again in a moment.',
  'fault.reason.key_reused': 'This request was already sent with other content. Reload the page.',
  'fault.reason.disabled':
    'The target is disabled or was deleted. Nothing was sent. Select “Enable” on its page first.',
  'fault.reason.erased': 'The payload of this event was erased, so it cannot be sent again.',
  'fault.reason.cancelled': 'This email was canceled and its content deleted, so it cannot be sent.',
  'fault.reason.too_large': 'The body was too large to be stored, so the request cannot be sent again.',
  'fault.reason.replay_live':
    'A job for the same events is still running. Wait until it ends, or stop it under “Jobs”.',
  'fault.reason.nothing_new': 'There is nothing new to do.',
  'fault.internal':
    'The request failed because of an internal error. Before you repeat a change, check whether it was saved. If it fails again, report the request ID: the service’s log contains the cause.',
  'fault.internal-load':
    'The data could not be loaded because of an internal error. Try again. If it fails again, report the request ID: the service’s log contains the cause.',
  'fault.unavailable': 'The service is temporarily unavailable. Try again in a moment.',
  'fault.parts': 'Not loaded: {names}.',
  'fault.in-use': 'It is still in use. Remove these uses first.',
  'fault.original': 'Message of the service',
} as const;
