import { bodyHmac, jsonSample, type Preset } from '../preset.js';

/** Presets for video and speech. */
export const MEDIA: readonly Preset[] = [
  {
    id: 'mux',
    title: 'Mux',
    verify: bodyHmac('mux-signature', {
      list: { separator: ',', signature: 'v1', timestamp: 't' },
      signed: ['timestamp', { literal: '.' }, 'body'],
      timestamp: { from: 'list', unit: 's', toleranceSeconds: 300 },
    }),
    secret: 'The signing secret of the webhook.',
    eventType: [[{ member: 'type' }]],
    dedupeId: [[{ member: 'id' }]],
    response: null,
    retry: { note: 'Mux waits five seconds and retries with growing delays for 24 hours.' },
    sample: jsonSample({
      type: 'video.asset.ready',
      id: '{{id}}',
      created_at: '{{iso}}',
      object: { type: 'asset', id: '0201p02fGKPE7MrbC269XRD7LpcHhrmbu0002' },
      environment: { name: 'Production', id: 'j0863n' },
      data: { id: '0201p02fGKPE7MrbC269XRD7LpcHhrmbu0002', status: 'ready', duration: 23.9 },
    }),
  },
  {
    id: 'elevenlabs',
    title: 'ElevenLabs',
    verify: bodyHmac('elevenlabs-signature', {
      list: { separator: ',', signature: 'v0', timestamp: 't' },
      signed: ['timestamp', { literal: '.' }, 'body'],
      timestamp: { from: 'list', unit: 's', toleranceSeconds: 1800 },
    }),
    secret: 'The secret of the webhook, with its prefix (wsec_…).',
    eventType: [[{ member: 'type' }]],
    dedupeId: [],
    response: null,
    retry: {
      note: 'ElevenLabs retries up to five times after 408, 429 and 5xx if retries are on, and switches off a webhook that keeps failing.',
    },
    sample: jsonSample({
      type: 'post_call_transcription',
      event_timestamp: '{{seconds}}',
      data: { agent_id: 'xyz', conversation_id: '{{id}}', status: 'done', transcript: [] },
    }),
  },
];
