import { webcrypto } from 'node:crypto';
import { DOMImplementation, DOMParser, XMLSerializer } from '@xmldom/xmldom';
import { Application, Parse, SignedXml, setNodeDependencies, xml as xades } from 'xadesjs';
import { type Signature, XmlDsigExcC14NTransform } from 'xmldsigjs';
import xpath from 'xpath';
import type { SigningIdentity } from '../../src/adapters/signing-key/software-key.ts';
import { EXCLUSIVE_C14N } from '../../src/adapters/xades/vocabulary.ts';

setNodeDependencies({ DOMImplementation, DOMParser, XMLSerializer, xpath });
Application.setEngine('node', webcrypto as Crypto);

/**
 * By default xadesjs digests the signed properties in inclusive form, which depends on the namespace prefixes of the
 * surrounding UBL.
 */
class UblSignedXml extends SignedXml {
  protected override async ApplySignOptions(
    signature: Signature,
    algorithm: Algorithm,
    key: CryptoKey,
    options: Parameters<SignedXml['Sign']>[3] & object,
  ): Promise<void> {
    await super.ApplySignOptions(signature, algorithm, key, options);
    const references = signature.SignedInfo.References;
    const properties = references.Item(references.Count - 1);
    properties?.Transforms.Clear();
    properties?.Transforms.Add(new XmlDsigExcC14NTransform());
  }
}

/**
 * Signs a document `count` times with plain xadesjs in the documented way: parse, sign, insert the signature,
 * serialize. @returns the last document
 */
export async function signWithXadesjs(document: string, identity: SigningIdentity, count: number): Promise<Uint8Array> {
  const { privateKey, certificateChain } = identity;
  const isRsa = privateKey.asymmetricKeyType === 'rsa';
  const algorithm = isRsa
    ? { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
    : { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const pkcs8 = privateKey.export({ type: 'pkcs8', format: 'der' });
  const key = await webcrypto.subtle.importKey('pkcs8', pkcs8, algorithm, false, ['sign']);
  const certificate = certificateChain[0]?.raw.toString('base64') ?? '';
  let signed = '';
  for (let i = 0; i < count; i++) {
    const parsed = Parse(document);
    const signer = new UblSignedXml();
    signer.XmlSignature.SignedInfo.CanonicalizationMethod.Algorithm = EXCLUSIVE_C14N;
    const format = new xades.DataObjectFormat();
    format.ObjectReference = '#document';
    format.MimeType = 'text/xml';
    signer.SignedProperties.SignedDataObjectProperties.DataObjectFormats.Add(format);
    await signer.Sign({ ...algorithm }, key as CryptoKey, parsed, {
      x509: [certificate],
      signingCertificateV2: { certificate, digestAlgorithm: 'SHA-256' },
      references: [{ id: 'document', uri: '', hash: 'SHA-256', transforms: ['enveloped', 'exc-c14n'] }],
    } as never);
    const element = signer.XmlSignature.GetXml();
    const place = parsed.getElementsByTagName('sac:SignatureInformation')[0];
    if (!element || !place) throw new Error('xadesjs made no signature');
    place.appendChild(parsed.importNode(element, true));
    signed = new XMLSerializer().serializeToString(parsed as never);
  }
  return Buffer.from(signed);
}
