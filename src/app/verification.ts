import { readTrusted, type Trust, trustOfSignature } from '../adapters/xades/certificate-trust.ts';
import { createDocumentVerifier } from '../adapters/xades/document-verifier.ts';
import { givenUp, type Verification } from '../domain/verification/verification.ts';

/** Verifies a signed document, without configuration or store. */
export async function verifyDocument(document: Uint8Array): Promise<Verification> {
  const verifier = createDocumentVerifier();
  try {
    return await verifier.verify(document).catch(givenUp);
  } finally {
    await verifier.close();
  }
}

/**
 * Reads trusted certificates.
 * @param pem one or more certificates
 * @returns a function that says whether the signer of a signature is one of them or was issued under one of them
 * @throws when `pem` contains no certificate or one that cannot be parsed; the message says which
 */
export function trustedSigners(pem: string): (signature: Parameters<typeof trustOfSignature>[0]) => Trust {
  const anchors = readTrusted(pem);
  return (signature) => trustOfSignature(signature, anchors);
}
