import { z } from 'zod';
import { emailAddress } from '../email-address.ts';
import { expected } from '../input-problems.ts';
import { filledText, oneLineText, printableText } from '../printable-text.ts';
import { DEFAULT_CUSTOMER_KIND } from './customer-kind.ts';
import { country, customerKind, LIMITS } from './field-input.ts';
import type { RecordType } from './field-table.ts';

// The fields of the buyer, one row each: a part of the tables of an invoice (`fields.ts`).

const ICE = z.string({ error: expected('a string of 15 digits') });

export const CUSTOMER = {
  name: 'Customer',
  inputName: 'CustomerInput',
  restName: 'Customer',
  restInputName: 'CustomerInput',
  description: 'The buyer.',
  fields: {
    kind: {
      rest: null,
      type: 'customerKind',
      input: customerKind,
      otherwise: DEFAULT_CUSTOMER_KIND,
      description: 'What the customer is.',
      inputDescription: `What the customer is. Default: \`${DEFAULT_CUSTOMER_KIND}\`, also for null.`,
    },
    ice: {
      rest: 'ice',
      type: 'ice',
      input: ICE.nullish(),
      restInput: {
        input: ICE.meta({ pattern: '^[0-9]{15}$' }),
        inputDescription: 'Identifiant commun de l’entreprise: exactly 15 digits.',
      },
      nullable: true,
      description:
        'Identifiant commun de l’entreprise: exactly 15 digits. Null for a customer who has none; such invoices are created with GraphQL.',
      inputDescription: 'Identifiant commun de l’entreprise: exactly 15 digits. A company has one, others have none.',
      example: '001234567000062',
    },
    name: {
      rest: 'name',
      type: 'text',
      input: filledText(LIMITS.name, 'the name of the company or person, a string'),
      restInput: {
        input: filledText(LIMITS.name, 'the company name, a string'),
        inputDescription: `Company name, at most ${LIMITS.name} characters.`,
      },
      description: `Company name, at most ${LIMITS.name} characters.`,
      inputDescription: `The name of the company or person, at most ${LIMITS.name} characters.`,
      example: 'Atlas Distribution SARL',
    },
    address: {
      rest: 'address',
      type: 'text',
      input: printableText(LIMITS.address, 'a string: the full address').nullish(),
      secretKeyOnly: true,
      description: 'Full address; shown to a secret key only.',
      inputDescription: `Full address, at most ${LIMITS.address} characters.`,
      example: '12, rue des Orangers, Casablanca',
    },
    email: {
      rest: 'email',
      type: 'text',
      input: emailAddress().nullish(),
      secretKeyOnly: true,
      description: 'Where the signed PDF is sent; shown to a secret key only.',
      inputDescription: 'Where the signed PDF is sent.',
      example: 'compta@example.com',
    },
    country: {
      rest: null,
      type: 'text',
      input: country.nullish(),
      description: 'The country of a customer abroad, ISO 3166-1 alpha-2; null: Morocco.',
      inputDescription: 'The country of a customer abroad, ISO 3166-1 alpha-2, such as `FR`; of no other customer.',
    },
    taxNumber: {
      rest: null,
      type: 'text',
      input: oneLineText(LIMITS.taxNumber, 'the tax number of a customer abroad').nullish(),
      description: 'The tax number of a customer abroad, as in its country; null if not stated.',
      inputDescription: `The tax number of a customer abroad, as in its country, at most ${LIMITS.taxNumber} characters.`,
    },
  },
} as const satisfies RecordType;
