import type { Environment } from '../../domain/tenant/tenant.ts';
import { enumOf } from '../enum-of.ts';

const MEANING: Readonly<Record<Environment, string>> = {
  live: 'Really transmitted to the tax authority.',
  test: 'A mock decides; nothing leaves the service.',
};

export const EnvironmentType = enumOf(
  'Environment',
  'Which of the two environments a key, and all that it makes, belongs to.',
  MEANING,
);
