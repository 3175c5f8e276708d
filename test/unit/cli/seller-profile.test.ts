import { describe, expect, it } from 'vitest';
import { readSampleSeller } from '../../../src/cli/demo/samples.ts';
import { ServiceError } from '../../../src/domain/errors.ts';
import { parseLogo } from '../../../src/domain/tenant/logo.ts';
import { parseSellerProfile } from '../../../src/domain/tenant/seller-profile-input.ts';
import { missingProfileFields, SPECIMEN_SELLER } from '../../../src/domain/tenant/tenant.ts';

const parse = (value: unknown) => parseSellerProfile(value, parseLogo);

async function problemsOf(value: unknown): Promise<[param: string | null, message: string][]> {
  try {
    await parse(value);
  } catch (error) {
    if (error instanceof ServiceError) return error.problems.map(({ param, message }) => [param, message]);
    throw error;
  }
  return [];
}

describe('a seller profile', () => {
  it('is accepted whole, in parts or empty', async () => {
    expect(await parse(SPECIMEN_SELLER)).toEqual(SPECIMEN_SELLER);
    expect(await parse({ ice: '001527034000029' })).toEqual({ ice: '001527034000029' });
    expect(await parse({})).toEqual({});
    expect(missingProfileFields(await readSampleSeller())).toEqual([]);
  });

  it('has null for a missing postal code; no other part of an address may be missing', async () => {
    const address = { street: '1, rue A', city: 'Fès' };
    expect(await parse({ address })).toEqual({ address: { ...address, postalCode: null } });
    expect((await problemsOf({ address: { street: '1, rue A' } })).map(([param]) => param)).toEqual(['address.city']);
  });

  it.each([
    [{ ice: '12345' }, 'ice', 'ice must be 15 digits.'],
    [{ ice: '٠٠١٥٢٧٠٣٤٠٠٠٠٢٩' }, 'ice', 'ice must be 15 digits.'],
    [{ ice: 1527034000029 }, 'ice', 'ice must be a string of 15 digits.'],
    [{ ice: null }, 'ice', 'ice must be a string of 15 digits.'],
    [{ legalName: '  ' }, 'legalName', 'legalName must not be empty: expected the legal name.'],
    [{ legalName: 'x'.repeat(201) }, 'legalName', 'legalName is too long: at most 200 characters.'],
    [{ legalName: 'a\u0000' }, 'legalName', expect.stringContaining('control character')],
    [{ legalName: '\ud800' }, 'legalName', expect.stringContaining('half a character')],
    [{ email: 'nobody' }, 'email', expect.stringMatching(/^email must be an e-mail address\b.*"nobody" was sent\.$/)],
    [{ capital: 100.5 }, 'capital', 'capital must be an integer of centimes, zero or more.'],
    [{ capital: -1 }, 'capital', 'capital must be an integer of centimes, zero or more.'],
    [{ capital: '100' }, 'capital', 'capital must be an integer of centimes.'],
    [{ paymentMeans: 'gold' }, 'paymentMeans', expect.stringMatching(/^paymentMeans must be one of transfer, cheque,/)],
    [{ paymentTermDays: 367 }, 'paymentTermDays', 'paymentTermDays must be a whole number of days, 0 to 366.'],
    [{ paymentTermDays: -1 }, 'paymentTermDays', 'paymentTermDays must be a whole number of days, 0 to 366.'],
    [{ paymentTermDays: 1.5 }, 'paymentTermDays', 'paymentTermDays must be a whole number of days, 0 to 366.'],
    [{ bankAccount: '999 780' }, 'bankAccount', expect.stringMatching(/^bankAccount must be the RIB.*24 digits/)],
    [{ bankAccount: '999780000128473900001727' }, 'bankAccount', expect.stringContaining('check key')],
    [{ operationDateIsIssueDate: 'yes' }, 'operationDateIsIssueDate', expect.stringContaining('true or false')],
    [{ address: 'Fès' }, 'address', 'address must be an object with street, city and postalCode.'],
    [{ legal_name: 'x' }, 'legal_name', 'legal_name is not a field of a seller profile.'],
    [[], null, 'The profile must be an object with the fields of a seller profile.'],
    [null, null, 'The profile must be an object with the fields of a seller profile.'],
  ])('%j is refused with the path', async (value, param, message) => {
    expect(await problemsOf(value)).toEqual([[param, message]]);
  });

  it('is refused with all its problems at once', async () => {
    const value = { ice: '1', address: { street: '', city: 'Fès', zip: '3' }, colour: 'red' };
    expect((await problemsOf(value)).map(([param]) => param)).toEqual([
      'ice',
      'address.street',
      'address.zip',
      'colour',
    ]);
  });
});
