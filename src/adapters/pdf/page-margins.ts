import type { LegalInvoice } from '../../domain/invoice/ports.ts';
import { type Format, NO_BREAK_SPACE } from '../../text/document-format.ts';
import { isolated } from '../../text/markup.ts';
import type { Labels } from './labels.ts';
import type { PageMargins } from './page-style.ts';

/**
 * Returns the texts in the margins of an invoice's pages, as plain text, because CSS page margins cannot contain
 * elements.
 */
export function pageMargins({ number, seller, currency }: LegalInvoice, labels: Labels, format: Format): PageMargins {
  const part = (text: string) => inPlainText(labels, text);
  const identifiers: [string, string][] = [
    [labels.ice, seller.ice],
    [labels.taxIdShort, seller.taxId],
    [labels.tradeRegisterShort, seller.tradeRegister],
    [labels.professionalTaxShort, seller.professionalTax],
    [labels.cnss, seller.cnss],
  ];
  const capital = `${part(seller.legalForm)} ${labels.capital} ${part(format.money(seller.capital, currency))}`;
  return {
    runningHead: breakable(`${labels.title} ${part(number)} · ${part(shortened(seller.legalName))}`),
    legalFoot: [
      `${breakable(part(seller.legalName))}, ${onOneLine(capital)}`,
      ...identifiers.map(([label, value]) => onOneLine(`${label} ${part(value)}`)),
    ].join(`${NO_BREAK_SPACE}· `),
    pageWord: labels.page,
  };
}

/** Shortens a text to 80 characters, so that it fits the one line of the page header. */
function shortened(text: string): string {
  const characters = [...text];
  return characters.length > 80 ? `${characters.slice(0, 79).join('')}…` : text;
}

/**
 * Isolates the direction of a text where elements cannot be used. In right-to-left documents this also covers plain
 * numbers.
 */
export function inPlainText({ direction }: Labels, text: string): string {
  return direction === 'rtl' ? `\u2068${isolated(text)}\u2069` : isolated(text);
}

/**
 * Prevents line breaks in a text of the page footer: no-break spaces, and word joiners after characters that allow a
 * break. A text that may be longer than a line of the footer stays {@link breakable}.
 */
function onOneLine(text: string): string {
  if (text.length > LINE_OF_WIDE_LETTERS) return breakable(text);
  return text.replaceAll(/\s/g, NO_BREAK_SPACE).replaceAll(/[-|‐–—](?=.)|\/(?=\S)/gs, `$&${WORD_JOINER}`);
}

/** Adds a break opportunity every 24 characters of a long word, because page margins break lines only at spaces. */
function breakable(text: string): string {
  return text.replaceAll(/\S{24}/gu, '$&\u200b');
}

/** Number of emoji, the widest characters, that fit on a line of the footer. */
const LINE_OF_WIDE_LETTERS = 48;
const WORD_JOINER = '\u2060';
