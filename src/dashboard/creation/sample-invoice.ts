/** The customer of sample invoices, whose ICE has a valid check key. Its invoices are accepted in test. */
export const SAMPLE_CUSTOMER = { ice: '001234567000062', name: 'Atlas Distribution SARL' } as const;
