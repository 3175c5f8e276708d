// Parses numbers that are texts: `1 234,56`, `1,234.56`, `1.234,56 DH`, `(5)`. The file as a whole decides which sign
// is decimal.

/** The decimal sign of a file's numbers. */
export type DecimalSign = '.' | ',';

/** A text that states a number. */
export interface NumberText {
  /** With a point, without zeros at the end; null if the text needs the file's decimal sign. */
  readonly plain: string | null;
  /** The number for each decimal sign, if the text needs the file's decimal sign. */
  readonly bySign: Readonly<Record<DecimalSign, string>> | null;
  /** The decimal sign that the text proves; null if it proves none. */
  readonly sign: DecimalSign | null;
  readonly isPercent: boolean;
  /** `isForeign`: whether it states another currency than the dirham. `isMoney`: whether it states any currency. */
  readonly isForeign: boolean;
  readonly isMoney: boolean;
}

const DIRHAM = /(?:MAD|DHS?|د\.?م\.?|درهما?|دراهم)\.?/giu;
const FOREIGN = /[€$£¥]|\b(?:EUR|USD|GBP|CAD|CHF)\b/i;
/** Longest text that is compared, characters. */
const LONGEST = 60;

/** Parses a text; null if it is no number. */
export function numberOf(text: string): NumberText | null {
  if (text.length > LONGEST) return null;
  const isForeign = FOREIGN.test(text);
  const isPercent = /[%٪]/.test(text);
  const isMoney = isForeign || text.search(DIRHAM) >= 0;
  const digits = text
    .replaceAll(/[٠-٩۰-۹]/g, (digit) => String((digit.codePointAt(0) ?? 0) % 16))
    .replace(FOREIGN, '')
    .replaceAll(DIRHAM, '')
    .replaceAll(/[%٪\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
    .trim();
  const [, sign = '', bracket = '', body = '', after = ''] =
    /^([+\-−]?)\s*(\(?)\s*(.*?)\s*\)?([-−]?)$/s.exec(digits) ?? [];
  const isNegative = /[-−]/.test(sign + after) || bracket !== '';
  const parsed = unsigned(body);
  if (parsed === null) return null;
  const signed = (number: string) => (isNegative ? `-${number}` : number);
  return {
    plain: parsed.plain === null ? null : signed(parsed.plain),
    bySign: parsed.bySign && { '.': signed(parsed.bySign['.']), ',': signed(parsed.bySign[',']) },
    sign: parsed.sign,
    isPercent,
    isForeign,
    isMoney,
  };
}

/** Spaces, apostrophes and the Arabic sign between thousands. */
const THOUSANDS = /(?<=\d)[\s\u00a0\u202f'’٬](?=\d{3}(?!\d))/g;

function unsigned(body: string): Pick<NumberText, 'plain' | 'bySign' | 'sign'> | null {
  const isSpaced = /\d[\s\u00a0\u202f'’٬]\d/.test(body);
  // The Arabic decimal sign is never a separator of thousands.
  const isClear = body.includes('٫');
  const number = body.replaceAll(THOUSANDS, '').replace('٫', ',');
  if (!/^[\d.,]*\d[\d.,]*$/.test(number)) return null;
  const signs = number.match(/[.,]/g) ?? [];
  if (signs.length === 0) return { plain: trimmed(number, ''), bySign: null, sign: null };
  const last = signs.at(-1) as DecimalSign;
  const other = last === '.' ? ',' : '.';
  if (signs.every((sign) => sign === last)) {
    if (signs.length > 1)
      return grouped(number, last)
        ? { plain: trimmed(number.replaceAll(last, ''), ''), bySign: null, sign: other }
        : null;
    const [whole = '', decimals = ''] = number.split(last);
    const isDecimal = isClear || isSpaced || decimals.length !== 3 || whole.length > 3 || Number(whole) === 0;
    const plain = trimmed(whole, decimals);
    if (isDecimal) return { plain, bySign: null, sign: last };
    const without = trimmed(whole + decimals, '');
    return {
      plain: null,
      bySign: last === '.' ? { '.': plain, ',': without } : { ',': plain, '.': without },
      sign: null,
    };
  }
  const [whole = '', decimals = '', ...rest] = number.split(last);
  if (rest.length > 0 || !grouped(whole, other)) return null;
  return { plain: trimmed(whole.replaceAll(other, ''), decimals), bySign: null, sign: last };
}

/** Whether a number has this sign between its thousands. */
function grouped(number: string, sign: DecimalSign): boolean {
  const [first = '', ...groups] = number.split(sign);
  return /^\d{1,3}$/.test(first) && groups.every((group) => /^\d{3}$/.test(group));
}

function trimmed(whole: string, decimals: string): string {
  const before = whole.replace(/^0+(?=\d)/, '') || '0';
  const after = decimals.replace(/0+$/, '');
  return after === '' ? before : `${before}.${after}`;
}

/**
 * Decides the decimal sign of a file.
 * @param shown number of numbers that prove each sign
 * @returns null if no number proves one, or both are proven: then only clear numbers can be read
 */
export function decideSign(shown: Readonly<Record<DecimalSign, number>>): DecimalSign | null {
  if (shown['.'] > 0 && shown[','] > 0) return null;
  if (shown['.'] > 0) return '.';
  return shown[','] > 0 ? ',' : null;
}
