import type {
  CoveredDocument,
  InvalidSignature,
  SigningCertificate,
  Verification,
} from '../../domain/verification/verification.ts';
import { builder } from '../builder.ts';
import { enumOf } from '../enum-of.ts';
import './scalars.ts';

const SigningCertificateType = builder.objectRef<SigningCertificate>('SigningCertificate').implement({
  description:
    'The certificate of the key that signed. Who issued it is not checked, and anybody can make one with any name: compare its fingerprint with that of a signer whom you know.',
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
  description:
    'What a time-stamping authority says: that the signature was there at a time (RFC 3161). Whether that authority can be trusted is not checked.',
  fields: (t) => ({
    time: t.expose('time', { type: 'DateTime', description: 'When.' }),
    authority: t.exposeString('authority', { description: 'Distinguished name of the authority.' }),
  }),
});

const CHECK_MEANING: Readonly<Record<InvalidSignature['failed'], string>> = {
  limits:
    'Size, depth, elements, attributes and namespaces are no more than what is checked; of a document beyond that nothing is known.',
  structure: 'It is one signature over a whole UBL document.',
  digest: 'Nothing was changed after it was signed.',
  signature: 'It was made by the key of the certificate.',
  certificate: 'It is the one that was signed with, and fit for signing.',
  timestamp: 'It is of this signature, by a time-stamping authority.',
};

const CheckType = enumOf('DocumentCheck', 'What is checked of a signed document.', CHECK_MEANING);

const VerificationType = builder.objectRef<Verification>('DocumentVerification').implement({
  description: 'What an independent check of a signed invoice found.',
  fields: (t) => ({
    valid: t.exposeBoolean('valid', {
      description:
        'Whether nothing was changed since the key of `certificate` signed it; not whether that is a signer whom you know.',
    }),
    failed: t.field({
      type: CheckType,
      nullable: true,
      description: 'The first check that failed.',
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
      description: 'Of the key that signed.',
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
    resolve: (_root, { xml }, { principal, useCases }) => useCases.verifyDocument(principal, xml),
  }),
);
