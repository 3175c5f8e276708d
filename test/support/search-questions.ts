import { randomNumbers } from '../../scripts/random-numbers.ts';
import type { Searchable } from './searchable-invoices.ts';

// Determines what a search must find without code of the service, by comparing texts of every document.

/** A search, with the other restrictions of the list. */
export interface Question {
  readonly text: string;
  readonly kind: Searchable['kind'] | null;
  readonly status: Searchable['status'] | null;
}

/** Folds by comparing base letters only; Arabic letters with their usual variants. */
function plain(text: string): string {
  const letters = [...text.normalize('NFD')]
    .filter((each) => !/[\u0300-\u036f\u064b-\u065f\u0640]/.test(each))
    .join('');
  return letters.toLowerCase().replaceAll('œ', 'oe').replaceAll('ة', 'ه').replaceAll('ى', 'ي');
}

const wordsIn = (text: string) =>
  plain(text)
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
const letters = (text: string) => plain(text).replace(/[^\p{L}\p{N}]/gu, '');
/** Removes `ال` before a name. */
const bare = (word: string) => (/^ال..../.test(word) || /^ال...$/.test(word) ? word.slice(2) : word);

/** Returns the words of a document, and the facts that are compared in other ways. */
function factsOf(document: Searchable) {
  const { name, orderReference, metadata, ice, amount, number, dgiId } = document;
  const words = [name, orderReference ?? '', ...Object.values(metadata)].flatMap(wordsIn);
  const cents = (amount / 100).toFixed(2);
  return {
    words: words.flatMap((word) => [word, bare(word)]),
    ice,
    cents,
    number: letters(number),
    dgiId: letters(dgiId ?? ''),
  };
}

type Facts = ReturnType<typeof factsOf>;

function finds(word: string, { words, ice, cents, number, dgiId }: Facts): boolean {
  const parts = wordsIn(word);
  const begins = (part: string) =>
    part.length === 1 ? words.includes(part) : words.some((each) => each.startsWith(part));
  if (parts.every(begins)) return true;
  const run = letters(word);
  if (/\d/.test(run)) {
    if (run.length > 1 ? number.endsWith(run) : number.endsWith(run.padStart(6, '0'))) return true;
    if (run.length >= 4 && dgiId.endsWith(run)) return true;
  }
  if (/^\d{4,15}$/.test(run) && (run.length < 6 ? ice.startsWith(run) : ice.includes(run))) return true;
  const spelled = /^(\d{1,3}(?:[ ,.]\d{3})+|\d+)(?:[.,](\d{1,2}))?$/.exec(word);
  return spelled !== null && cents === `${Number(spelled[1]?.replace(/\D/g, ''))}.${(spelled[2] ?? '').padEnd(2, '0')}`;
}

/** Returns a function that finds documents by all words of a search. Digits in groups of three are one word. */
export function answerer(all: readonly Searchable[]): (question: Question) => string[] {
  const known = all.map((document) => ({ document, facts: factsOf(document) }));
  return ({ text, kind, status }) => {
    const words = text.match(/(?<![^\s])\d{1,3}(?: \d{3})+(?:[.,]\d{1,2})?(?![^\s])|\S+/g) ?? [];
    const asked = words.filter((word) => letters(word) !== '' && !/^(mad|dh)$/i.test(word));
    return known
      .filter(
        ({ document, facts }) =>
          (kind === null || document.kind === kind) &&
          (status === null || document.status === status) &&
          asked.every((word) => finds(word, facts)),
      )
      .map(({ document }) => document.id);
  };
}

/** Makes questions of all kinds about documents that exist, and some about documents that do not. */
export function questionsAbout(all: readonly Searchable[], count: number): Question[] {
  const next = randomNumbers(9);
  const random = (below: number) => Math.floor(below * next());
  const pick = <T>(from: readonly T[]): T => from[random(from.length)] as T;
  const spelled = (amount: number) => {
    const [whole = '', cents = ''] = (amount / 100).toFixed(2).split('.');
    const grouped = (by: string) => whole.replace(/\B(?=(\d{3})+$)/g, by);
    const short = cents.replace(/0+$/, '');
    return pick([
      `${grouped(' ')},${cents}`,
      `${whole}.${cents}`,
      `${grouped(',')}.${cents}`,
      `${grouped('.')},${cents}`,
      `${grouped(' ')},${cents} MAD`,
      short === '' ? whole : `${whole}.${short}`,
    ]);
  };
  const cut = (word: string, least: number) => word.slice(0, least + random(Math.max(1, word.length - least + 1)));
  const cases = (text: string) => pick([text, text.toUpperCase(), text.toLowerCase(), plain(text)]);
  const makers: ((of: Searchable) => string)[] = [
    ({ name }) => cases(cut(pick(wordsIn(name)), 2)),
    ({ name }) => cases(pick(name.split(' ').filter((word) => letters(word).length > 1))),
    ({ name }) => cases(name.split(' ').slice(1, 3).reverse().join(' ')),
    ({ name }) => cases(cut(bare(pick(wordsIn(name))), 3)),
    ({ number }) => number,
    ({ number }) => number.slice(-(2 + random(4))),
    ({ number }) => String(Number(number.slice(-6))),
    ({ ice }) => ice,
    ({ ice }) => ice.slice(random(8)).slice(0, 6 + random(4)),
    ({ ice }) => ice.slice(0, 4 + random(3)),
    ({ ice }) => ice.replace(/(\d{3})(?=\d)/g, '$1 '),
    ({ amount }) => spelled(amount),
    ({ dgiId }) => dgiId ?? 'DGI-NONE-1',
    ({ dgiId }) => (dgiId ?? '').slice(-6) || '999999',
    ({ orderReference }) => orderReference ?? 'BC-1',
    ({ metadata }) => metadata.order ?? 'web_0',
    ({ name, amount }) => `${pick(wordsIn(name))} ${spelled(amount)}`,
    ({ name, number }) => `${number.slice(-3)} ${cut(pick(wordsIn(name)), 3)}`,
    ({ name }) => `${pick(wordsIn(name))} introuvable`,
    () => pick(['so', 'ét', 'شر', '7', '42', 'web', 'société atlas sarl', 'zz', 'الن']),
  ];
  return Array.from({ length: count }, (_, nth) => ({
    text: (makers[nth % makers.length] as (of: Searchable) => string)(pick(all)),
    kind: pick([null, null, 'invoice', 'credit_note'] as const),
    status: pick([null, null, null, 'accepted', 'rejected'] as const),
  }));
}
