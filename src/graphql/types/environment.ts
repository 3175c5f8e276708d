import type { Environment } from '../../domain/tenant/tenant.ts';
import { enumOf } from '../enum-of.ts';

const MEANING: Readonly<Record<Environment, string>> = {
  live: 'Invoices are transmitted to the tax authority.',
  test: 'A mock authority decides; nothing is sent to the tax authority.',
};

export const EnvironmentType = enumOf(
  'Environment',
  'The environment of a key and of everything created with it.',
  MEANING,
);
