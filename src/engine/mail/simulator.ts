/** Role of a simulator address, valid in the environments `live` and `test`. Mail to it is never sent. */
export type SimulatedRole = (typeof SIMULATED_ROLES)[number];

export const SIMULATED_ROLES = ['delivered', 'bounced', 'complained', 'suppressed', 'deferred'] as const;

export const simulatorHost = (platformDomain: string): string => `simulator.${platformDomain}`;

export function isAtSimulator(address: string, platformDomain: string): boolean {
  return address.toLowerCase().endsWith(`@${simulatorHost(platformDomain)}`);
}

/**
 * Returns the role of an address such as `bounced@…` or `bounced+a-label@…`. Other names have the role `delivered`.
 * Null for other hosts.
 */
export function simulatedRole(address: string, platformDomain: string): SimulatedRole | null {
  if (!isAtSimulator(address, platformDomain)) return null;
  const [local = ''] = address.toLowerCase().split('@');
  const [name] = local.split('+');
  return SIMULATED_ROLES.find((role) => role === name) ?? 'delivered';
}
