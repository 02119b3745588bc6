import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A mailed sign-in code. Codes belong to addresses, which can be members of several organizations. */
@Entity('sign_in_codes')
@Index('sign_in_codes_email_idx', ['email', 'createdAt'])
@Index('sign_in_codes_expires_at_idx', ['expiresAt'])
export class SignInCodeEntity {
  @PrimaryColumn('bytea', { name: 'ticket_hash', primaryKeyConstraintName: 'sign_in_codes_pkey' })
  ticketHash: Buffer;

  @Column('text')
  email: string;

  @Column('bytea', { name: 'code_hash' })
  codeHash: Buffer;

  @Column('int')
  tries: number;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt: Date;

  @Column('timestamptz', { name: 'used_at', nullable: true })
  usedAt: Date | null;

  @Column('text', { default: '' })
  network: string;
}
