/**
 * The commands by which a person publishes what a dry run made, in their order. Words in angle brackets are chosen by
 * this person.
 * @param folder where the dry run wrote it
 */
export function publishingCommands(version: string, folder: string): string {
  const file = (name: string) => `${folder}/${name}`;
  return [
    '# First: give the version its heading and day in CHANGELOG.md, and commit it with schema.published.graphql and',
    '# the file of the element in clients/live/releases',
    'npm run schema:publish && npm run live:publish',
    '# Of this commit',
    'npm run check && npm test',
    `npm run release -- --dry-run --output ${folder}`,
    `git tag --sign v${version} && git push <remote> v${version}`,
    `(cd ${folder} && sha256sum --check SHA256SUMS)`,
    '# npm (packages with a scope are private unless --access public is given)',
    `npm publish ${file(`fatoura-client-${version}.tgz`)}`,
    `npm publish ${file(`fatoura-live-${version}.tgz`)}`,
    `npm publish ${file(`fatoura-${version}.tgz`)}`,
    '# PyPI',
    `python3 -m twine upload ${file(`fatoura-${version}.tar.gz`)} ${file(`fatoura-${version}-py3-none-any.whl`)}`,
    '# Composer, which reads a repository with composer.json in its root',
    'git subtree split --prefix clients/php --branch client-php',
    `git push <repository for PHP> client-php:main client-php:refs/tags/v${version}`,
    '# Maven',
    'mvn --file clients/java/pom.xml deploy -DaltDeploymentRepository=<id>::<address>',
    '# Go, which reads the tag, with the tests',
    `git tag --sign clients/go/v${version} && git push <remote> clients/go/v${version}`,
  ].join('\n');
}

/** The text of `--help`. */
export function help(version: string, folder: string): string {
  return `usage: npm run release -- --dry-run [--output FOLDER]

Checks that the tree is clean, that all packages of clients/ have the version of package.json (${version}), and that
CHANGELOG.md has an entry for it. Makes the packages of the commit in FOLDER (by default ${folder}), with
schema.graphql, openapi.json and SHA256SUMS, and lists what each holds. Fails if a package holds tests, secrets or paths
of a machine, or lacks its README, version or licence. Uploads nothing.

There is nothing but the dry run: publishing is done by a person, with these commands.

${publishingCommands(version, folder)}
`;
}
