import { type ApiDocument, operationOf } from './operation-of';

const DOCUMENT: ApiDocument = {
  paths: {
    '/v1/keys': {
      get: { operationId: 'listKeys', tags: ['Keys'] },
      post: { operationId: 'createKey', tags: ['Keys'] },
    },
    '/v1/events/{id}': { get: { operationId: 'getEvent', tags: ['Events'] } },
    '/v1/events/stream': { get: { operationId: 'streamEvents', tags: ['Events'] } },
    '/v1/app/{app}/endpoints/{endpoint}': { patch: { operationId: 'updateEndpoint', tags: ['Applications'] } },
    '/v1/untagged': { get: { operationId: 'untagged' } },
  },
};

describe('operationOf', () => {
  it.each([
    ['GET', '/v1/keys?limit=100', 'listKeys'],
    ['POST', '/v1/keys', 'createKey'],
    ['GET', '/v1/events/evt_1', 'getEvent'],
    ['GET', '/v1/events/stream', 'streamEvents'],
    ['PATCH', '/v1/app/app_1/endpoints/ep_1', 'updateEndpoint'],
    ['DELETE', '/v1/keys', null],
    ['GET', '/v1/keys/', null],
    ['GET', '/v1/untagged', null],
    ['GET', '/v1/else', null],
  ])('%s %s: %s', (method, path, operationId) => {
    expect(operationOf(DOCUMENT, { method, path })?.operationId ?? null).toBe(operationId);
  });
});
