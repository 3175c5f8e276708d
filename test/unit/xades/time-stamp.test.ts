import { afterEach, describe, expect, test } from 'vitest';
import { softwareKey } from '../../../src/adapters/signing-key/software-key.ts';
import { unsignedDocument, writeInvoice } from '../../../src/adapters/ubl/write-invoice.ts';
import { createDocumentSigner } from '../../../src/adapters/xades/document-signer.ts';
import { createTimeStamper } from '../../../src/adapters/xades/time-stamp-authority.ts';
import { verifySignedDocument } from '../../../src/adapters/xades/verify-document.ts';
import { SigningFailed } from '../../../src/domain/invoice/signing-key.ts';
import {
  hasOpenssl,
  startTimeStampAuthority,
  type TestAuthority,
  WITHOUT_OPENSSL,
} from '../../support/time-stamp-authority.ts';
import { hasTool } from '../../support/tools.ts';
import { sampleInvoice } from '../ubl/sample-invoice.ts';
import { hasUblSchema, schemaErrors } from '../ubl/ubl-schema.ts';
import { ecKey, identityOf } from './identities.ts';
import { xmlsec1Verifies } from './xmlsec1.ts';

const hasXmlsec1 = hasTool('xmlsec1');

const identity = identityOf(ecKey('P-256'));
const document = unsignedDocument(writeInvoice(sampleInvoice()));
let authority: TestAuthority | null = null;
afterEach(async () => {
  await authority?.close();
  authority = null;
});

/** Signs with time stamps of an authority with this behaviour. */
async function stamped(
  options: Parameters<typeof startTimeStampAuthority>[0] = {},
  timeLimit = 50_000,
): Promise<string> {
  authority = await startTimeStampAuthority(options);
  const stampTime = createTimeStamper({ url: authority.url, timeLimit });
  const signed = await createDocumentSigner(softwareKey(identity), { stampTime }).sign(document, new Date());
  return Buffer.from(signed).toString();
}

describe.skipIf(!hasOpenssl)(`a time-stamped signature${hasOpenssl ? '' : ` (${WITHOUT_OPENSSL})`}`, () => {
  test('is valid and proves its time, in the structure of XAdES and its schema', async () => {
    const signed = await stamped();
    const verification = await verifySignedDocument(Buffer.from(signed));
    expect(verification).toMatchObject({ valid: true, timeStamp: { authority: 'O=Test, CN=Time stamps' } });
    if (!verification.valid) return;
    expect(Math.abs((verification.timeStamp?.time.getTime() ?? 0) - Date.now())).toBeLessThan(300_000);
    if (hasUblSchema) expect(await schemaErrors([signed])).toEqual([]);
    if (hasXmlsec1) {
      expect(await xmlsec1Verifies(Buffer.from(signed), String(identity.certificateChain[0]))).toBe(true);
    }
  });

  test.each([
    [
      'taken from another signature',
      async (signed: string) => {
        const other = await createDocumentSigner(softwareKey(identity), {
          stampTime: createTimeStamper({ url: authority?.url ?? '', timeLimit: 50_000 }),
        }).sign(document, new Date());
        const token = /<xades:EncapsulatedTimeStamp>[^<]*/;
        return signed.replace(token, token.exec(Buffer.from(other).toString())?.[0] ?? '');
      },
    ],
    [
      'changed by a bit',
      // Change a byte of its signature, which is at the end. Some bits elsewhere have no effect, and their positions
      // vary.
      async (signed: string) =>
        signed.replace(
          /(.)([^<]{40}<\/xades:EncapsulatedTimeStamp>)/,
          (_all, one, rest) => (one === 'A' ? 'B' : 'A') + rest,
        ),
    ],
    ['cut off', async (signed: string) => signed.replace(/(<xades:EncapsulatedTimeStamp>[^<]{400})[^<]*/, '$1')],
  ])('is not valid with a time stamp that was %s', async (_what, change) => {
    const changed = await change(await stamped());
    expect(await verifySignedDocument(Buffer.from(changed))).toMatchObject({ valid: false, failed: 'timestamp' });
  });

  test('is not valid when its certificate had expired by the time of the stamp', async () => {
    authority = await startTimeStampAuthority();
    const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
    const expired = identityOf(ecKey('P-256'), { to: hoursAgo(1) });
    const stampTime = createTimeStamper({ url: authority.url, timeLimit: 50_000 });
    const signed = await createDocumentSigner(softwareKey(expired), { stampTime }).sign(document, hoursAgo(2));
    expect(await verifySignedDocument(signed)).toMatchObject({
      valid: false,
      failed: 'timestamp',
      reason: expect.stringContaining('not valid at the time of the time stamp'),
    });
  });

  test.each([
    [
      'two time stamps',
      (signed: string) => signed.replace(/(<xades:SignatureTimeStamp>.*<\/xades:SignatureTimeStamp>)/, '$1$1'),
    ],
    [
      'another unsigned property',
      (signed: string) =>
        signed.replace(
          '</xades:UnsignedSignatureProperties>',
          '<xades:RevocationValues></xades:RevocationValues></xades:UnsignedSignatureProperties>',
        ),
    ],
  ])('is not valid with %s', async (_what, change) => {
    const changed = change(await stamped());
    expect(await verifySignedDocument(Buffer.from(changed))).toMatchObject({ valid: false, failed: 'structure' });
  });
});

describe.skipIf(!hasOpenssl)('the authority’s response is refused:', () => {
  let earlier: Buffer | null = null;
  test.each([
    ['an error', { answer: () => ({ status: 503, body: Buffer.from('down') }) }, /answered 503/],
    ['no time-stamp response', { answer: () => ({ body: Buffer.from('hello') }) }, /not a time-stamp response/],
    ['an endless answer', { answer: () => ({ body: Buffer.alloc(100_000) }) }, /larger than/],
    // PKIStatusInfo { rejection (2) }
    ['a refusal', { answer: () => ({ body: Buffer.from('30053003020102', 'hex') }) }, /refused \(status 2\)/],
    [
      'a response that was changed',
      {
        answer: (right: Buffer) => {
          const changed = Buffer.from(right);
          changed.writeUInt8(changed.readUInt8(changed.length - 5) ^ 1, changed.length - 5);
          return { body: changed };
        },
      },
      /signature/,
    ],
    [
      'a certificate of another usage',
      { usage: 'critical,codeSigning' },
      /answered 500|not intended for time stamping/,
    ],
  ])('%s', async (_what, options, reason) => {
    const failure = await stamped(options).then(
      () => null,
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(SigningFailed);
    expect((failure as Error).message).toMatch(reason);
  });

  test('a response to another request for the same octets', async () => {
    authority = await startTimeStampAuthority({
      answer: (right) => {
        earlier ??= right;
        return { body: earlier };
      },
    });
    const stampTime = createTimeStamper({ url: authority.url, timeLimit: 50_000 });
    await stampTime(Buffer.from('octets'));
    await expect(stampTime(Buffer.from('octets'))).rejects.toThrow(/another request \(nonce\)/);
    await expect(stampTime(Buffer.from('others'))).rejects.toThrow(/belongs to another signature/);
  });

  test('no response within the time limit, or no authority at all', async () => {
    await expect(stamped({ answer: () => null }, 300)).rejects.toThrow(SigningFailed);
    await authority?.close();
    const stampTime = createTimeStamper({ url: authority?.url ?? '' });
    await expect(stampTime(Buffer.from('x'))).rejects.toThrow(SigningFailed);
  });
});
