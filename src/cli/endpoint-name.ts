import type { components, PosthornClient } from '../client/index.js';
import { CommandFailure, EXIT } from './failure.js';

type Endpoint = components['schemas']['EndpointItem'];

/** Finds an endpoint by its `ep_` id, its name, or the last path segment of its URL. */
export async function endpointNamed(client: PosthornClient, name: string): Promise<Endpoint> {
  if (name.startsWith('ep_')) return client.get('/v1/endpoints/{id}', { params: { path: { id: name } } });
  const found: Endpoint[] = [];
  for await (const endpoint of client.all('/v1/endpoints', { params: { query: { limit: 100 } } })) {
    if (endpoint.name === name || endpoint.url.endsWith(`/${name}`)) found.push(endpoint);
  }
  const [endpoint, ...others] = found;
  if (endpoint === undefined)
    throw new CommandFailure(
      `There is no endpoint ${JSON.stringify(name)}. \`posthorn endpoints\` lists them.`,
      EXIT.notFound,
    );
  if (others.length > 0)
    throw new CommandFailure(`Several endpoints are called ${JSON.stringify(name)}: use the ep_ id.`, EXIT.usage);
  return endpoint;
}
