import { createMockAuthority } from '../../../src/adapters/authority/mock/mock-authority.ts';
import { createReceiptReader } from '../../../src/adapters/authority/receipt-reader.ts';
import { softwareKey } from '../../../src/adapters/signing-key/software-key.ts';
import { makeTestIdentity } from '../../../src/adapters/signing-key/test-certificate.ts';
import { trustOfSignature } from '../../../src/adapters/xades/certificate-trust.ts';
import { createDocumentSigner } from '../../../src/adapters/xades/document-signer.ts';
import { verifySignedDocument } from '../../../src/adapters/xades/verify-document.ts';
import { describeAuthority } from '../../support/authority-contract.ts';
import { openSimulated } from '../../support/http-authority.ts';
import { createMemoryLedger } from '../../support/memory-ledger.ts';

describeAuthority('the mock', async () => {
  const key = softwareKey(await makeTestIdentity(new Date(Date.now() - 86_400_000)), true);
  const authority = createMockAuthority({
    ledger: createMemoryLedger(),
    verify: verifySignedDocument,
    signer: createDocumentSigner(key),
    readReceipt: createReceiptReader({
      verify: verifySignedDocument,
      trust: (signature) => trustOfSignature(signature, key.certificateChain),
    }),
  });
  return { authority, close: async () => undefined };
});

describeAuthority('the HTTP adapter, decisions by polling', () => openSimulated({ decisionDelay: 50 }));
describeAuthority('the HTTP adapter, synchronous decisions', () => openSimulated({ profile: 'synchronous' }));
describeAuthority('the HTTP adapter, decisions by callback', () =>
  openSimulated({ profile: 'callback', decisionDelay: 50, clientKey: 'RS256' }),
);
