import { Injectable } from '@nestjs/common';
import { Every } from '#kernel/concurrency/every.js';
import { OAuthClientsStore } from './oauth-clients.store.js';
import { OAuthCodesStore } from './oauth-codes.store.js';
import { OAuthDevicesStore } from './oauth-devices.store.js';

const EVERY_MS = 600_000;

@Injectable()
export class OAuthSweep {
  constructor(
    private readonly clients: OAuthClientsStore,
    private readonly codes: OAuthCodesStore,
    private readonly devices: OAuthDevicesStore,
  ) {}

  @Every(EVERY_MS, { name: 'OAuth sweep', removesByAge: true })
  async sweep(): Promise<void> {
    await this.clients.purge();
    await this.codes.purge();
    await this.devices.purge();
  }
}
