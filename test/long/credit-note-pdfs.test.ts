import { afterAll, beforeAll, expect, test } from 'vitest';
import { randomNumbers } from '../../scripts/random-numbers.ts';
import { createPdfRenderer } from '../../src/adapters/pdf/pdf-renderer.ts';
import { softwareKey } from '../../src/adapters/signing-key/software-key.ts';
import { createSignedRenderer } from '../../src/app/signed-renderer.ts';
import { parseLogo } from '../../src/domain/tenant/logo.ts';
import { creditCorpus } from '../support/credit-corpus.ts';
import { signatureValidator, veraPdf } from '../support/java-tool.ts';
import { dueFigures } from '../support/recompute-figures.ts';
import { hasTool } from '../support/tools.ts';
import { detached, pdfsig } from '../unit/pades/support.ts';
import { CHROMIUM_CACHE, png, printed, textOfPages } from '../unit/pdf/support.ts';
import { identityOf, rsaKey, signedInvoice } from '../unit/xades/identities.ts';

const SPECIMENS = creditCorpus();
const LOGO = parseLogo(`data:image/png;base64,${png(300, 100).toString('base64')}`);
const RECEIPT = Buffer.from('<Receipt>é</Receipt>');

const identity = identityOf(rsaKey(2048));
const key = softwareKey(identity);
const renderer = createSignedRenderer(createPdfRenderer({ cacheDir: CHROMIUM_CACHE, timeLimit: 120_000 }), () => key);
const validator = veraPdf();
const dss = signatureValidator();

const documents: Buffer[] = [];
/** By names whose order is that of the documents. */
const pdfs: Record<string, Uint8Array> = {};
/** The same with one signed byte changed in each. */
const changed: Record<string, Uint8Array> = {};

beforeAll(async () => {
  const random = randomNumbers(11);
  for (const [index, { invoice }] of SPECIMENS.entries()) {
    const xml = await signedInvoice(identity, invoice);
    const page = { ...printed(), invoice, logo: index % 2 === 0 ? LOGO : null };
    const pdf = await renderer.render(page, xml, index % 3 === 0 ? RECEIPT : null);
    documents.push(xml);
    const name = `${String(index).padStart(3, '0')}.pdf`;
    pdfs[name] = pdf;
    changed[name] = withChangedByte(pdf, random);
  }
}, 1_800_000);
afterAll(() => renderer.close());

/** Changes a byte of a random stream of content: the file stays readable, so the signature must tell. */
function withChangedByte(pdf: Uint8Array, random: () => number): Uint8Array {
  const bytes = Buffer.from(pdf);
  const text = bytes.toString('latin1');
  const streams = [...text.matchAll(/(?<=>>\s*)stream\n/g)]
    .filter(({ index }) => !/\/(ObjStm|XRef)\b/.test(text.slice(text.lastIndexOf(' obj', index), index)))
    .map(({ index }) => [index + 'stream\n'.length, text.indexOf('endstream', index)] as const)
    .filter(([from, to]) => to - from > 100);
  const [from, to] = streams[Math.floor(random() * streams.length)] ?? [0, 1];
  bytes[from + Math.floor(random() * (to - from - 2))]! ^= 1;
  return bytes;
}

/** An amount of centimes as a page shows it in any language. */
function shown(centimes: bigint): RegExp {
  const digits = String(centimes).padStart(3, '0');
  const whole = digits.slice(0, -2).replaceAll(/\B(?=(\d{3})+$)/g, '[ ,]');
  return new RegExp(`(?<!\\d)${whole}[.,]${digits.slice(-2)}(?!\\d)`);
}

test.skipIf(validator === null).each(['3a', 'ua1'])('at least 120 are %s according to veraPDF', (flavour) => {
  expect(Object.keys(pdfs).length).toBeGreaterThanOrEqual(120);
  expect(validator!.run([flavour], pdfs)).toEqual(Object.keys(pdfs).map((name) => `compliant ${name}`));
});

test.skipIf(dss === null)('are PAdES-BASELINE-B according to DSS without remarks, and none with a changed byte', () => {
  const verdicts = (files: typeof pdfs) =>
    dss!.run([], { 'trusted.pem': String(key.certificateChain[0]), ...files }).filter((line) => !line.startsWith('  '));
  expect(dss!.run([], { 'trusted.pem': String(key.certificateChain[0]), ...pdfs })).toEqual(
    Object.keys(pdfs).map((name) => `PAdES-BASELINE-B TOTAL_PASSED ${name}`),
  );
  const failed = verdicts(changed);
  expect(failed).toHaveLength(SPECIMENS.length);
  expect(failed.filter((line) => !line.includes(' TOTAL_FAILED '))).toEqual([]);
});

test.skipIf(!hasTool('pdfsig'))('are signed as a whole according to poppler, and none with a changed byte', () => {
  for (const [name, pdf] of Object.entries(pdfs)) {
    expect(pdfsig(pdf), name).toMatch(/Total document signed[\s\S]*Signature is Valid/);
    expect(pdfsig(changed[name]!), name).not.toContain('Signature is Valid');
  }
});

test.skipIf(!hasTool('pdfdetach'))('contain their XML, and the receipt', () => {
  for (const [index, pdf] of Object.values(pdfs).entries()) {
    const { name, content } = detached(pdf);
    expect({ name, equal: content.equals(documents[index]!) }).toEqual({
      name: `avoir-${SPECIMENS[index]!.invoice.number}.xml`,
      equal: true,
    });
    if (index % 3 === 0) expect(detached(pdf, 2).content.equals(RECEIPT)).toBe(true);
  }
});

test.skipIf(!hasTool('pdftotext'))('show their number, that of their invoice, and the amounts recomputed', () => {
  const wrong = SPECIMENS.flatMap((specimen, index) => {
    const { invoice, name } = specimen;
    const text = textOfPages(Object.values(pdfs)[index]!, 'raw')
      .join('\n')
      .replaceAll(/[\u2066-\u2069\u200e\u200f]/g, '');
    const { rates, amount } = dueFigures(specimen);
    const figures = [amount, ...rates.flatMap(({ base, tax }) => [base, tax])];
    return [
      ...[invoice.number, invoice.credit!.original.number].filter((number) => !text.includes(number)),
      ...figures.map(shown).filter((figure) => !figure.test(text)),
    ].map((missing) => `${name}: ${missing} is not shown`);
  });
  expect(wrong).toEqual([]);
});
