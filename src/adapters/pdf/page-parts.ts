import type { PrintedInvoice } from '../../domain/invoice/ports.ts';
import type { Format } from '../../text/document-format.ts';
import { html, type Markup } from '../../text/markup.ts';
import type { Labels } from './labels.ts';

/** An invoice, credit note or draft with the labels and number formats of its language. */
export interface Texts extends Pick<PrintedInvoice, 'invoice' | 'logo'> {
  /** The authority's acceptance; null for a draft. */
  readonly decision: Omit<PrintedInvoice, 'invoice' | 'logo'> | null;
  readonly labels: Labels;
  readonly format: Format;
}

/** Marks up a text of a client, isolated in its own direction. */
export function name(text: string): Markup {
  return html`<bdi dir="auto">${text}</bdi>`;
}

/** Marks up numbers so that they stay left-to-right in a text of any direction. */
export function figures(text: string): Markup {
  return html`<bdi dir="ltr" class="nowrap">${text}</bdi>`;
}

/** Writes the head of a column. */
export function columnHead(label: string, kind: 'index' | 'text' | 'figure'): Markup {
  return html`<th scope="col" class="${kind}">${label}</th>`;
}

/** Writes a table cell with a number. */
export function figure(text: string | Markup): Markup {
  return html`<td class="figure">${text}</td>`;
}
