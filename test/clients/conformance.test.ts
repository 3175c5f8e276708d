import { root } from '../support/client-examples.ts';
import { clientSuite, examplesInTurn, type FirstExample, firstExample } from '../support/client-suite.ts';
import { verifyExample } from '../support/verify-example.ts';

clientSuite('TypeScript', process.execPath, ['clients/typescript/conformance.ts']);

const README: FirstExample = {
  folder: 'typescript',
  fence: 'ts',
  start(example) {
    const source = example.replace("'@fatoura/client'", `'${root}/clients/typescript/src/index.ts'`);
    return [process.execPath, '--input-type=module-typescript', '--eval', source];
  },
};

firstExample(README);
examplesInTurn({ ...README, count: 3 });
verifyExample({
  ...README,
  start: (example) =>
    README.start(`const request = new Request('http://localhost', {
      method: 'POST', body: process.env.BODY, headers: { 'Service-Signature': process.env.SIGNATURE } });
      ${example}
      console.log(event.type);`),
});
