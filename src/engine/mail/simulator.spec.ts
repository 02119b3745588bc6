import { simulatedRole } from './simulator.js';

describe('simulatedRole', () => {
  it.each([
    ['delivered@simulator.example.com', 'delivered'],
    ['Bounced@Simulator.example.com', 'bounced'],
    ['bounced+some-label@simulator.example.com', 'bounced'],
    ['complained+1@simulator.example.com', 'complained'],
    ['suppressed@simulator.example.com', 'suppressed'],
    ['deferred@simulator.example.com', 'deferred'],
    ['anybody@simulator.example.com', 'delivered'],
    ['bounced@example.com', null],
    ['bounced@simulator.example.com.evil.org', null],
    ['bounced@notsimulator.example.com', null],
  ])('%s → %s', (address, role) => {
    expect(simulatedRole(address, 'example.com')).toBe(role);
  });
});
