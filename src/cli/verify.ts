import { basename } from 'node:path';
import type { Verification } from '../administration.ts';
import type { Command } from './command.ts';
import { readInput } from './files.ts';
import { columns, harmless, type Style } from './terminal.ts';

export const verify: Command = {
  name: 'verify',
  summary: 'Checks the signature of a signed invoice',
  positionals: ['FILE.xml'],
  options: { json: { description: 'Print an object: valid, and what was found' } },
  details: 'Needs no service and no database. Exit code 0 when the signature is valid, 1 when it is not.',
  async run(input, { terminal, parts }) {
    const file = input.get('FILE.xml');
    const verification = await parts.verifyDocument(await readInput(file));
    terminal.print(
      input.has('json')
        ? JSON.stringify({ file, ...objectOf(verification) })
        : verdict(verification, basename(file), terminal.style),
    );
    return verification.valid ? 0 : 1;
  },
};

/** What was found, for a person. */
export function verdict(verification: Verification, name: string, style: Style): string {
  if (!verification.valid) {
    return `${style('red', 'NOT VALID')}  ${harmless(name)}\n${harmless(verification.reason)} (${verification.failed})`;
  }
  const { certificate, covered, signingTime, algorithm, timeStamp } = verification;
  const facts = columns(
    [
      ['signer', certificate.subject],
      ['issuer', certificate.issuer === certificate.subject ? 'the signer itself' : certificate.issuer],
      ['certificate', `valid from ${day(certificate.validFrom)} to ${day(certificate.validTo)}`],
      ['fingerprint', `SHA-256 ${certificate.fingerprint}`],
      ['time', `${second(signingTime)}, as the signer says`],
      ...(timeStamp === null ? [] : [['time stamp', `${second(timeStamp.time)}, by ${timeStamp.authority}`]]),
      ['algorithm', algorithm.replace(/^.*#/, '')],
      ['covers', `the whole ${covered.type}${covered.number === null ? '' : ` ${covered.number}`} but its signature`],
      ['digest', `SHA-256 ${covered.digest}`],
    ].map(([label = '', value = '']) => [`  ${label}`, harmless(value)]),
  );
  return `${style('green', 'VALID')}  ${harmless(name)}\n${facts}\nWhether this signer is to be trusted is yours to decide, by the fingerprint.`;
}

function objectOf(verification: Verification) {
  if (!verification.valid) return verification;
  const { valid, signingTime, algorithm, certificate, covered, timeStamp } = verification;
  const { subject, issuer, serialNumber, validFrom, validTo, fingerprint } = certificate;
  return {
    valid,
    signing_time: signingTime,
    algorithm,
    signer: {
      subject,
      issuer,
      serial_number: serialNumber,
      valid_from: validFrom,
      valid_to: validTo,
      sha256_fingerprint: fingerprint,
    },
    covered: { type: covered.type, number: covered.number, sha256_base64: covered.digest },
    time_stamp: timeStamp,
  };
}

function day(time: Date): string {
  return time.toISOString().slice(0, 10);
}

/** `2026-11-21 12:30:05 UTC` */
function second(time: Date): string {
  return `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
