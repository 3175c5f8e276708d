import { constants, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { softwareKey } from '../../src/adapters/signing-key/software-key.ts';
import type { CanonicalXml } from '../../src/adapters/ubl/canonical-xml.ts';
import { unsignedDocument, writeInvoice } from '../../src/adapters/ubl/write-invoice.ts';
import { createDocumentSigner } from '../../src/adapters/xades/document-signer.ts';
import { verifySignedDocument } from '../../src/adapters/xades/verify-document.ts';
import { benchIdentities, benchInvoice, SIGNING_TIME } from './documents-samples.ts';
import type { Benchmark, Measured, Settings, Side } from './harness.ts';
import { signWithXadesjs } from './xadesjs-signer.ts';
import { signWithXmlsec1 } from './xmlsec1-signer.ts';

/** XAdES signatures of an invoice of 20 lines. Every side signs in series, and its last document is verified. */
export const benchmark: Benchmark = {
  name: 'documents-xml',
  about: 'XAdES signatures of a 20-line UBL invoice, in series: digest, sign, put in place',
  sides: [
    side('ours', async (kind, count) => {
      const signer = createDocumentSigner(softwareKey(IDENTITIES[kind]));
      let signed: Uint8Array = new Uint8Array();
      for (let i = 0; i < count; i++) signed = await signer.sign(unsignedDocument(DOCUMENT), SIGNING_TIME);
      return signed;
    }),
    side('the key operation alone', async (kind, count) => {
      const octets = Buffer.alloc(1500, 'x');
      for (let i = 0; i < count; i++) await rawSignature(IDENTITIES[kind].privateKey, octets);
      return null;
    }),
    side('xmlsec1, one process', (kind, count) => signWithXmlsec1(DOCUMENT, IDENTITIES[kind], count)),
    side('xadesjs', (kind, count) => signWithXadesjs(DOCUMENT.xml, IDENTITIES[kind], count), 0.05),
  ],
  answers: 'incomparable',
};

const IDENTITIES = benchIdentities();
const DOCUMENT: CanonicalXml = writeInvoice(benchInvoice(20));
type Kind = keyof typeof IDENTITIES;

const signAsync = promisify<string, Buffer, { key: KeyObject; padding?: number }, Buffer>(sign);

function rawSignature(key: KeyObject, octets: Buffer): Promise<Buffer> {
  const padding = key.asymmetricKeyType === 'rsa' ? { padding: constants.RSA_PKCS1_PADDING } : {};
  return signAsync('sha256', octets, { key, ...padding });
}

/**
 * @param make signs `count` times and returns the last document, or null if it makes none
 * @param share fraction of the signatures that a slow side makes
 */
function side(name: string, make: (kind: Kind, count: number) => Promise<Uint8Array | null>, share = 1): Side {
  return {
    name,
    async run({ quick }: Settings): Promise<Measured> {
      const rates: Record<string, number> = {};
      for (const kind of Object.keys(IDENTITIES) as Kind[]) {
        const count = Math.ceil((quick ? 100 : 500) * share);
        const start = performance.now();
        const signed = await make(kind, count);
        rates[`signatures/s, ${kind}`] = count / ((performance.now() - start) / 1000);
        if (signed === null) continue;
        const verification = await verifySignedDocument(signed);
        if (!verification.valid) throw new Error(`${name} made an invalid signature: ${verification.reason}`);
      }
      return { rates };
    },
  };
}
