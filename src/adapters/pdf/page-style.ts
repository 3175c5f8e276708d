import type { Kind } from '../../domain/invoice/kinds.ts';
import { cssString } from '../../text/markup.ts';
import { FONT_FAMILY } from './fonts.ts';

/** The texts in the margins of every page. */
export interface PageMargins {
  /** Header of all pages but the first. */
  readonly runningHead: string;
  /** Footer: the identification of the seller. */
  readonly legalFoot: string;
  /** The word before `1 / 3`. */
  readonly pageWord: string;
}

/**
 * Returns the style sheet of a printed document: A4 with side margins of 17 mm. Directions are logical (start, end),
 * for any script.
 */
export function pageStyle(margins: PageMargins, direction: 'ltr' | 'rtl', kind: Kind): string {
  const [start, end] = direction === 'ltr' ? ['left', 'right'] : ['right', 'left'];
  // The two boxes of the footer overlap slightly, so that their top borders form one line.
  return `
@page {
  size: A4; margin: 12mm 17mm 20mm; font-family: ${FONT_FAMILY[direction]};
  @top-${start} { content: ${cssString(margins.runningHead)}; ${MARGIN_TEXT} text-align: ${start}; padding-top: 6mm; vertical-align: top; }
  @bottom-${start} { content: ${cssString(margins.legalFoot)}; ${MARGIN_TEXT} ${footSize(margins.legalFoot)} text-align: ${start}; width: 149mm; ${FOOT} }
  @bottom-${end} { content: ${cssString(margins.pageWord)} "\\a0" counter(page) "\\202f/\\202f" counter(pages);
    ${MARGIN_TEXT} width: 28mm; text-align: ${end}; ${FOOT} }
}
@page :first { @top-${start} { content: none; } }
${BODY}
.lines td.text { text-align: ${start}; }${direction === 'rtl' ? RIGHT_TO_LEFT : ''}${STYLE_OF_KIND[kind]}`;
}

/** Returns a smaller font size for long footers: the longest possible profile fits even in the widest letters. */
function footSize(text: string): string {
  return text.replaceAll(/\p{Cf}/gu, '').length > LONG_FOOT ? 'font-size: 4.8pt;' : '';
}

/**
 * Number of characters that fit on five lines of the footer in the normal size when every letter is a W and numbers are
 * not broken.
 */
const LONG_FOOT = 260;
const MARGIN_TEXT = 'font-size: 6.8pt; line-height: 1.3; color: #5b6472;';
const FOOT = 'border-top: .5pt solid #c9ced6; margin-top: 2.5mm; padding-top: 1.4mm; vertical-align: top;';

const BODY = `
/* The page is only printed. Without this the browser would lay it out, draw and show it for the screen as well. */
@media screen { body { display: none; } }
* { box-sizing: border-box; }
:dir(ltr) { font-family: ${FONT_FAMILY.ltr}; font-kerning: auto; }
/* The bold Arabic font's kerning sets some letters (ري, ربـ) so far apart that PDF readers take the gap for a space. */
:dir(rtl) { font-family: ${FONT_FAMILY.rtl}; font-kerning: none; }
body { margin: 0; padding: 0 .3mm; font-size: 8.4pt; line-height: 1.4; color: #1b2430; overflow-wrap: anywhere;
  font-variant-numeric: tabular-nums lining-nums; -webkit-print-color-adjust: exact; }
h1, h2, p, dl, dd, dt, table { margin: 0; padding: 0; font-weight: 400; }
bdi, .lines-of-text { white-space: pre-line; }
/* Spaces between groups of digits are slightly narrower than spaces between words. */
.nowrap, td.figure { white-space: nowrap; word-spacing: -.04em; }
dt, .label, th { font-size: 7.2pt; color: #5b6472; }
h2, caption { font-size: 7pt; font-weight: 700; letter-spacing: .7pt; text-transform: uppercase; color: #17365d; }

.mark { position: fixed; inset: 0; z-index: -1; display: flex; align-items: center; justify-content: center; }
.mark span { font-size: 92pt; font-weight: 700; letter-spacing: 6pt; color: #f6e9e6; transform: rotate(-52deg); white-space: nowrap; }
.notice { margin-bottom: 2.5mm; padding: .7mm 3mm; border: .6pt solid #b3402a; border-radius: 1mm; color: #8f2f1c; text-align: center; font-size: 7.6pt; font-weight: 700; }

.head { display: flex; justify-content: space-between; gap: 10mm; padding-bottom: 3.5mm; border-bottom: 1.2pt solid #17365d; }
.head .seller { flex: 1; min-width: 0; }
.head .logo { display: block; max-width: 56mm; max-height: 15mm; margin-bottom: 2mm; }
.head .name { font-size: 13pt; line-height: 1.25; font-weight: 700; color: #17365d; }
.head .under { color: #5b6472; }
.head .title { flex: none; width: 80mm; }
h1 { font-size: 19pt; line-height: 1.1; font-weight: 700; letter-spacing: 1.5pt; text-transform: uppercase; color: #17365d; text-align: end; }
.head .number { margin-top: .4mm; font-size: 10.5pt; font-weight: 700; text-align: end; }
.facts { margin-top: 2mm; }
.facts div { display: flex; gap: 4mm; justify-content: space-between; align-items: baseline; padding: .35mm 0; border-top: .5pt solid #e3e7ec; }
.facts dt { flex: none; max-width: 34mm; }
.facts dd { min-width: 0; font-weight: 700; text-align: end; }

.parties { display: flex; gap: 8mm; margin: 3mm 0; }
.parties section { flex: 1 1 0; min-width: 0; padding-block: 2mm; }
.parties .customer { flex: none; width: 84mm; padding-inline: 3.5mm; background: #f4f6f9; border-radius: 1.2mm; }
.parties h2 { margin-bottom: .8mm; }
.parties .name { font-size: 9.6pt; font-weight: 700; }
.parties p + .ids { margin-top: .8mm; }
.ids { display: grid; grid-template-columns: auto 1fr; gap: 0 3mm; align-items: baseline; }

table { width: 100%; border-collapse: collapse; }
thead { display: table-header-group; }
th, td { padding: .8mm 1.6mm; text-align: start; }
th { font-weight: 700; vertical-align: bottom; }
td { vertical-align: top; }
tr { break-inside: avoid; }
tbody td, tbody th { border-bottom: .5pt solid #e3e7ec; }
.figure { padding-left: 3.2mm; text-align: right; white-space: nowrap; overflow-wrap: normal; }
td.figure { direction: ltr; unicode-bidi: isolate; }
.lines > thead th { color: #17365d; border-block: .9pt solid #17365d; white-space: nowrap; }
/* The last two lines, the totals, the amount in words and the acceptance stay on one page. */
.lines .end, .lines.whole { break-inside: avoid; }
.lines > .end > tr:nth-last-child(2) > td { border-bottom: .9pt solid #17365d; }
.lines td[colspan] { padding: 0; border: 0; }
.lines > * > tr > .index { width: 1%; white-space: nowrap; }
.lines td.index { color: #5b6472; }
.lines > * > tr > .figure { width: 1%; }
.lines > * > tr > .text { min-width: 45mm; }

/* As wide as the table, without widening it. */
.closing { width: 0; min-width: 100%; break-inside: avoid; }
.deposits { margin-top: 3.2mm; }
.deposits th, .deposits td { padding-block: .5mm; }
.deposits caption { padding: 0 1.6mm .6mm; text-align: start; }
.deposits thead th { border-bottom: .6pt solid #17365d; }
.sums { display: flex; gap: 10mm; align-items: flex-start; justify-content: space-between; margin-top: 3.2mm; }
.sums th, .sums td { padding-block: .5mm; }
.sums .tax { flex: 1 1 0; min-width: 0; }
.sums .tax table { width: auto; min-width: 74mm; }
.sums caption { padding: 0 1.6mm .6mm; text-align: start; }
.sums thead th { border-bottom: .6pt solid #17365d; }
.sums .totals { flex: none; min-width: 76mm; }
.sums .totals th { font-size: inherit; font-weight: 400; color: inherit; }
.sums .totals .payable th, .sums .totals .payable td { border: 0; padding-block: 1.6mm; font-size: 10.5pt; font-weight: 700; color: #fff; background: #17365d; }

.discount { font-size: 0.92em; }
.note { margin-top: 1.5mm; padding: 0 1.6mm; }
.words { margin-top: 2.6mm; padding: 1.6mm 3.5mm; background: #f4f6f9; border-radius: 1.2mm; }
.words strong { font-weight: 700; }

.accepted { display: flex; gap: 2mm; align-items: center; margin-top: 2.6mm; padding-inline-end: 3.5mm; padding-block: 1.2mm; border: .6pt solid #17365d; border-radius: 1.2mm; }
/* White padding keeps the quiet zone of the QR code. */
.accepted .code { flex: none; width: 26.4mm; height: 26.4mm; padding: 2.4mm; background: #fff; border-radius: 1.2mm; }
.accepted svg { display: block; }
.accepted h2 { margin-bottom: .6mm; font-size: 9pt; letter-spacing: 0; text-transform: none; }
.accepted > div { min-width: 0; }
.accepted .digest { font-size: 7.2pt; color: #5b6472; overflow-wrap: anywhere; }
.accepted .address { font-size: 7.2pt; color: #5b6472; word-break: break-all; }
`;

/**
 * Styles for right-to-left pages. Arabic letters are connected, so letter spacing is off. Small sizes are slightly
 * larger; a smaller line height compensates for that.
 */
const RIGHT_TO_LEFT = `
* { letter-spacing: 0 !important; }
body { line-height: 1.36; }
dt, .label, th, h2, caption { font-size: 7.8pt; }
`;

/** Styles for the parts that only one kind of document has. */
const STYLE_OF_KIND: Readonly<Record<Kind, string>> = {
  invoice: '',
  credit_note: `
.correction { margin-bottom: 3mm; padding: 1.6mm 3.5mm; border-inline-start: 1.2pt solid #17365d; background: #f4f6f9; }
.correction h2 { margin-bottom: .6mm; }
`,
};
