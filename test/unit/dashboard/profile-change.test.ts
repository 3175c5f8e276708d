import { describe, expect, it } from 'vitest';
import type { Seller } from '../../../src/dashboard/settings/documents.ts';
import { profileChange, typedProfile } from '../../../src/dashboard/settings/profile-change.ts';

const UNKNOWN: Seller = {
  legalName: null,
  legalForm: null,
  capital: null,
  ice: null,
  taxId: null,
  tradeRegister: null,
  professionalTax: null,
  cnss: null,
  email: null,
  address: null,
  paymentMode: null,
  paymentMeans: null,
  paymentTermDays: null,
  bankAccount: null,
  operationDateIsIssueDate: false,
  exemptionReason: null,
  documentLanguage: null,
  logo: null,
  missingFields: [],
};
const KNOWN: Seller = {
  ...UNKNOWN,
  legalName: 'Atlas',
  capital: 10_000_050,
  ice: '001234567000089',
  email: 'a@example.com',
  address: { street: '1, rue', city: 'Fès', postalCode: null },
  paymentMeans: 'cheque',
  paymentTermDays: 30,
  bankAccount: '999780000128473900001726',
  exemptionReason: 'x',
  documentLanguage: 'ar',
};

/** The change after these texts were typed into the form of a profile. */
function typing(seller: Seller, texts: Partial<Record<string, string>>) {
  const typed = typedProfile(seller);
  return profileChange(seller, { ...typed, texts: { ...typed.texts, ...texts } });
}

describe('the change of a profile', () => {
  it('is nothing for what was not typed, or typed in another way', () => {
    expect([typing(UNKNOWN, {}), typing(KNOWN, {})]).toEqual([{}, {}]);
    const same = { capital: ' 100 000,50', ice: '001 234 567 000 089', bankAccount: '999 780 0001284739000017 26' };
    expect(typing(KNOWN, { ...same, legalName: ' Atlas ', street: '1, rue ' })).toEqual({});
  });

  it('has centimes, days and the whole address', () => {
    expect(typing(UNKNOWN, { capital: '100000', paymentTermDays: '60', street: '2, rue', city: 'Fès' })).toEqual({
      capital: 10_000_000,
      paymentTermDays: 60,
      address: { street: '2, rue', city: 'Fès', postalCode: null },
    });
    expect(typing(KNOWN, { capital: '0,5', postalCode: '30000' })).toEqual({
      capital: 50,
      address: { street: '1, rue', city: 'Fès', postalCode: '30000' },
    });
  });

  it('removes what may be unknown, and sends the rest as typed, so that the service says what is wrong', () => {
    const emptied = { paymentTermDays: '', bankAccount: ' ', exemptionReason: '' };
    expect(typing(KNOWN, emptied)).toEqual({ paymentTermDays: null, bankAccount: null, exemptionReason: null });
    expect(typing(KNOWN, { legalName: '', capital: 'ten', paymentTermDays: '1.5', email: '' })).toEqual({
      legalName: '',
      capital: -1,
      paymentTermDays: -1,
      email: '',
    });
    const typed = typedProfile(KNOWN);
    const chosen = { paymentMeans: '', documentLanguage: 'fr', operationDateIsIssueDate: true, logo: null } as const;
    expect(profileChange(KNOWN, { ...typed, ...chosen })).toEqual({ ...chosen, paymentMeans: null });
  });
});
