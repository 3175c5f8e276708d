import type { LegalInvoice } from '../../domain/invoice/ports.ts';
import { type Format, NO_BREAK_SPACE } from '../../text/document-format.ts';
import { isolated } from '../../text/markup.ts';
import type { Labels } from './labels.ts';
import type { PageMargins } from './page-style.ts';

/** The texts in the margins of an invoice's pages. They are plain text, because page margins hold no elements. */
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
    runningHead: breakable(`${labels.invoice} ${part(number)} · ${part(shortened(seller.legalName))}`),
    legalFoot: [
      `${breakable(part(seller.legalName))}, ${onOneLine(capital)}`,
      ...identifiers.map(([label, value]) => onOneLine(`${label} ${part(value)}`)),
    ].join(`${NO_BREAK_SPACE}· `),
    pageWord: labels.page,
  };
}

/** At most 80 characters: the head of a page has one line. */
function shortened(text: string): string {
  const characters = [...text];
  return characters.length > 80 ? `${characters.slice(0, 79).join('')}…` : text;
}

/** A text in a direction of its own where there are no elements; between Arabic, figures need it too. */
export function inPlainText({ direction }: Labels, text: string): string {
  return direction === 'rtl' ? `\u2068${isolated(text)}\u2069` : isolated(text);
}

/**
 * A text that the foot does not break: no-break spaces, and word joiners after the signs that a line may end with. What may be longer than a
 * line of the foot is left {@link breakable}.
 */
function onOneLine(text: string): string {
  if (text.length > LINE_OF_WIDE_LETTERS) return breakable(text);
  return text.replaceAll(/\s/g, NO_BREAK_SPACE).replaceAll(/[-|‐–—](?=.)|\/(?=\S)/gs, `$&${WORD_JOINER}`);
}

/** Margins break lines at spaces alone: long words get places to break at. */
function breakable(text: string): string {
  return text.replaceAll(/\S{24}/gu, '$&\u200b');
}

/** How many emoji, which are the widest characters, fit a line of the foot. */
const LINE_OF_WIDE_LETTERS = 48;
const WORD_JOINER = '\u2060';
