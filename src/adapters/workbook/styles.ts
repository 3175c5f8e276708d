import { HEAD, MAIN } from './markup.ts';

/** The look of the cells of a format: indexes in the lists of {@link stylesOf}, and the alignment. */
interface Format {
  /** 49, 4 and 14 are built in: text, `#,##0.00`, and the short date of the reader's language. */
  readonly number: 0 | 49 | 4 | 14 | typeof PRICE;
  readonly font?: 0 | 1 | 2 | 3;
  readonly fill?: 0 | 2 | 3;
  readonly alignment?: string;
  /**
   * Whether the text is in the language of the sheet, and so in its direction. Typed texts have their own direction.
   */
  readonly isLabel?: true;
}

/** Shows the up to four decimals of a unit price. */
const PRICE = 164;

/** The formats of cells, in the order of `cellXfs`. */
const FORMATS = {
  general: { number: 0 },
  text: { number: 49 },
  amount: { number: 4 },
  day: { number: 14 },
  heading: { number: 49, font: 1, isLabel: true },
  sum: { number: 4, font: 1 },
  required: { number: 49, font: 2, fill: 2, isLabel: true },
  optional: { number: 49, font: 1, fill: 3, isLabel: true },
  title: { number: 49, font: 3, isLabel: true },
  label: { number: 49, isLabel: true },
  price: { number: PRICE },
  choice: { number: 0, alignment: 'horizontal="center"' },
} as const satisfies Readonly<Record<string, Format>>;

export type Style = keyof typeof FORMATS;
const NAMES = Object.keys(FORMATS) as Style[];

/** Returns the index of a format in {@link stylesOf}. */
export function styleId(style: Style): number {
  return NAMES.indexOf(style);
}

/** Returns the part with the formats of cells. */
export function stylesOf(isRightToLeft: boolean): string {
  return `${HEAD}<styleSheet xmlns="${MAIN}">
<numFmts count="1"><numFmt numFmtId="${PRICE}" formatCode="#,##0.00##"/></numFmts>
<fonts count="4"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font>
<font><b/><sz val="11"/><color rgb="FFFFFFFF"/><name val="Calibri"/></font>
<font><b/><sz val="14"/><name val="Calibri"/></font></fonts>
<fills count="4"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill>
<fill><patternFill patternType="solid"><fgColor rgb="FF0B5C4A"/></patternFill></fill>
<fill><patternFill patternType="solid"><fgColor rgb="FFDDEBE6"/></patternFill></fill></fills>
<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>
<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>
<cellXfs count="${NAMES.length}">
${NAMES.map((name) => formatOf(FORMATS[name], isRightToLeft)).join('\n')}
</cellXfs>
<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>
</styleSheet>`;
}

function formatOf({ number, font = 0, fill = 0, alignment, isLabel }: Format, isRightToLeft: boolean): string {
  const aligned = [alignment, isLabel && isRightToLeft && 'readingOrder="2"'].filter(Boolean).join(' ');
  const applied = [number !== 0 && 'NumberFormat', font !== 0 && 'Font', fill !== 0 && 'Fill', aligned && 'Alignment'];
  const flags = applied.map((each) => (each ? ` apply${each}="1"` : '')).join('');
  const start = `<xf numFmtId="${number}" fontId="${font}" fillId="${fill}" borderId="0" xfId="0"${flags}`;
  return aligned ? `${start}><alignment ${aligned}/></xf>` : `${start}/>`;
}
