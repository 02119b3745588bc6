/** What the addresses of the simulator play, in both environments: nothing is sent to them. */
export type SimulatedRole = (typeof SIMULATED_ROLES)[number];

export const SIMULATED_ROLES = ['delivered', 'bounced', 'complained', 'suppressed', 'deferred'] as const;

/** The host of the simulator's addresses. */
export const simulatorHost = (platformDomain: string): string => `simulator.${platformDomain}`;

/** Whether an address stands at the simulator, whatever is before the "@". */
export function isAtSimulator(address: string, platformDomain: string): boolean {
  return address.toLowerCase().endsWith(`@${simulatorHost(platformDomain)}`);
}

/**
 * The part that an address plays: `bounced@simulator.…` or `bounced+a-label@simulator.…`. Another local part at the
 * simulator takes everything; null for an address anywhere else.
 */
export function simulatedRole(address: string, platformDomain: string): SimulatedRole | null {
  if (!isAtSimulator(address, platformDomain)) return null;
  const [local = ''] = address.toLowerCase().split('@');
  const [name] = local.split('+');
  return SIMULATED_ROLES.find((role) => role === name) ?? 'delivered';
}
