import { oneLineText } from '../printable-text.ts';
import { date, exemptionCode, LIMITS } from './field-input.ts';
import type { RecordType } from './field-table.ts';

// The fields of a line's exemption, for the table of an invoice's fields.

const EXEMPTION_CERTIFICATE = {
  name: 'ExemptionCertificate',
  inputName: 'ExemptionCertificateInput',
  restName: 'ExemptionCertificate',
  restInputName: 'ExemptionCertificateInput',
  description: 'The certificate of the buyer on which a sale without VAT rests.',
  fields: {
    number: {
      rest: null,
      type: 'text',
      input: oneLineText(LIMITS.certificateNumber, 'the number of the certificate'),
      description: `Its number, at most ${LIMITS.certificateNumber} characters.`,
    },
    date: { rest: null, type: 'text', input: date, description: 'Its date: `2026-01-31`.' },
  },
} as const satisfies RecordType;

export const LINE_EXEMPTION = {
  name: 'Exemption',
  inputName: 'ExemptionInput',
  restName: 'Exemption',
  restInputName: 'ExemptionInput',
  description: 'Why a line has no VAT.',
  fields: {
    code: { rest: null, type: 'exemptionCode', input: exemptionCode, description: 'The reason, with its article.' },
    certificate: {
      rest: null,
      record: EXEMPTION_CERTIFICATE,
      input: 'optional',
      description: 'The certificate of the buyer; null if none is stated.',
      inputDescription: 'The certificate of the buyer. A sale under suspension rests on one.',
    },
  },
} as const satisfies RecordType;
