import { expect, it } from 'vitest';
import { unknownNames } from '../../src/config/unknown-names.ts';
import { SETTING_NAMES } from '../../src/config.ts';

it('tells of each unknown variable of a file of settings, with the nearest setting', () => {
  const inFile = [
    'PUBLIC_ULR',
    'SMTP_URI',
    'DGI_CLIENT_PASSPHRASE',
    'XYZZY',
    'PORT',
    'TZ',
    'NODE_EXTRA_CA_CERTS',
    'FATOURA_KEY',
  ];
  expect(unknownNames(['PATH', 'SMTP_HOST'], inFile, SETTING_NAMES)).toEqual([
    'PUBLIC_ULR is no setting, and nothing reads it. Did you mean PUBLIC_URL?',
    'SMTP_URI is no setting, and nothing reads it. Did you mean SMTP_URL?',
    expect.stringContaining('DGI_CLIENT_PASSPHRASE is no setting, and nothing reads it. Did you mean DGI_CLIENT_'),
    'XYZZY is no setting, and nothing reads it.',
  ]);
});

it('tells of a variable of the environment only if its name is of this service', () => {
  expect(unknownNames(['DGI_ULR', 'SMTP_HOST', 'EDITOR', 'PORT'], [], SETTING_NAMES)).toEqual([
    'DGI_ULR is no setting, and nothing reads it. Did you mean DGI_URL?',
  ]);
});
