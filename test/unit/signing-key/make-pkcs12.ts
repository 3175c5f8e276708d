import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** Creates a key with a self-signed certificate in `NAME.p12`. @returns its path; null when openssl is not installed */
export function makePkcs12(folder: string, name: string, passphrase: string, keyUsage?: string): string | null {
  const openssl = (...options: string[]) => spawnSync('openssl', options, { cwd: folder }).status === 0;
  const [key, certificate, file] = ['key', 'crt', 'p12'].map((extension) => `${name}.${extension}`) as [
    string,
    string,
    string,
  ];
  const made =
    openssl(
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '90',
      '-keyout',
      key,
      '-out',
      certificate,
      '-subj',
      `/CN=${name}`,
      ...(keyUsage === undefined ? [] : ['-addext', `keyUsage=critical,${keyUsage}`]),
    ) &&
    openssl('pkcs12', '-export', '-inkey', key, '-in', certificate, '-out', file, '-passout', `pass:${passphrase}`);
  return made ? join(folder, file) : null;
}
