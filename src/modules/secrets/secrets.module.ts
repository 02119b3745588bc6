import { Module } from '@nestjs/common';
import { SealedSecrets } from './sealed-secrets.js';
import { SecretKeeper } from './secret-keeper.js';
import { SecretUsesStore } from './secret-uses.store.js';
import { SecretsController } from './secrets.controller.js';
import { SecretsService } from './secrets.service.js';
import { SecretsStore } from './secrets.store.js';

/** Named secrets. The API can write values but not read them. They are decrypted only for use. */
@Module({
  controllers: [SecretsController],
  providers: [SealedSecrets, SecretKeeper, SecretUsesStore, SecretsService, SecretsStore],
  exports: [SecretUsesStore, SealedSecrets],
})
export class SecretsModule {}
