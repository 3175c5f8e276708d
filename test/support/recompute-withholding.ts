import type { LegalInvoice } from '../../src/domain/invoice/ports.ts';

/** The texts about withheld VAT that a document must state; null if its buyer withholds none. */
export interface WithheldTexts {
  readonly percent: string;
  readonly amount: string;
  readonly base: string;
  readonly note: string;
}

/**
 * Recomputes the texts as decimal fractions, without code of the service.
 * @param tax the VAT in centimes
 * @param amount of the invoice
 */
export function withheldTexts({ withholding }: LegalInvoice, tax: bigint, amount: bigint): WithheldTexts | null {
  if (withholding === null) return null;
  const { percent, certificate } = withholding;
  const hundredths = tax * BigInt(percent);
  const withheld = hundredths / 100n + (hundredths % 100n >= 50n ? 1n : 0n);
  const proof = certificate
    ? ` Attestation de régularité fiscale n° ${certificate.number} du ${certificate.date}.`
    : '';
  const [base, part, net] = [tax, withheld, amount - withheld].map(dirhams) as [string, string, string];
  const words = [`${percent} % de ${base} MAD`, `soit ${part} MAD. Net à payer : ${net} MAD.`].join(', ');
  return {
    percent: String(percent),
    amount: part,
    base,
    note: `TVA retenue à la source : ${words.replaceAll(/\.(?=\d\d MAD)/g, ',')}${proof}`,
  };
}

function dirhams(centimes: bigint): string {
  const digits = String(centimes).padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
