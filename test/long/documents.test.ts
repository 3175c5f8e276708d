import { beforeAll, describe, expect, test } from 'vitest';
import { randomNumbers } from '../../scripts/random-numbers.ts';
import { verifySignedDocument } from '../../src/adapters/xades/verify-document.ts';
import { DOCUMENT_LANGUAGES } from '../../src/domain/document-language.ts';
import { CREDIT_REASONS } from '../../src/domain/invoice/credit.ts';
import { totalsOf } from '../../src/domain/invoice/totals.ts';
import { MAX_CENTIMES } from '../../src/domain/money.ts';
import { corpus, type Specimen } from '../support/corpus.ts';
import { creditCorpus } from '../support/credit-corpus.ts';
import { brokenRules, WITHOUT_EN16931 } from '../support/en16931.ts';
import { jdkVerifies, WITHOUT_JDK } from '../support/jdk-validator.ts';
import { differences, statedFigures } from '../support/recompute.ts';
import { dueFigures, sumOfFigures } from '../support/recompute-figures.ts';
import { hasTool } from '../support/tools.ts';
import { hasUblSchema, schemaErrors, WITHOUT_UBL_SCHEMA } from '../unit/ubl/ubl-schema.ts';
import { ecKey, identityOf, rsaKey, signedInvoice } from '../unit/xades/identities.ts';
import { WITHOUT_XMLSEC1, xmlsec1Verifies } from '../unit/xades/xmlsec1.ts';

const hasXmlsec1 = hasTool('xmlsec1');

/** Keys used in turn; the JDK runs once per key. */
const KEYS = [rsaKey(2048), ecKey('P-256'), rsaKey(3072)].map((key) => identityOf(key));
const certificateOf = (index: number) => String(KEYS[index % KEYS.length]!.certificateChain[0]);

/**
 * Changes a byte at a random signed position: in the document outside the signature, in SignedInfo, or in the signed
 * properties.
 */
function withChangedByte(document: Buffer, random: () => number): Buffer {
  const rangeOf = (name: string) => [document.indexOf(`<${name} `), document.indexOf(`</${name}>`)] as const;
  const [start, end] = rangeOf('ds:Signature');
  const inside = ['ds:SignedInfo', 'xades:SignedProperties'].map(rangeOf);
  const isSigned = (at: number) => at < start || at > end || inside.some(([from, to]) => at > from && at < to);
  const bytes = Buffer.from(document);
  for (;;) {
    // Only letters and digits change: a broken UTF-8 sequence would be refused before the signature is checked. Half of
    // the positions are in the signature, which is a small part of the document.
    const at = random() < 0.5 ? start + Math.floor(random() * (end - start)) : Math.floor(random() * bytes.length);
    const byte = bytes.readUInt8(at);
    if (!isSigned(at) || !/[0-9A-Za-z]/.test(String.fromCharCode(byte))) continue;
    // Base64 has unused bits before its padding, which may change without effect.
    if (bytes.readUInt8(at + 1) === '='.charCodeAt(0)) continue;
    // Exclusive canonicalization leaves out a declaration that nothing uses, and finds the prefix in an outer element.
    if (/ xmlns:\w*$/.test(bytes.toString('latin1', Math.max(0, at - 40), at))) continue;
    bytes.writeUInt8(byte ^ 1, at);
    return bytes;
  }
}

const ALL_VALID: string[] = [];

const INVOICES = corpus();
const CREDIT_NOTES = creditCorpus();

test('there are at least 200 invoices, of 1 to 1,000 lines', () => {
  expect(INVOICES.length).toBeGreaterThanOrEqual(200);
  expect(new Set(INVOICES.map(({ invoice }) => invoice.lines.length))).toContain(1000);
});

test('there are at least 120 credit notes, of all shapes', () => {
  expect(CREDIT_NOTES.length).toBeGreaterThanOrEqual(120);
  const shapes: Record<string, (specimen: Specimen) => boolean> = {
    'a whole invoice': ({ name, credits }) => name.startsWith('rest') && credits?.counted.length === 0,
    'the rest of an invoice': ({ name, credits }) => name.startsWith('rest') && credits?.counted.length === 3,
    lines: ({ name }) => name.startsWith('lines'),
    'amounts at several rates': ({ name, invoice }) => name.startsWith('amounts') && invoice.totals.rates.length > 1,
    'VAT that is not its base × rate': ({ credits, invoice }) =>
      credits !== null && invoice.totals.tax !== totalsOf(invoice)?.tax,
    'a part of the rounding of its invoice': ({ credits, invoice }) =>
      credits !== null && invoice.amount !== invoice.totals.gross,
    "another system's invoice with rounding": ({ credits, invoice }) =>
      credits === null && invoice.amount !== invoice.totals.gross,
    "another system's invoice at 7 %": ({ credits, invoice }) =>
      credits === null && invoice.totals.rates.some(({ rate }) => rate === 7),
    'the largest amount': ({ invoice }) => invoice.amount === MAX_CENTIMES,
    'exempt from VAT': ({ invoice }) => invoice.totals.rates.some(({ rate }) => rate === 0),
    'a note of 500 characters': ({ invoice }) => invoice.credit?.note?.length === 500,
    'no note': ({ invoice }) => invoice.credit?.note === null,
    '1,000 lines': ({ invoice }) => invoice.lines.length === 1000,
  };
  for (const language of DOCUMENT_LANGUAGES)
    shapes[`in ${language}`] = ({ invoice }) => invoice.seller.documentLanguage === language;
  for (const reason of Object.keys(CREDIT_REASONS))
    shapes[`because of ${reason}`] = ({ invoice }) => invoice.credit?.reason === reason;
  expect(Object.keys(shapes).filter((shape) => !CREDIT_NOTES.some(shapes[shape]!))).toEqual([]);
});

describe.each([
  ['invoices', INVOICES],
  ['credit notes', CREDIT_NOTES],
])('a corpus of signed %s', (kind, SPECIMENS) => {
  let signed: Buffer[];
  /** The documents with one signed byte changed in each. */
  let changed: Buffer[];

  beforeAll(async () => {
    signed = await Promise.all(
      SPECIMENS.map(({ invoice }, index) => signedInvoice(KEYS[index % KEYS.length]!, invoice)),
    );
    const random = randomNumbers(7);
    changed = signed.map((document) => withChangedByte(document, random));
  });

  /** The names of the specimens whose verdict is false. */
  const failing = (verdicts: readonly boolean[]) =>
    SPECIMENS.filter((_specimen, index) => !verdicts[index]).map(({ name }) => name);

  test('states every figure as recomputed independently, and every text as given', () => {
    const wrong = SPECIMENS.flatMap((specimen, index) =>
      differences(signed[index]!, specimen).map((each) => `${specimen.name}: ${each}`),
    );
    expect(wrong).toEqual([]);
  });

  if (kind === 'credit notes') {
    test('adds up to the invoice at each rate once all of it is credited', () => {
      const completed = SPECIMENS.filter(({ name, credits }) => credits !== null && name.startsWith('rest'));
      expect(completed.length).toBeGreaterThan(50);
      for (const specimen of completed) {
        const { original, counted } = specimen.credits!;
        const stated = [...counted, specimen].map((each) => statedFigures(signed[SPECIMENS.indexOf(each)]!));
        expect(sumOfFigures(stated), specimen.name).toEqual(dueFigures({ invoice: original, credits: null }));
      }
    });
  }

  test('is valid against the UBL 2.1 schema', async ({ skip }) => {
    if (!hasUblSchema) skip(WITHOUT_UBL_SCHEMA);
    for (let from = 0; from < signed.length; from += 40) {
      expect(await schemaErrors(signed.slice(from, from + 40))).toEqual([]);
    }
  });

  test('satisfies every fatal rule of EN 16931', async ({ skip }) => {
    if (WITHOUT_EN16931) skip(WITHOUT_EN16931);
    const broken: string[] = [];
    for (const [index, document] of signed.entries()) {
      for (const { id, at } of await brokenRules(document)) broken.push(`${SPECIMENS[index]?.name}: ${id} at ${at}`);
    }
    expect(broken).toEqual([]);
  });

  test('verifies in the service’s verifier, and no changed document does', async () => {
    const verdicts = async (documents: readonly Buffer[]) => {
      const valid: boolean[] = [];
      for (const document of documents) valid.push((await verifySignedDocument(document)).valid);
      return valid;
    };
    expect(failing(await verdicts(signed))).toEqual(ALL_VALID);
    expect(await verdicts(changed)).not.toContain(true);
  });

  test('verifies in xmlsec1, and no changed document does', async ({ skip }) => {
    if (!hasXmlsec1) skip(WITHOUT_XMLSEC1);
    const verdicts = async (documents: readonly Buffer[]) => {
      const valid: boolean[] = [];
      for (const [index, document] of documents.entries())
        valid.push(await xmlsec1Verifies(document, certificateOf(index)));
      return valid;
    };
    expect(failing(await verdicts(signed))).toEqual(ALL_VALID);
    expect(await verdicts(changed)).not.toContain(true);
  });

  test('verifies in the JDK, and no changed document does', async ({ skip }) => {
    if (WITHOUT_JDK) skip(WITHOUT_JDK);
    const verdicts = async (documents: readonly Buffer[]) => {
      const valid: boolean[] = [];
      for (const turn of KEYS.keys()) {
        const mine = documents.flatMap((document, index) =>
          index % KEYS.length === turn ? [{ document, index }] : [],
        );
        const answers = await jdkVerifies(
          mine.map(({ document }) => document),
          certificateOf(turn),
        );
        mine.forEach(({ index }, position) => {
          valid[index] = answers[position] ?? false;
        });
      }
      return valid;
    };
    expect(failing(await verdicts(signed))).toEqual(ALL_VALID);
    expect(await verdicts(changed)).not.toContain(true);
  });
});
