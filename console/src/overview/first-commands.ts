/** Commands for the first steps. They can be run unchanged, one after the other in the same terminal. */
export interface FirstCommands {
  key: string;
  destination: string;
  event: string;
  collect: string;
}

/**
 * Returns the commands for a service. `service` is its URL with a trailing slash. Without a key, the commands contain a
 * placeholder.
 */
export function firstCommands(service: string, environment: string, key: string | null): FirstCommands {
  const signed = `-H "Authorization: Bearer $POSTHORN_KEY"`;
  const json = `-H 'Content-Type: application/json'`;
  return {
    key: `export POSTHORN_KEY='${key ?? `ek_${environment}_…`}'`,
    destination: `DST=$(curl -s '${service}v1/destinations' ${signed} \\\n  ${json} \\\n  -d '{"name": "First steps", "type": "pull"}' | grep -o 'dst_[0-9A-Z]*' | head -n 1); echo "$DST"`,
    event: `curl -s '${service}v1/send' ${signed} \\\n  ${json} \\\n  -d "{\\"destination\\": \\"$DST\\", \\"event_type\\": \\"invoice.paid\\", \\"payload\\": {\\"amount\\": 4200}}"`,
    collect: `curl -s "${service}v1/pull/$DST" ${signed}`,
  };
}
