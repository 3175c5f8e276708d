import { expect, it } from 'vitest';
import { obstacleOf } from '../../../src/dashboard/account/passkeys.ts';

it.each([
  ['https://fatoura.example', 'https://fatoura.example', true, null],
  ['http://localhost:3000', 'http://localhost:3000', true, null],
  ['http://app.localhost:3000', 'http://app.localhost:3000', true, null],
  ['https://fatoura.example', 'https://fatoura.example', false, 'unsupported'],
  ['https://fatoura.example', 'https://other.example', true, 'elsewhere'],
  ['https://fatoura.example', 'http://fatoura.example', false, 'elsewhere'],
  ['http://localhost:3000', 'http://127.0.0.1:3000', true, 'elsewhere'],
  ['http://fatoura.example', 'http://fatoura.example', false, 'insecure'],
  ['http://notlocalhost', 'http://notlocalhost', true, 'insecure'],
  ['http://127.0.0.1:3000', 'http://localhost:3000', true, 'unnamed'],
  ['https://192.0.2.1', 'https://192.0.2.1', true, 'unnamed'],
  ['https://[2001:db8::1]', 'https://[2001:db8::1]', true, 'unnamed'],
] as const)(
  'passkeys of %s on a page of %s, in a browser that has them: %s',
  (service, page, isSupported, obstacle) => {
    expect(obstacleOf(service, page, isSupported)).toBe(obstacle);
  },
);
