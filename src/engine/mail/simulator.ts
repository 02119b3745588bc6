/** Behavior of a simulator address, in both environments. No mail is sent to such an address. */
export type SimulatedRole = (typeof SIMULATED_ROLES)[number];

export const SIMULATED_ROLES = ['delivered', 'bounced', 'complained', 'suppressed', 'deferred'] as const;

/** Returns the host of the simulator's addresses. */
export const simulatorHost = (platformDomain: string): string => `simulator.${platformDomain}`;

/** Returns whether an address belongs to the simulator, whatever its local part. */
export function isAtSimulator(address: string, platformDomain: string): boolean {
  return address.toLowerCase().endsWith(`@${simulatorHost(platformDomain)}`);
}

/**
 * Returns the behavior of an address: `bounced@simulator.…` or `bounced+a-label@simulator.…`. Any other local part at
 * the simulator means `delivered`. Returns null for other hosts.
 */
export function simulatedRole(address: string, platformDomain: string): SimulatedRole | null {
  if (!isAtSimulator(address, platformDomain)) return null;
  const [local = ''] = address.toLowerCase().split('@');
  const [name] = local.split('+');
  return SIMULATED_ROLES.find((role) => role === name) ?? 'delivered';
}
