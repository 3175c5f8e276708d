import { clientSuite, firstExample, root } from '../support/client-suite.ts';

clientSuite('TypeScript', process.execPath, ['clients/typescript/conformance.ts']);

firstExample({
  folder: 'typescript',
  fence: 'ts',
  start(example) {
    const source = example.replace("'@fatoura/client'", `'${root}/clients/typescript/src/index.ts'`);
    return [process.execPath, '--input-type=module-typescript', '--eval', source];
  },
});
