import { decimalText } from './decimal.ts';

/** The currencies of ISO 4217 in which a value beside dirhams may be stated, by their number of decimals. */
const CODES_BY_DECIMALS: readonly string[] = [
  'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF',
  '',
  'AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS WST XCD XCG YER ZAR ZMW ZWG',
  'BHD IQD JOD KWD LYD OMR TND',
];

const DECIMALS: ReadonlyMap<string, number> = new Map(
  CODES_BY_DECIMALS.flatMap((codes, decimals) =>
    codes.split(' ').flatMap((code) => (code === '' ? [] : [[code, decimals] as const])),
  ),
);

/** The codes of all currencies other than the dirham, in their order. */
export const FOREIGN_CURRENCIES: readonly string[] = [...DECIMALS.keys()].sort();

/** Whether a text is the code of a currency other than the dirham, in capitals. */
export function isForeignCurrency(code: string): boolean {
  return DECIMALS.has(code);
}

/** Returns how many decimals a foreign currency has: `EUR` → 2. @throws {RangeError} when it is not known */
export function decimalsOf(currency: string): number {
  const decimals = DECIMALS.get(currency);
  if (decimals === undefined) throw new RangeError(`${currency} is not the code of a foreign currency`);
  return decimals;
}

/**
 * Writes an amount of a foreign currency with a point: `100050` of EUR → `"1000.50"`.
 * @param amount in its smallest unit
 */
export function foreignAmountText(amount: number, currency: string): string {
  const decimals = decimalsOf(currency);
  return decimalText(BigInt(amount), decimals, decimals);
}
