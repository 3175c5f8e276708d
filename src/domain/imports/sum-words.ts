import { folded, wordsOf } from '../invoice/search/fold.ts';
import { namesIn } from './names-in.ts';

/** Maximum length of the compared beginning, characters. */
const MOST = 100;

/** How rows of sums begin, in words. */
const SUMS = namesIn(`
  total, totaux, sous total, sous totaux, s total, sstotal, ss total, grand total, montant total, montant ht
  montant ttc, montant tva, montant net, montant dû, montant à payer, somme, cumul, net à payer, net ht, net ttc
  net payable, net commercial, à reporter, report à nouveau, reste à payer, reste dû, solde à payer, solde dû
  solde restant, récapitulatif, récapitulation, récap, total général, tva, dont tva, base ht, total à payer
  arrêté la présente
  sum, subtotal, sub total, grandtotal, totals, amount due, balance due, net amount, total due, amount payable
  carried forward, brought forward, balance forward, vat, of which vat, sum total
  المجموع, مجموع, الإجمالي, إجمالي, المبلغ الإجمالي, الصافي, صافي الأداء, الصافي للأداء, المبلغ الصافي, ما يجب أداؤه
  المبلغ المستحق, المبلغ الواجب, الواجب أداؤه, الباقي للأداء, الباقي أداؤه, المجموع الفرعي, المجموع العام, ما قبله
  المنقول, الضريبة على القيمة المضافة, مبلغ الضريبة
`).map((text) => ` ${keyOf(text)} `);

/** Single words for a sum that also begin names of products, so the text must have no other words. */
const ALONE = new Set(['report', 'net', 'solde', 'balance', 'a reporter', 'reste', 'recap'].map(keyOf));

/** Words that may follow the name of a sum. */
const AFTER = new Set(
  namesIn(`
    general, generale, ht, ttc, tva, net, nets, brut, a, payer, mad, dh, dhs, dirhams, en, de, du, des, la, le, les
    facture, factures, piece, page, mois, document, lignes, taxes, tax, vat, due, amount, excl, incl, of, the
    invoice, invoices, and, et
    العام, الكلي, للفاتورة, الفاتورة, مع, دون, بدون, الضريبة, بالدرهم, درهم, للأداء
  `).map(keyOf),
);

/** The first words of all names of sums. They exclude most rows quickly. */
const FIRST = new Set([...SUMS.map((sum) => sum.trim().split(' ')[0] ?? ''), ...ALONE]);

/** Folds a text to words with one space between them. Single letters in a row make one word: `T O T A L`. */
function keyOf(text: string): string {
  return keyOfFolded(folded(text.slice(0, MOST)));
}

function keyOfFolded(text: string): string {
  const words = wordsOf(text);
  const isSpaced = words.length > 2 && words.every((word) => word.length === 1);
  return words.join(isSpaced ? '' : ' ');
}

/** Returns the key of a text that may be the name of a sum; null if no name of a sum begins with its first word. */
function keyOfSum(text: string): string | null {
  const beginning = folded(text.slice(0, MOST));
  const first = /[\p{L}\p{N}]+/u.exec(beginning)?.[0] ?? '';
  return first === '' || (first.length > 1 && !FIRST.has(first)) ? null : keyOfFolded(beginning);
}

/** Whether a text begins like the name of a sum: `Total facture A`, `Net à payer`. */
export function isCalledSum(text: string): boolean {
  const key = keyOfSum(text);
  return key !== null && (ALONE.has(key) || SUMS.some((sum) => ` ${key} `.startsWith(sum)));
}

/** Whether a text consists only of the name of a sum: `Total général HT`. */
export function isSumName(text: string): boolean {
  const key = keyOfSum(text);
  if (key === null) return false;
  if (ALONE.has(key)) return true;
  const sum = SUMS.filter((each) => ` ${key} `.startsWith(each)).toSorted((a, b) => b.length - a.length)[0];
  if (sum === undefined) return false;
  const after = key.slice(sum.trim().length).trim();
  return after === '' || after.split(' ').every((word) => AFTER.has(word));
}
