import { SCENARIOS, type Scenario } from '../../domain/invoice/test-scenarios.ts';
import { accessOf } from '../access.ts';
import { builder } from '../builder.ts';

const TestScenarioName = builder.enumType('TestScenarioName', {
  description: 'What happens to a test invoice for a magic customer.',
  values: Object.fromEntries(
    Object.entries(SCENARIOS).map(([name, description]) => [
      name.replaceAll('-', '_'),
      { value: name as Scenario, description },
    ]),
  ),
});

const TestScenarioType = builder.objectRef<{ ice: string; scenario: Scenario }>('TestScenario').implement({
  description: 'A magic customer ICE of the test environment.',
  fields: (t) => ({
    ice: t.exposeString('ice', { description: 'State it as the customer’s ICE.' }),
    name: t.field({
      type: TestScenarioName,
      description: 'What then happens.',
      resolve: ({ scenario }) => scenario,
    }),
  }),
});

builder.queryField('testScenarios', (t) =>
  t.field({
    type: [TestScenarioType],
    authScopes: accessOf('testScenarios'),
    description: 'The magic customer ICEs of the test environment. Any other valid ICE is accepted.',
    resolve: (_root, _args, { principal, useCases }) => [...useCases.testScenarios(principal)],
  }),
);
