import type { CoveredDocument, SigningCertificate, Verification } from '../../domain/verification.ts';
import { builder } from '../builder.ts';
import './scalars.ts';

const SigningCertificateType = builder.objectRef<SigningCertificate>('SigningCertificate').implement({
  description: 'Whose key signed. Whether this signer is to be trusted is yours to decide, by the fingerprint.',
  fields: (t) => ({
    subject: t.exposeString('subject', { description: 'Distinguished name.' }),
    issuer: t.exposeString('issuer', { description: 'Distinguished name of who issued the certificate.' }),
    serialNumber: t.exposeString('serialNumber', { description: 'Hexadecimal.' }),
    validFrom: t.expose('validFrom', { type: 'DateTime', description: 'Beginning of its validity.' }),
    validTo: t.expose('validTo', { type: 'DateTime', description: 'End of its validity.' }),
    fingerprint: t.exposeString('fingerprint', { description: 'SHA-256 of the certificate, lower-case hexadecimal.' }),
  }),
});

const CoveredDocumentType = builder.objectRef<CoveredDocument>('CoveredDocument').implement({
  description: 'What the signature covers: the whole document but itself.',
  fields: (t) => ({
    type: t.exposeString('type', { description: '`Invoice`.' }),
    number: t.exposeString('number', { nullable: true, description: 'The legal number that it states.' }),
    digest: t.exposeString('digest', { description: 'SHA-256 of what is covered in canonical form, base64.' }),
  }),
});

type TimeStamp = { readonly time: Date; readonly authority: string };

const TimeStampType = builder.objectRef<TimeStamp>('TimeStamp').implement({
  description: 'A time-stamping authority’s word that the signature was there at a time (RFC 3161).',
  fields: (t) => ({
    time: t.expose('time', { type: 'DateTime', description: 'When.' }),
    authority: t.exposeString('authority', { description: 'Distinguished name of the authority.' }),
  }),
});

const VerificationType = builder.objectRef<Verification>('DocumentVerification').implement({
  description: 'What an independent check of a signed invoice found.',
  fields: (t) => ({
    valid: t.exposeBoolean('valid', {
      description: 'Whether nothing was changed since the certificate’s key signed it.',
    }),
    failed: t.string({
      nullable: true,
      description: 'The first check that failed: `structure`, `digest`, `signature`, `certificate` or `timestamp`.',
      resolve: (found) => (found.valid ? null : found.failed),
    }),
    reason: t.string({
      nullable: true,
      description: 'Why it is not valid, for a person.',
      resolve: (found) => (found.valid ? null : found.reason),
    }),
    signingTime: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'As the signer claims it.',
      resolve: (found) => (found.valid ? found.signingTime : null),
    }),
    algorithm: t.string({
      nullable: true,
      description: 'URI of the signature’s algorithm.',
      resolve: (found) => (found.valid ? found.algorithm : null),
    }),
    certificate: t.field({
      type: SigningCertificateType,
      nullable: true,
      description: 'Whose key signed.',
      resolve: (found) => (found.valid ? found.certificate : null),
    }),
    covered: t.field({
      type: CoveredDocumentType,
      nullable: true,
      description: 'What is covered.',
      resolve: (found) => (found.valid ? found.covered : null),
    }),
    timeStamp: t.field({
      type: TimeStampType,
      nullable: true,
      description: 'The time stamp of the signature, where it has one.',
      resolve: (found) => (found.valid ? found.timeStamp : null),
    }),
  }),
});

builder.queryField('verifyDocument', (t) =>
  t.field({
    type: VerificationType,
    authScopes: { secretKey: true },
    description:
      'Checks a signed UBL invoice, whoever issued it: its signature, its certificate, and what they cover. A request holds 1 MiB; the command `verify` takes longer files.',
    args: { xml: t.arg.string({ required: true, description: 'The signed document.' }) },
    resolve: (_root, { xml }, { useCases }) => useCases.verifyDocument(xml),
  }),
);
