import { ApiProperty } from '@nestjs/swagger';

/** A paid invoice. */
export class AcmeInvoiceBody {
  @ApiProperty({ type: String, minLength: 1, maxLength: 64, description: 'Number of the invoice.', example: '2026-17' })
  number: string;

  @ApiProperty({
    type: String,
    minLength: 1,
    maxLength: 2048,
    description: 'Id of the destination to notify, or an HTTPS URL.',
    example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
  })
  destination: string;
}

/** The message that was accepted for an invoice. */
export class AcmeInvoiceSent {
  @ApiProperty({ type: String, description: 'Id of the message.', example: 'msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  message_id: string;
}
