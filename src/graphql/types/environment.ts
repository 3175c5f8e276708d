import { ENVIRONMENTS, type Environment } from '../../domain/tenant/tenant.ts';
import { builder } from '../builder.ts';

const MEANING: Readonly<Record<Environment, string>> = {
  live: 'Really transmitted to the tax authority.',
  test: 'A mock decides; nothing leaves the service.',
};

export const EnvironmentType = builder.enumType('Environment', {
  description: 'Which of the two environments a key, and all that it makes, belongs to.',
  values: Object.fromEntries(
    ENVIRONMENTS.map((environment) => [environment, { value: environment, description: MEANING[environment] }]),
  ) as Record<Environment, { value: Environment; description: string }>,
});
