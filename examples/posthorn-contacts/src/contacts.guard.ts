import { type CanActivate, type ExecutionContext, ForbiddenException, Injectable } from '@nestjs/common';

/** Rejects changes while the operator moves the contacts to another database. */
@Injectable()
export class ReadOnlyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { method } = context.switchToHttp().getRequest<{ method: string }>();
    if (process.env['CONTACTS_READ_ONLY'] === 'true' && method !== 'GET')
      throw new ForbiddenException('The contacts are being moved. Change them later.');
    return true;
  }
}
