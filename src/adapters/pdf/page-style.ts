import { cssString } from '../../domain/markup.ts';
import { FONT_FAMILY } from './fonts.ts';

/** What stands in the margins of every page. */
export interface PageMargins {
  /** At the head of all pages but the first. */
  readonly runningHead: string;
  /** At the foot: who the seller is. */
  readonly legalFoot: string;
  /** Before `1 / 3`. */
  readonly pageWord: string;
}

/** The style sheet of the printed invoice: A4, 17 mm at the sides; sizes in points. Directions are logical, for any script. */
export function pageStyle(margins: PageMargins, direction: 'ltr' | 'rtl'): string {
  const [start, end] = direction === 'ltr' ? ['left', 'right'] : ['right', 'left'];
  // The two boxes of the foot overlap a little, so that their rules make one line.
  return `
@page {
  size: A4; margin: 14mm 17mm 23mm;
  @top-${start} { content: ${marginText(margins.runningHead)}; ${MARGIN_TEXT} text-align: ${start}; padding-top: 6mm; vertical-align: top; }
  @bottom-${start} { content: ${marginText(margins.legalFoot)}; ${MARGIN_TEXT} ${footSize(margins.legalFoot)} text-align: ${start}; width: 149mm; ${FOOT} }
  @bottom-${end} { content: ${marginText(margins.pageWord)} "\\a0" counter(page) "\\202f/\\202f" counter(pages);
    ${MARGIN_TEXT} width: 28mm; text-align: ${end}; ${FOOT} }
}
@page :first { @top-${start} { content: none; } }
${BODY}
.lines td.text { text-align: ${start}; }${direction === 'rtl' ? RIGHT_TO_LEFT : ''}`;
}

/** Margins break lines at spaces alone: long words get places to break at. */
function marginText(text: string): string {
  return cssString(text.replaceAll(/\S{24}/gu, '$&\u200b'));
}

/** The foot has room for the longest profile there can be, in the widest letters. */
function footSize(text: string): string {
  return text.length > LONG_FOOT ? 'font-size: 4.8pt;' : '';
}

/** What five lines of the foot hold in its usual size when every letter is a W. */
const LONG_FOOT = 280;
const MARGIN_TEXT = `font: 6.8pt/1.4 "${FONT_FAMILY}", sans-serif; color: #5b6472;`;
const FOOT = 'border-top: .5pt solid #c9ced6; margin-top: 4mm; padding-top: 1.6mm; vertical-align: top;';

const BODY = `
* { box-sizing: border-box; }
body { margin: 0; padding: 0 .3mm; font: 8.6pt/1.45 "${FONT_FAMILY}", sans-serif; color: #1b2430; overflow-wrap: anywhere;
  font-variant-numeric: tabular-nums lining-nums; -webkit-print-color-adjust: exact; }
h1, h2, p, dl, dd, dt, table { margin: 0; padding: 0; font-weight: 400; }
bdi, .lines-of-text { white-space: pre-line; }
/* Spaces between groups of digits, a little narrower than those between words. */
.nowrap, td.figure { white-space: nowrap; word-spacing: -.04em; }

.mark { position: fixed; inset: 0; z-index: -1; display: flex; align-items: center; justify-content: center; }
.mark span { font-size: 92pt; font-weight: 700; letter-spacing: 6pt; color: #f6e9e6; transform: rotate(-52deg); white-space: nowrap; }
.notice { margin-bottom: 5mm; padding: 1.6mm 3mm; border: .8pt solid #b3402a; color: #8f2f1c; text-align: center; font-weight: 700; }

.head { display: flex; justify-content: space-between; gap: 12mm; padding-bottom: 4mm; border-bottom: 1.6pt solid #17365d; }
.head .seller { flex: 1; }
.head .logo { display: block; max-width: 60mm; max-height: 18mm; margin-bottom: 2.5mm; }
.head .name { font-size: 14pt; line-height: 1.25; font-weight: 700; color: #17365d; }
.head .under { margin-top: .6mm; color: #5b6472; }
.head .title { flex: none; max-width: 78mm; text-align: end; }
h1 { font-size: 21pt; line-height: 1.1; font-weight: 700; letter-spacing: 1.5pt; text-transform: uppercase; color: #17365d; }
.head .number { margin-top: 1mm; font-size: 11pt; font-weight: 700; }

.facts { display: flex; gap: 8mm; margin: 4mm 0; }
.facts + .facts { margin-top: -1.5mm; }
.facts div { flex: 1 1 0; }
dt, .label, th { font-size: 7.2pt; color: #5b6472; }
.facts dd { font-weight: 700; }

.parties { display: flex; gap: 6mm; margin-bottom: 5mm; }
.parties section { flex: 1 1 0; min-width: 0; padding: 3mm 3.5mm; border: .6pt solid #c9ced6; border-radius: 1.2mm; }
.parties h2 { margin-bottom: 1mm; font-size: 7.2pt; font-weight: 700; letter-spacing: .8pt; text-transform: uppercase; color: #17365d; }
.parties .name { font-size: 10pt; font-weight: 700; }
.parties p + .ids { margin-top: 1.5mm; }
.ids { display: grid; grid-template-columns: auto 1fr; gap: 0 3mm; align-items: baseline; }

table { width: 100%; border-collapse: collapse; }
thead { display: table-header-group; }
th { padding: 1.6mm 1.6mm; font-weight: 700; text-align: start; vertical-align: bottom; }
td { padding: 1.3mm 1.6mm; vertical-align: top; border-bottom: .5pt solid #dfe3e8; }
tr { break-inside: avoid; }
.figure { text-align: right; white-space: nowrap; overflow-wrap: normal; }
td.figure { direction: ltr; unicode-bidi: isolate; }
.lines th { color: #fff; background: #17365d; white-space: nowrap; }
.lines .index { width: 1%; white-space: nowrap; }
.lines td.index { color: #5b6472; }
.lines .figure { width: 1%; }
.lines .text { min-width: 45mm; }

.sums { display: flex; gap: 10mm; align-items: flex-start; justify-content: space-between; margin-top: 5mm; break-inside: avoid; }
.sums .tax { flex: 1 1 0; min-width: 0; }
.sums .tax table { width: auto; min-width: 72mm; }
.sums .tax caption { padding: 0 1.6mm 1mm; text-align: start; font-size: 7.2pt; font-weight: 700; letter-spacing: .8pt; text-transform: uppercase; color: #17365d; }
.sums .tax th { padding-block: 1mm; border-bottom: .8pt solid #17365d; }
.sums .tax td { padding-block: 1mm; }
.sums .totals { flex: none; min-width: 74mm; }
.totals table td { padding-block: 1.2mm; }
.totals .payable td { border: 0; padding-block: 2mm; font-size: 10.5pt; font-weight: 700; color: #fff; background: #17365d; }

.words { margin-top: 4mm; padding: 2.2mm 3.5mm; background: #f1f4f8; break-inside: avoid; break-before: avoid; }
.words strong { display: block; font-size: 9.4pt; }
.note { margin-top: 3mm; padding: 0 1.6mm; }

.accepted { display: flex; gap: 3mm; align-items: center; margin-top: 5mm; padding: 1mm; padding-inline-end: 3.5mm; border: .8pt solid #17365d; border-radius: 1.2mm;
  break-inside: avoid; }
/* The code keeps its quiet zone, whatever is behind it. */
.accepted .code { flex: none; width: 30.4mm; height: 30.4mm; padding: 2.4mm; background: #fff; }
.accepted svg { display: block; }
.accepted h2 { margin-bottom: 1mm; font-size: 9.4pt; font-weight: 700; color: #17365d; }
.accepted > div { min-width: 0; }
.accepted .address { font-size: 7.2pt; color: #5b6472; word-break: break-all; }
`;

/** Arabic letters hang together: no space between them, and room above and below. */
const RIGHT_TO_LEFT = `
* { letter-spacing: 0 !important; }
body { line-height: 1.5; }
dt, .label, th, .parties h2, .sums .tax caption { font-size: 7.8pt; }
`;
