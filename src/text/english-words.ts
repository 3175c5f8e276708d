import { type Centimes, dirhamsAndCentimes } from '../domain/money.ts';

/**
 * The amount in English words: `125050` → `one thousand two hundred and fifty dirhams and fifty centimes`. British
 * usage, as in the dates of English documents, with the short scale.
 * @param centimes a whole number from 0 to `MAX_CENTIMES`
 * @throws {RangeError} for anything else
 */
export function amountInEnglishWords(centimes: Centimes): string {
  const [dirhams, cents] = dirhamsAndCentimes(centimes);
  if (cents === 0) return counted(dirhams, 'dirham');
  if (dirhams === 0) return counted(cents, 'centime');
  return `${counted(dirhams, 'dirham')} and ${counted(cents, 'centime')}`;
}

function counted(count: number, unit: string): string {
  return `${numberWords(count)} ${unit}${count === 1 ? '' : 's'}`;
}

const SCALES = [
  [1_000_000_000_000, 'trillion'],
  [1_000_000_000, 'billion'],
  [1_000_000, 'million'],
  [1_000, 'thousand'],
] as const;

function numberWords(count: number): string {
  if (count === 0) return 'zero';
  const words: string[] = [];
  let rest = count;
  for (const [size, name] of SCALES) {
    const times = Math.floor(rest / size);
    rest %= size;
    if (times > 0) words.push(belowThousand(times), name);
  }
  // "one thousand and one", but "one thousand one hundred and one".
  if (rest > 0 && rest < 100 && words.length > 0) words.push('and');
  if (rest > 0) words.push(belowThousand(rest));
  return words.join(' ');
}

/** @param count 1 to 999 */
function belowThousand(count: number): string {
  const hundreds = Math.floor(count / 100);
  const rest = count % 100;
  if (hundreds === 0) return belowHundred(rest);
  const words = `${UNITS[hundreds]} hundred`;
  return rest === 0 ? words : `${words} and ${belowHundred(rest)}`;
}

const UNITS = (
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen ' +
  'seventeen eighteen nineteen'
).split(' ');
const TENS = ['', '', 'twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety'];

/** @param count 1 to 99 */
function belowHundred(count: number): string {
  if (count < 20) return UNITS[count]!;
  const unit = count % 10;
  return `${TENS[Math.floor(count / 10)]}${unit === 0 ? '' : `-${UNITS[unit]}`}`;
}
