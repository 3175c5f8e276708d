import { MAX_BODY_BYTES } from '../../domain/limits.ts';
import type {
  Clearance,
  CoveredDocument,
  InvalidSignature,
  SigningCertificate,
  Verification,
} from '../../domain/verification/verification.ts';
import { accessOf } from '../access.ts';
import { builder } from '../builder.ts';
import { enumOf } from '../enum-of.ts';
import './scalars.ts';

export const SigningCertificateType = builder.objectRef<SigningCertificate>('SigningCertificate').implement({
  description:
    'The certificate of the signing key. Its issuer is not checked, and anybody can create a certificate with any name: compare the fingerprint with that of a signer you trust.',
  fields: (t) => ({
    subject: t.exposeString('subject', { description: 'Distinguished name.' }),
    issuer: t.exposeString('issuer', { description: 'Distinguished name of the issuer.' }),
    serialNumber: t.exposeString('serialNumber', { description: 'Hexadecimal.' }),
    validFrom: t.expose('validFrom', { type: 'DateTime', description: 'Start of validity.' }),
    validTo: t.expose('validTo', { type: 'DateTime', description: 'End of validity.' }),
    fingerprint: t.exposeString('fingerprint', { description: 'SHA-256 of the certificate, lower-case hexadecimal.' }),
  }),
});

const CoveredDocumentType = builder.objectRef<CoveredDocument>('CoveredDocument').implement({
  description: 'What the signature covers: the whole document except the signature itself.',
  fields: (t) => ({
    type: t.exposeString('type', { description: '`Invoice`.' }),
    number: t.exposeString('number', { nullable: true, description: 'Legal number of the document.' }),
    digest: t.exposeString('digest', { description: 'SHA-256 of the covered content in canonical form, base64.' }),
  }),
});

type TimeStamp = { readonly time: Date; readonly authority: string };

const TimeStampType = builder.objectRef<TimeStamp>('TimeStamp').implement({
  description:
    'Proof by a time-stamping authority that the signature existed at a time (RFC 3161). The trustworthiness of the authority is not checked.',
  fields: (t) => ({
    time: t.expose('time', { type: 'DateTime', description: 'Time of the stamp.' }),
    authority: t.exposeString('authority', { description: 'Distinguished name of the authority.' }),
  }),
});

const ClearanceType = builder.objectRef<Clearance>('DocumentClearance').implement({
  description:
    'What the tax authority states in a cleared document, with a signature of its own over it. Whose signature it is, is not checked: compare the fingerprint of the certificate.',
  fields: (t) => ({
    dgiId: t.exposeString('dgiId', { description: 'Identifier that the authority assigned.' }),
    submissionId: t.exposeString('submissionId', { description: 'Identifier of the submission.' }),
    decidedAt: t.expose('decidedAt', { type: 'DateTime', description: 'When the authority accepted the document.' }),
    certificate: t.field({
      type: SigningCertificateType,
      description: 'Certificate of the key that signed the clearance.',
      resolve: ({ signature }) => signature.certificate,
    }),
  }),
});

const CHECK_MEANING: Readonly<Record<InvalidSignature['failed'], string>> = {
  limits:
    'Size, depth and number of elements, attributes and namespaces are within the limits of the check. Nothing is known about a document beyond them.',
  structure:
    'The document is a UBL document with one signature, which covers all of it, and at most a clearance of the tax authority with its own.',
  digest: 'The content is unchanged since it was signed.',
  signature: 'The key of the certificate made the signature.',
  certificate: 'The certificate is the one that the signature names, and is valid for signing.',
  timestamp: 'A time-stamping authority issued the time stamp for this signature.',
};

const CheckType = enumOf('DocumentCheck', 'A check of a signed document.', CHECK_MEANING);

const VerificationType = builder.objectRef<Verification>('DocumentVerification').implement({
  description: 'The result of an independent check of a signed invoice.',
  fields: (t) => ({
    valid: t.exposeBoolean('valid', {
      description:
        'Whether the key of `certificate` signed the document and its content is unchanged since. This does not mean that the signer is trustworthy.',
    }),
    failed: t.field({
      type: CheckType,
      nullable: true,
      description: 'The first check that failed.',
      resolve: (found) => (found.valid ? null : found.failed),
    }),
    reason: t.string({
      nullable: true,
      description: 'Why the document is not valid, as a sentence.',
      resolve: (found) => (found.valid ? null : found.reason),
    }),
    signingTime: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Signing time that the signer claims.',
      resolve: (found) => (found.valid ? found.signingTime : null),
    }),
    algorithm: t.string({
      nullable: true,
      description: 'URI of the signature algorithm.',
      resolve: (found) => (found.valid ? found.algorithm : null),
    }),
    certificate: t.field({
      type: SigningCertificateType,
      nullable: true,
      description: 'Certificate of the signing key.',
      resolve: (found) => (found.valid ? found.certificate : null),
    }),
    covered: t.field({
      type: CoveredDocumentType,
      nullable: true,
      description: 'The covered document.',
      resolve: (found) => (found.valid ? found.covered : null),
    }),
    timeStamp: t.field({
      type: TimeStampType,
      nullable: true,
      description: 'The time stamp of the signature; null without one.',
      resolve: (found) => (found.valid ? found.timeStamp : null),
    }),
    clearance: t.field({
      type: ClearanceType,
      nullable: true,
      description: 'What the tax authority added to the document; null if it is not a cleared one.',
      resolve: (found) => (found.valid ? found.clearance : null),
    }),
  }),
});

builder.queryField('verifyDocument', (t) =>
  t.field({
    type: VerificationType,
    authScopes: accessOf('verifyDocument'),
    description: `Checks a signed UBL invoice of any issuer: signature, certificate and covered content. A request is limited to ${MAX_BODY_BYTES / 1024 / 1024} MiB; the command \`verify\` accepts longer files.`,
    args: { xml: t.arg.string({ required: true, description: 'The signed document.' }) },
    resolve: (_root, { xml }, { principal, useCases }) => useCases.verifyDocument(principal, xml),
  }),
);
