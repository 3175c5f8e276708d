import { basename } from 'node:path';
import type { trustedSigners as readTrustedSigners } from '../app/verification.ts';
import { moroccanDate } from '../domain/morocco/time.ts';
import type { SigningCertificate, ValidSignature, Verification } from '../domain/verification/verification.ts';
import { MAX_DOCUMENT_BYTES } from '../domain/verification/verification.ts';
import { type Command, InputError, type ParsedArguments, UsageError } from './command.ts';
import { readInput } from './files.ts';
import { columns, harmless, type Style } from './terminal.ts';

/**
 * Whether the signer is trusted, with the reason as a complete sentence. 'not checked' if neither --trust nor
 * --fingerprint was given.
 */
export type Signer = { readonly trusted: boolean; readonly reason: string } | 'not checked';

type TrustedSigners = typeof readTrustedSigners;

const EXIT_CODES = { valid: 0, invalid: 1, unchecked: 3, untrusted: 4 } as const;

const UNCHECKED =
  'The signer was not checked: anybody can make a certificate with this name. To check it, use the command verify with --trust or --fingerprint.';

export const verify: Command = {
  name: 'verify',
  summary: 'Verifies the signature of a signed invoice and its signer',
  positionals: ['FILE.xml'],
  options: {
    trust: {
      value: 'FILE.pem',
      description: "Trusted certificates: the signer's must be one of them, or be issued under one of them",
    },
    fingerprint: { value: 'SHA256', description: "SHA-256 of the expected signer's certificate, hexadecimal" },
    json: { description: 'Print an object with the verdict and the details' },
  },
  details: `Needs no running service and no database. Anybody can make a certificate with any name in it, so the signer is checked only with
--trust or --fingerprint (with both, both must match). A certificate chain must have been valid at the signing time that the
signature states. Revocation is not checked.

A cleared document also has a signature of the tax authority. It is checked with --trust only: FILE.pem must contain the
authority's root too. With --fingerprint alone such a document is intact, not valid.

Exit codes: 0 valid: unchanged, and the signer is trusted
            1 not valid: changed, or not signed correctly
            2 not checked: wrong usage, a file that cannot be read, or a document beyond the limits (size, depth, elements)
            3 intact: unchanged since it was signed, but the signer was not checked (neither --trust nor --fingerprint)
            4 not trusted: unchanged, but the signer is not trusted`,
  async run(input, { terminal, parts }) {
    const file = input.get('FILE.xml');
    const { trustedSigners, verifyDocument } = await parts.verification();
    const checkSigner = await signerCheck(input, trustedSigners);
    const verification = await verifyDocument(await readInput(file, MAX_DOCUMENT_BYTES));
    if (!verification.valid && verification.failed === 'limits') {
      throw new InputError(`${file} was not checked. ${verification.reason}`);
    }
    const signer = verification.valid ? checkSigner(verification) : 'not checked';
    terminal.print(
      input.has('json')
        ? JSON.stringify({ file, ...objectOf(verification, signer) })
        : report(verification, signer, basename(file), terminal.style),
    );
    return EXIT_CODES[verdictOf(verification, signer)];
  },
};

/**
 * Reads the expected signer from the options, before the document is read, and returns the check.
 * @throws {InputError}
 */
async function signerCheck(
  input: ParsedArguments,
  trustedSigners: TrustedSigners,
): Promise<(verification: ValidSignature) => Signer> {
  const [file, given] = [input.find('trust'), input.find('fingerprint')];
  const fingerprint = given === null ? null : given.replaceAll(/[:\s]/g, '').toLowerCase();
  if (fingerprint !== null && !/^[\da-f]{64}$/.test(fingerprint)) {
    throw new UsageError('--fingerprint must be a SHA-256 in hexadecimal, 64 digits');
  }
  const trustOf =
    file === null ? null : await trusted(file, (await readInput(file)).toString('latin1'), trustedSigners);
  return (signature) => {
    const checks: Exclude<Signer, 'not checked'>[] = [];
    // A fingerprint identifies one signer, but not the tax authority.
    if (signature.clearance !== null && trustOf === null) return 'not checked';
    if (fingerprint !== null) checks.push(byFingerprint(signature, fingerprint));
    if (file !== null && trustOf !== null) {
      checks.push(byCertificates(signature.certificate, file, trustOf(signature), "The signer's certificate"));
      const clearance = signature.clearance?.signature;
      if (clearance)
        checks.push(byCertificates(clearance.certificate, file, trustOf(clearance), "The tax authority's certificate"));
    }
    if (checks.length === 0) return 'not checked';
    const failed = checks.filter((check) => !check.trusted);
    const decisive = failed.length > 0 ? failed : checks;
    return { trusted: failed.length === 0, reason: decisive.map(({ reason }) => reason).join(' ') };
  };
}

async function trusted(file: string, pem: string, trustedSigners: TrustedSigners) {
  try {
    return await trustedSigners(pem);
  } catch (error) {
    throw new InputError(`${file} cannot be used: ${(error as Error).message}.`, { cause: error });
  }
}

function byFingerprint({ certificate }: ValidSignature, expected: string) {
  const trusted = certificate.fingerprint === expected;
  const which = trusted ? 'the expected fingerprint' : 'another fingerprint than the expected one';
  return { trusted, reason: `The signer's certificate has ${which}.` };
}

/** Judges a signer by trusted certificates. @param whose the subject of the sentence */
function byCertificates(
  certificate: SigningCertificate,
  file: string,
  trust: ReturnType<ReturnType<TrustedSigners>>,
  whose: string,
) {
  if (!trust.trusted) return { trusted: false, reason: `${whose} is not trusted by ${file}: ${trust.reason}.` };
  const isOneOfThem = trust.by.fingerprint256.replaceAll(':', '').toLowerCase() === certificate.fingerprint;
  const where = isOneOfThem ? 'is in' : `was issued under “${trust.by.subject.replaceAll('\n', ', ')}” of`;
  return { trusted: true, reason: `${whose} ${where} ${file}.` };
}

function verdictOf({ valid }: Verification, signer: Signer): keyof typeof EXIT_CODES {
  if (!valid) return 'invalid';
  if (signer === 'not checked') return 'unchecked';
  return signer.trusted ? 'valid' : 'untrusted';
}

/** Formats the result as text for people. */
export function report(verification: Verification, signer: Signer, name: string, style: Style): string {
  if (!verification.valid) {
    return `${style('red', 'NOT VALID')}  ${harmless(name)}\n${harmless(verification.reason)} (${verification.failed})`;
  }
  const { certificate, covered, signingTime, algorithm, timeStamp, clearance } = verification;
  const facts = columns(
    [
      ['signer', certificate.subject],
      ['issuer', certificate.issuer === certificate.subject ? 'the signer itself' : certificate.issuer],
      ['certificate', `valid from ${moroccanDate(certificate.validFrom)} to ${moroccanDate(certificate.validTo)}`],
      ['fingerprint', `SHA-256 ${certificate.fingerprint}`],
      ['time', `${second(signingTime)}, according to the signer`],
      ...(timeStamp === null ? [] : [['time stamp', `${second(timeStamp.time)}, according to ${timeStamp.authority}`]]),
      ['algorithm', algorithm.replace(/^.*#/, '')],
      [
        'covers',
        `the whole ${covered.type}${covered.number === null ? '' : ` ${covered.number}`} except its signature`,
      ],
      ['digest', `SHA-256 ${covered.digest}`],
      ...clearanceRows(clearance),
    ].map(([label = '', value = '']) => [`  ${label}`, harmless(value)]),
  );
  const [verdict, explanation] =
    signer === 'not checked'
      ? [style('yellow', 'INTACT'), UNCHECKED]
      : signer.trusted
        ? [style('green', 'VALID'), signer.reason]
        : [style('red', 'NOT TRUSTED'), `Unchanged, but the signer is not trusted. ${signer.reason}`];
  return `${verdict}  ${harmless(name)}\n${facts}\n${harmless(explanation)}`;
}

/** Formats the tax authority's statement in a cleared document, and the signer of the statement. */
function clearanceRows(clearance: ValidSignature['clearance']): (readonly [string, string])[] {
  if (clearance === null) return [];
  const { subject, fingerprint } = clearance.signature.certificate;
  return [
    ['cleared', `as ${clearance.dgiId} on ${second(clearance.decidedAt)}`],
    ['cleared by', subject],
    ['', `SHA-256 ${fingerprint}`],
  ];
}

function objectOf(verification: Verification, signer: Signer) {
  const verdict = verdictOf(verification, signer);
  if (!verification.valid) {
    const { valid, failed, reason } = verification;
    return { verdict, valid, failed, reason };
  }
  const { valid, signingTime, algorithm, certificate, covered, timeStamp, clearance } = verification;
  return {
    verdict,
    /** Whether the signature itself is valid, whoever made it. */
    valid,
    /** null: the signer was not checked. */
    trusted: signer === 'not checked' ? null : signer.trusted,
    trust_reason: signer === 'not checked' ? null : signer.reason,
    signing_time: signingTime,
    algorithm,
    signer: signerObject(certificate),
    covered: { type: covered.type, number: covered.number, sha256_base64: covered.digest },
    time_stamp: timeStamp,
    /** null: the document is not a cleared one. */
    clearance: clearance && {
      dgi_id: clearance.dgiId,
      submission_id: clearance.submissionId,
      decided_at: clearance.decidedAt,
      signer: signerObject(clearance.signature.certificate),
    },
  };
}

function signerObject({ subject, issuer, serialNumber, validFrom, validTo, fingerprint }: SigningCertificate) {
  return {
    subject,
    issuer,
    serial_number: serialNumber,
    valid_from: validFrom,
    valid_to: validTo,
    sha256_fingerprint: fingerprint,
  };
}

/** Formats a time as `2026-11-21 12:30:05 UTC`. */
function second(time: Date): string {
  return `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
